import { DomainError } from '../../entities/errors.ts';
import type { RunEvent, RunSnapshot } from '../../entities/runs/event.ts';
import type { ResponseHead } from '../../entities/runs/response.ts';
import type { Warning } from '../../entities/warning.ts';
import type { ThreadResult } from '../../storage/chats/threads.ts';
import type { Deps } from '../deps.ts';

/** What messages and responses have in common when they take their place in a thread (docs/responses.md, "Threads"). */

/** A turn that has its place: its run works, waits, or became part of another run. */
export type PlacedTurn = Extract<ThreadResult, { kind: 'started' | 'waiting' | 'attached' }>;

const busyRetrySeconds = 5;

/** The first events of a run: readers get them at once, also while the run waits for its thread. */
export function firstEvents(runId: string, warnings: readonly Warning[], head?: ResponseHead): readonly RunEvent[] {
  const run: RunSnapshot = {
    runId,
    status: 'in_progress',
    incompleteReason: null,
    error: null,
    usage: null,
    selection: null,
    output: [],
  };
  const told = { ...(head === undefined ? {} : { head }), ...(warnings.length === 0 ? {} : { warnings }) };
  return [
    { sequence: 0, type: 'response.created', run: { ...run, ...told } },
    { sequence: 1, type: 'response.in_progress', run },
  ];
}

/** Starts the run that was written, or tells the run that it joined or replaces. */
export async function startPlaced(
  deps: Deps,
  id: string,
  secrets: Readonly<Record<string, string>>,
  result: PlacedTurn,
): Promise<void> {
  const { runs, logger } = deps;
  if (result.kind === 'started') runs.startStored(id, secrets);
  else if (result.kind === 'attached') {
    runs.expectStored(result.runId, secrets);
    if (result.how === 'steer') runs.announce(result.runId);
  } else {
    runs.expectStored(id, secrets);
    const { stop } = result;
    if (stop?.how === 'force') await runs.cutOff(stop.runId);
    else if (stop !== undefined) {
      runs
        .cancel(stop.runId)
        .catch((error: unknown) => logger.error({ err: error, runId: stop.runId }, 'a run could not be stopped'));
    }
  }
}

/** The only process that can work on a run with these secrets; null without secrets. */
export function holderOf({ runs }: Deps, secrets: Readonly<Record<string, string>>): string | null {
  return Object.keys(secrets).length === 0 ? null : runs.owner;
}

export function queueFull({ settings }: Deps): DomainError {
  const message = `This thread has as many requests waiting as it may (${settings.THREAD_WAITING_MAX})`;
  return new DomainError('THREAD_QUEUE_FULL', message, { retryAfterSeconds: busyRetrySeconds });
}
