import type { RunEvent, SpentCall } from '../../../entities/runs/event.ts';
import type { RunBudget } from '../budget.ts';
import type { RunHold } from '../hold.ts';
import type { LoopDeps, LoopStart } from '../loop-deps.ts';
import type { RunPlan } from '../run-engine.ts';

/** The run that starts subagents, as they see it. */
export interface SubagentParent {
  readonly plan: RunPlan;
  readonly runId: string;
  /** Fires with a RunStop `paused` when the run should stop: the subagent at work does so at once. */
  readonly pause: AbortSignal | undefined;
  /** Its hold on itself; undefined: nobody can take it over. */
  readonly hold: RunHold | undefined;
  /** What the run may still do: its subagents take their share of it. */
  readonly budget: RunBudget;
  readonly deps: LoopDeps;
  /** The one loop of every run. */
  readonly run: (plan: RunPlan, start: LoopStart, deps: LoopDeps, signal: AbortSignal) => AsyncIterable<readonly RunEvent[]>;
  /** Told of every model call: the ledger knows of it already. */
  spent(call: SpentCall): void;
  /** Why no further subagent may begin within a call, if so. */
  stopsShort(): string | undefined;
}
