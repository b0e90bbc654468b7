import { foldEvents } from '../../../engine/runs/events/fold.ts';
import type { RunEvent } from '../../../entities/conversations/runs/event.ts';
import { lowerBoundOfIds } from '../../../entities/ground/ids.ts';
import { type EventPartition, storedRunKinds } from '../../../storage/operations/data-life/event-partitions.ts';
import type { DueLog } from '../../../storage/operations/data-life/event-sweeps.ts';
import type { SweepPlace } from '../../../storage/operations/data-life/sweeps.ts';
import type { Deps } from '../../deps.ts';
import { defaultDays } from './retention.ts';

const dayMs = 86_400_000;
const organizationsAtOnce = 500;
/** About so many partitions hold the events that are kept longest, of each kind of run. */
const partitionsPerKind = 32;

/**
 * Deletes the events of runs that ended before what their organization chose, and keeps the state of responses.
 *
 * @param note  called with the number of logs of each batch.
 *
 * Cost when nothing is due: four statements that read some pages, and one for each organization with a shorter choice than the installation's.
 */
export async function sweepEvents(deps: Deps, signal: AbortSignal, note: (count: number) => void): Promise<void> {
  const { eventSweeps, retention } = deps.storage.operations;
  const { eventsSwept } = deps.dataLife;
  const now = deps.now();
  const days = defaultDays(deps.settings, 'events');
  eventsSwept.begin(now, await eventSweeps.rules());
  const oldest = days === undefined ? new Date(0) : daysBefore(now, days);
  if (days !== undefined) {
    const partitions = await deps.storage.operations.eventPartitions.list();
    for (const kind of storedRunKinds) {
      let after = eventsSwept.ids.get(kind) ?? lowerBoundOfIds(kind, new Date(0));
      const before = lowerBoundOfIds(kind, oldest);
      for (const partition of partitions) {
        const isOld = partition.kind === kind && partition.to > after && partition.to <= before;
        if (isOld && !signal.aborted) note(await dropPartition(deps, partition, { now, days }, signal));
      }
      while (!signal.aborted) {
        const { due, next } = await eventSweeps.listDue({ after, before }, { now, days });
        note(await deleteLogs(deps, due));
        after = next ?? before;
        eventsSwept.ids.set(kind, after);
        if (next === undefined) break;
      }
    }
  }
  let afterOrgId = '';
  while (!signal.aborted) {
    const own = await retention.listOwn('events', afterOrgId, organizationsAtOnce);
    for (const choice of own) {
      // What is older than the installation keeps it was deleted above.
      if (days === undefined || choice.days < days)
        await sweepOrganization(deps, choice.orgId, { from: oldest, before: daysBefore(now, choice.days) }, signal, note);
    }
    afterOrgId = own.at(-1)?.orgId ?? '';
    if (own.length < organizationsAtOnce) return;
  }
}

/**
 * Makes the partitions of the events of the next days: of a day each, or of more where events are kept for longer than a month, so that their number
 * is bounded.
 */
export async function makeEventPartitions({ storage, settings, now }: Deps): Promise<void> {
  const own = await storage.operations.retention.longestOwn('events');
  const longest = Math.max(defaultDays(settings, 'events') ?? 0, own.days);
  await storage.operations.eventPartitions.makeAhead(now(), Math.max(1, Math.ceil(longest / partitionsPerKind)));
}

/** Drops a partition that is old enough, once the states of its responses are kept. @returns how many logs went. */
async function dropPartition(
  deps: Deps,
  partition: EventPartition,
  age: { readonly now: Date; readonly days: number },
  signal: AbortSignal,
): Promise<number> {
  let after = partition.from;
  while (partition.kind === 'response' && !signal.aborted) {
    const { due, next } = await deps.storage.operations.eventSweeps.listDue({ after, before: partition.to }, age);
    for (const { runId, mustFold } of due) if (mustFold) await keepState(deps, runId);
    if (next === undefined) break;
    after = next;
  }
  try {
    return (await deps.storage.operations.eventPartitions.dropIfOld(partition, age)) ?? 0;
  } catch (error) {
    deps.logger.warn(
      { err: error, partition: partition.name },
      'a partition of old events could not be dropped; its rows are deleted',
    );
    return 0;
  }
}

async function sweepOrganization(
  deps: Deps,
  orgId: string,
  period: { readonly from: Date; readonly before: Date },
  signal: AbortSignal,
  note: (count: number) => void,
): Promise<void> {
  const { organizations } = deps.dataLife.eventsSwept;
  const swept = organizations.get(orgId);
  // A run that was asked for a day before may have ended since.
  const from = swept === undefined ? period.from : daysBefore(swept, 1);
  let after: SweepPlace | undefined;
  while (!signal.aborted) {
    const { due, next } = await deps.storage.operations.eventSweeps.listDueOf(orgId, { from, before: period.before }, after);
    note(await deleteLogs(deps, due));
    after = next;
    if (next !== undefined) continue;
    organizations.set(orgId, period.before);
    return;
  }
}

/** @returns how many logs were deleted: all but those whose state could not be kept. */
async function deleteLogs(deps: Deps, due: readonly DueLog[]): Promise<number> {
  const deletedIds: string[] = [];
  for (const { runId, mustFold } of due) if (!mustFold || (await keepState(deps, runId))) deletedIds.push(runId);
  if (deletedIds.length > 0) await deps.storage.operations.eventSweeps.delete(deletedIds);
  return deletedIds.length;
}

/** Keeps what tells the state of a response without its other events. @returns false when its log does not end with its state. */
async function keepState({ storage, runs, logger }: Deps, runId: string): Promise<boolean> {
  const events: RunEvent[] = [];
  for await (const batch of runs.replay(runId).batches()) events.push(...batch);
  const foldedEvents = foldEvents(events);
  if (foldedEvents === undefined) {
    logger.warn({ runId }, 'the events of a response stay, because they do not end with its state');
    return false;
  }
  await storage.conversations.runEvents.keepFolded(runId, foldedEvents);
  return true;
}

function daysBefore(now: Date, days: number): Date {
  return new Date(now.getTime() - days * dayMs);
}
