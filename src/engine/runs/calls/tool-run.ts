import type { RunPlan } from '../../plan/plan.ts';
import type { RunFiles } from '../../tools/run-files.ts';
import type { RunMask } from '../../tools/secrets/masking.ts';
import type { ToolRun } from '../../tools/tool-kind.ts';
import type { LoopDeps, LoopStart } from '../control/loop-deps.ts';

interface OfRun extends Pick<ToolRun, 'subagents' | 'cite' | 'charged' | 'files'> {
  readonly plan: RunPlan;
  readonly start: LoopStart;
  readonly deps: Pick<LoopDeps, 'mask'>;
}

/** The run as its tools see it. What they make citable and the names of their files are masked before anything is cut from them or stored. */
export function createToolRun(
  { plan, start, deps, subagents, cite, charged: chargeCall, files: all }: OfRun,
  signal: AbortSignal,
): ToolRun {
  const { runId, secrets, researches = [] } = start;
  const { mask } = deps;
  const chatId = plan.chatId ?? null;
  const run = { runId, chatId, plan, secrets, signal, subagents, researches, charged: chargeCall };
  const files = mask === undefined ? all : withMaskedNames(all, mask);
  if (mask === undefined) return { ...run, cite, files };
  return { ...run, cite: (passage) => cite(mask.value(passage)), files };
}

function withMaskedNames(files: RunFiles, mask: RunMask): RunFiles {
  return {
    list: (signal) => files.list(signal),
    read: (file, bytesMax, signal) => files.read(file, bytesMax, signal),
    save: (file, key, signal) => files.save({ ...file, filename: mask.text(file.filename) }, key, signal),
    replace: (file, bytes, key, signal) => files.replace(file, bytes, key, signal),
  };
}
