import { isTerminal, type RunEvent, type RunSnapshot } from '../../../entities/conversations/runs/event.ts';
import type { Usage } from '../../../entities/conversations/runs/usage.ts';
import { unlessAborted } from '../../../lib/flow/unless-aborted.ts';
import type { RunPlan } from '../../plan/plan.ts';
import type { RunBudget } from '../../usage/budget.ts';
import type { RunHold } from '../control/control.ts';
import type { LoopDeps, LoopStart } from '../control/loop-deps.ts';
import { RunScope, RunStop } from '../control/stop.ts';
import { addUsage } from '../output/spending.ts';
import type { SubagentParent } from './parent.ts';

/** Why a subagent was stopped for a pause. */
export const paused = 'Stopped, as the answer was paused';

/** Ends an answer that is not whole. */
export const cutNote = '\n(The answer was cut: it became too long, or took too many steps.)';

/** How a run within a run is worked off. */
interface Work {
  readonly timeoutMs: number;
  readonly ledger: LoopDeps['ledger'];
  readonly budget: RunBudget;
  readonly secrets: Readonly<Record<string, string>>;
  readonly keyPrefix: string;
  readonly subagent?: LoopStart['subagent'];
  /** For a subagent that goes on after its process died. */
  readonly from?: Pick<LoopStart, 'firstSequence' | 'before' | 'continues' | 'cited' | 'researches'>;
  /** For a subagent in a stored run: resolves once what is kept of it is with the run. */
  readonly whenRecorded?: () => Promise<void>;
}

/**
 * Runs a plan within a run, to its end, the time-out, the signal, or a pause of the run.
 *
 * @returns its last state; undefined when it did not end.
 */
export async function workOff(
  plan: RunPlan,
  { timeoutMs, ledger, budget, secrets, keyPrefix, subagent, from, whenRecorded }: Work,
  { deps, runId, hold, pause, recorder, run: loop }: SubagentParent,
  signal: AbortSignal,
  onEvent: (event: RunEvent) => void,
): Promise<RunSnapshot | undefined> {
  const scope = new RunScope(timeoutMs, signal);
  const onPause = () => scope.stop(new RunStop('paused', paused));
  if (pause?.aborted === true) onPause();
  else pause?.addEventListener('abort', onPause, { once: true });
  const start: LoopStart = {
    ...{ runId, firstSequence: 0, isEager: true, secrets, budget, keyPrefix, recorder },
    ...(subagent === undefined ? {} : { subagent }),
    ...from,
    ...(hold === undefined ? {} : { hold: whenRecorded === undefined ? hold : recordedHold(hold, whenRecorded) }),
  };
  let run: RunSnapshot | undefined;
  try {
    for await (const batch of loop(plan, start, { ...deps, ledger }, scope.signal)) {
      for (const event of batch) {
        if (isTerminal(event) && 'run' in event) run = event.run;
        onEvent(event);
      }
    }
    return run;
  } finally {
    pause?.removeEventListener('abort', onPause);
    scope.close(run !== undefined);
  }
}

/** The hold of a subagent: its record is with the run before the record of the run is looked at. */
function recordedHold(hold: RunHold, whenRecorded: () => Promise<void>): RunHold {
  return {
    isFresh: () => hold.isFresh(),
    renew: () => hold.renew(),
    async written(signal, isSearch) {
      if (isSearch !== true) await unlessAborted(whenRecorded(), signal);
      await hold.written(signal, isSearch);
    },
  };
}

/** Adds up what a run within a run costs. Its calls are charged once, and told to the run above. */
export function trackSpending({ deps, spent: recordSpending }: SubagentParent): {
  readonly usage: Usage | null;
  readonly ledger: LoopDeps['ledger'];
} {
  let usage: Usage | null = null;
  return {
    get usage() {
      return usage;
    },
    ledger: {
      note(charge, purpose, modelId, cost, entryId = deps.newId('usageEntry')) {
        usage = addUsage(usage, cost);
        recordSpending({ entryId, modelId, usage: cost });
        deps.ledger.note(charge, purpose, modelId, cost, entryId);
      },
    },
  };
}

export function lastMessage(run: RunSnapshot) {
  return run.output.flatMap((item) => (item.type === 'message' && item.text.trim() !== '' ? [item] : [])).at(-1);
}
