import type { ToolRun } from '../../tools/tool-kind.ts';
import type { LoopDeps, LoopStart } from '../loop-deps.ts';
import type { RunPlan } from '../run-engine.ts';

interface OfRun extends Pick<ToolRun, 'subagents' | 'cite' | 'charged'> {
  readonly plan: RunPlan;
  readonly start: LoopStart;
  readonly deps: Pick<LoopDeps, 'filesOf'>;
}

/** The run as its tools see it. */
export function toolRunOf({ plan, start, deps, subagents, cite, charged }: OfRun, signal: AbortSignal): ToolRun {
  const { runId, secrets, researches = [] } = start;
  const chatId = plan.chatId ?? null;
  return { runId, chatId, plan, secrets, signal, subagents, researches, cite, charged, files: deps.filesOf(plan) };
}
