import type { RetainedKind, SweptKind } from '../../../entities/operations/data-life/retention.ts';
import { chatsPerBatch, type OldChat, type SweepPlace, type SweptBatch } from '../../../storage/operations/data-life/sweeps.ts';
import { deleteBinned } from '../../conversations/chats/bin.ts';
import type { Deps } from '../../deps.ts';
import { removeBlobs } from '../../ground/blobs.ts';
import { allDays, daysAgo, inBatches } from './batches.ts';
import { makeEventPartitions, sweepEvents } from './event-sweep.ts';
import { defaultDays } from './retention.ts';
import { sweepLogs } from './sweep-logs.ts';

const sweepEveryMs = 3_600_000;
/** What is left of deleted chats (a row without content) and of deleted files (their names, which lists show for a while) is removed after this. */
const remainsDays = 30;

/** Registers the deletion of what is older than an organization keeps it. */
export function registerRetention(deps: Deps): void {
  deps.jobs.lead('retention.event-partitions', sweepEveryMs, () => makeEventPartitions(deps));
  deps.jobs.lead('retention.sweep', sweepEveryMs, (signal) => sweepOldData(deps, signal));
}

/**
 * Deletes what is older than each organization keeps it, in small batches, and leaves what a legal hold keeps. A sweep that was cut off is made up for by
 * the next one: what is old stays old. Instances may sweep at one time.
 *
 * @param signal  ends it between two batches.
 */
export async function sweepOldData(deps: Deps, signal: AbortSignal): Promise<void> {
  const { sweeps } = deps.storage.operations;
  const deletedCounts: Partial<Record<SweptKind, number>> = {};
  const note = (kind: SweptKind, count: number) => {
    deletedCounts[kind] = (deletedCounts[kind] ?? 0) + count;
    deps.dataLife.deleted.add(kind, count);
  };
  await makeMonths(deps);
  for (const kind of ['audit', 'usage'] as const) await sweepLogs(deps, kind, signal, note);
  await sweepEvents(deps, signal, (count) => note('events', count));
  for (const kind of ['runs', 'chats'] as const) {
    for await (const { orgId, days } of allDays(deps, kind, signal)) {
      const rows = { orgId, before: daysAgo(deps, days) };
      for await (const count of inBatches<SweepPlace>(signal, (after) => findOldRows(deps, kind, rows, after))) note(kind, count);
    }
  }
  for (const kind of ['runs', 'events'] as const) await sweepBinnedRuns(deps, kind, signal, note);
  const binnedBefore = daysAgo(deps, deps.settings.CHAT_BIN_DAYS);
  for await (const count of inBatches<SweepPlace>(signal, (after) => emptyBin(deps, binnedBefore, after))) note('chats', count);
  while (!signal.aborted && (await sweeps.deletedChats(daysAgo(deps, remainsDays))) > 0);
  for await (const count of sweepVersions(deps, signal)) note('versions', count);
  if (signal.aborted) return;
  deps.dataLife.sweptAt = deps.now();
  if (Object.values(deletedCounts).some((count) => count > 0))
    deps.logger.info({ deleted: deletedCounts }, 'old data was deleted');
}

/** Days of keeping count in the bin too: runs and events that are older do not wait there for the end of their chat. */
async function sweepBinnedRuns(
  deps: Deps,
  kind: 'runs' | 'events',
  signal: AbortSignal,
  note: (kind: RetainedKind, count: number) => void,
): Promise<void> {
  const age = { now: deps.now(), days: defaultDays(deps.settings, kind) };
  let isLast = false;
  while (!isLast && !signal.aborted) {
    const batch = await deps.storage.operations.sweeps.binnedRuns(kind, age);
    note(kind, batch.count);
    isLast = batch.isLast;
  }
}

/** Versions of agents that changes made by the dozen, and that nothing names. */
async function* sweepVersions({ storage, settings, now }: Deps, signal: AbortSignal): AsyncGenerator<number> {
  const days = settings.AGENT_VERSION_RETENTION_DAYS;
  let after: string | undefined = '';
  while (days > 0 && after !== undefined && !signal.aborted) {
    const batch = await storage.operations.sweeps.versions(daysAgo({ now }, days), after);
    yield batch.count;
    after = batch.lastId;
  }
}

/** Without its month, a row is written to the part of all others: the next sweep makes what could not be made now. */
async function makeMonths({ storage, logger, now }: Deps): Promise<void> {
  await storage.operations.logSweeps.makeAhead(now()).catch((error: unknown) => {
    logger.warn({ err: error }, 'the coming months of the log tables could not be made now');
  });
}

interface OldRows {
  readonly orgId: string;
  readonly before: Date;
}

async function findOldRows(
  deps: Deps,
  kind: 'runs' | 'chats',
  rows: OldRows,
  after: SweepPlace | undefined,
): Promise<SweptBatch> {
  const {
    operations: { sweeps },
    conversations: { responses },
  } = deps.storage;
  if (kind === 'chats') return oldChats(deps, rows, after);
  const { responses: storedResponses, ...batch } = await sweeps.runs(rows, after);
  let { count } = batch;
  for (const { id, userId } of storedResponses) if (await responses.delete(id, { userId, orgId: rows.orgId })) count += 1;
  return { ...batch, count };
}

async function oldChats(deps: Deps, rows: OldRows, after: SweepPlace | undefined): Promise<SweptBatch> {
  const {
    operations: { sweeps },
    conversations: { chats, chatFiles },
  } = deps.storage;
  const oldRows = await sweeps.oldChats(rows, after);
  let count = 0;
  for (const { id } of oldRows) {
    // Somebody may have written in it meanwhile.
    if (!(await chats.delete(id, { unchangedSince: rows.before }))) continue;
    await removeBlobs(deps, await chatFiles.deleteAll(id));
    count += 1;
  }
  return { count, next: nextPlace(oldRows) };
}

/** Deletes for ever what was in the bin for long enough. */
async function emptyBin(deps: Deps, before: Date, after: SweepPlace | undefined): Promise<SweptBatch> {
  const binnedRows = await deps.storage.operations.sweeps.binnedChats(before, after);
  let count = 0;
  // Its user may have restored it, or deleted it for ever, meanwhile.
  for (const { id } of binnedRows) if (await deleteBinned(deps, id)) count += 1;
  return { count, next: nextPlace(binnedRows) };
}

function nextPlace(rows: readonly OldChat[]): SweepPlace | undefined {
  const last = rows.length < chatsPerBatch ? undefined : rows.at(-1);
  return last === undefined ? undefined : { at: new Date(last.at), id: last.id };
}
