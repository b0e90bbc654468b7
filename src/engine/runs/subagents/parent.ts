import type { RunEvent, SpentCall } from '../../../entities/conversations/runs/event.ts';
import type { RunPlan } from '../../plan/plan.ts';
import type { RunBudget } from '../../usage/budget.ts';
import type { RunHold } from '../control/control.ts';
import type { LoopDeps, LoopStart } from '../control/loop-deps.ts';
import type { RunRecorder } from '../record/recorder.ts';

/** The run that starts subagents, as its subagents see it. */
export interface SubagentParent {
  readonly plan: RunPlan;
  readonly runId: string;
  /** The subagent that the run is itself; undefined: it is none. */
  readonly subagent: LoopStart['subagent'];
  /** Fires with a RunStop `paused` when the run should stop: the subagent at work stops at once. */
  readonly pause: AbortSignal | undefined;
  /** The run's hold on its lease; undefined: no process can take it over. */
  readonly hold: RunHold | undefined;
  /** What the run may still do; its subagents share it. */
  readonly budget: RunBudget;
  readonly deps: LoopDeps;
  readonly recorder: RunRecorder;
  /** `runLoop`; passed in, because the loop imports the tools that start subagents. */
  readonly run: (plan: RunPlan, start: LoopStart, deps: LoopDeps, signal: AbortSignal) => AsyncIterable<readonly RunEvent[]>;
  /** Called for every model call, which is charged already. */
  spent(call: SpentCall): void;
}
