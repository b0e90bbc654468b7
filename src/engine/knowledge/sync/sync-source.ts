import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { IdKind } from '../../../entities/ground/ids.ts';
import type { RunTrigger } from '../../../entities/knowledge/source-run.ts';
import { membersOf } from '../../../lib/json/json.ts';
import { printableName, storableJson, storableText } from '../../../lib/text/text.ts';
import type { Settings } from '../../../settings.ts';
import type { SyncedItem, SyncLease } from '../../../storage/knowledge/syncing/syncing.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import { holdLease, isLost } from '../../leases.ts';
import type { Connector, ListedItem, ListedPage, ListTask, SyncedSource } from '../connectors/connector.ts';
import { SourceError, unreadStatus } from '../connectors/error.ts';
import type { Connectors } from '../connectors/registry.ts';
import { parserVersion } from '../index/index-item.ts';
import { itemJobs, sourceJobs } from '../queue.ts';
import { readSourceData } from '../source-data.ts';

export interface SyncContext {
  readonly settings: Settings;
  readonly storage: Storage;
  readonly jobs: Jobs;
  readonly connectors: Connectors;
  readonly logger: Logger;
  /** The holder of the lease: the job. */
  readonly owner: string;
  newId(kind: IdKind): string;
}

/** `held`: another job lists the source. `retry`: the run failed for the moment; the job that goes on with it is queued. */
export type SyncOutcome = { readonly kind: 'done' | 'held' } | { readonly kind: 'retry'; readonly afterMs: number };

/** A run goes on this often after failures that may pass, then it has failed. */
const attemptsMax = 5;
const retryMaxMs = 15 * 60_000;
/** Messages may name what is missing, which may be much. */
const messageMax = 1_000;
/** The name of what is being read is stored this often. */
const shownEveryMs = 1_000;
const nameMax = 500;
/** An index of the database takes no longer ids; in UTF-8. */
const idBytesMax = 2_000;

/**
 * Runs one listing of a source: stores what its connector lists, part by part, and queues what changed. In every case the run ends in a state
 * with a reason, or goes on later where it stopped; a source that another process lists is left alone.
 *
 * @throws the signal's reason when it fires.
 */
export async function syncSource(
  context: SyncContext,
  dataSourceId: string,
  trigger: RunTrigger,
  signal: AbortSignal,
): Promise<SyncOutcome> {
  const outcome = await listSource(context, dataSourceId, trigger, signal);
  // It may have listed nothing new; or a process was killed after the last item, before the end of the run.
  await context.storage.knowledge.syncing.closeEnded(dataSourceId, sourceJobs(context.jobs, 'REFRESH'));
  return outcome;
}

async function listSource(
  context: SyncContext,
  dataSourceId: string,
  trigger: RunTrigger,
  signal: AbortSignal,
): Promise<SyncOutcome> {
  const { storage, settings, owner, connectors } = context;
  const leaseMs = settings.INDEX_LEASE_MS;
  const lease = await storage.knowledge.syncing.begin(dataSourceId, { id: context.newId('sourceRun'), owner, leaseMs, trigger });
  if (lease === undefined || lease === 'held') return { kind: lease ?? 'done' };
  const hold = holdLease(storage.leases, 'sourceRun', lease, leaseMs);
  const progressDisplay = showProgress((currentItem) => storage.knowledge.syncing.show(lease, currentItem));
  const notLost = (error: unknown) => {
    if (!isLost(error, hold)) throw error;
    return { kind: 'done' } as const;
  };
  try {
    await runListing(
      context,
      lease,
      connectors.get(lease.source.type),
      AbortSignal.any([signal, hold.lost]),
      progressDisplay.set,
    );
    return { kind: 'done' };
  } catch (error) {
    if (isLost(error, hold)) return { kind: 'done' };
    return await settle(context, lease, trigger, error, signal).catch(notLost);
  } finally {
    progressDisplay.stop();
    hold.stop();
  }
}

/** Stores the name of what a connector reads, at most once a second. */
function showProgress(store: (currentItem: string) => Promise<void>): { set(current: string): void; stop(): void } {
  let current: string | undefined;
  const timer = setInterval(() => {
    if (current !== undefined) store(current).catch(() => undefined);
    current = undefined;
  }, shownEveryMs);
  return {
    set: (text) => {
      current = storableText(text);
    },
    stop: () => clearInterval(timer),
  };
}

async function runListing(
  context: SyncContext,
  lease: SyncLease,
  connector: Connector,
  signal: AbortSignal,
  progress: (current: string) => void,
): Promise<void> {
  const { storage, jobs } = context;
  const { source } = lease;
  requireConfiguration(source);
  const task: ListTask = {
    source: syncedSource(lease),
    isForced: lease.isForced,
    state: lease.isForced ? undefined : readState(source.state),
    place: lease.place,
    signal,
    progress,
    known: (ids) => knownItems(storage, lease, ids),
  };
  const listing = connector.list(task);
  try {
    for (;;) {
      signal.throwIfAborted();
      const part = await listing.next();
      signal.throwIfAborted();
      if (part.done === true) {
        const { isComplete, bound: runBound = null, state } = part.value;
        await storage.knowledge.syncing.finish(
          lease,
          { isComplete, bound: runBound, state: state === undefined ? undefined : storableJson({ parserVersion, state }) },
          { remove: itemJobs(jobs, 'knowledge.delete-item'), index: itemJobs(jobs) },
        );
        return;
      }
      await store(context, lease, part.value);
    }
  } finally {
    await listing.return({ isComplete: false }).catch(() => undefined);
  }
}

async function store(context: SyncContext, lease: SyncLease, page: ListedPage): Promise<void> {
  const { storage, jobs } = context;
  const items: SyncedItem[] = [];
  for (const item of page.items) items.push(await stored(context, lease, item));
  const outcome = await storage.knowledge.syncing
    .apply(
      lease,
      {
        items,
        goneIds: (page.goneIds ?? []).map(storedId),
        unchangedIds: (page.unchangedIds ?? []).map(storedId),
        unchangedParents: (page.unchangedParents ?? []).map(storedId),
        place: storableJson(page.place),
      },
      itemJobs(jobs),
    )
    .catch(async (error: unknown) => {
      for (const { contentBlobKey } of items) if (contentBlobKey !== null) await storage.blobs.delete(contentBlobKey);
      throw error;
    });
  for (const key of outcome.unusedBlobKeys) await storage.blobs.delete(key);
}

/** Why a document is not read, in the form that is stored. */
function toUnreadState({ skipped: skipNotice }: ListedItem): SyncedItem['unread'] {
  if (skipNotice === undefined) return null;
  return { status: unreadStatus(skipNotice.code), code: skipNotice.code, message: storableText(skipNotice.message) };
}

async function stored({ storage, settings, newId }: SyncContext, { orgId }: SyncLease, item: ListedItem): Promise<SyncedItem> {
  const newItemId = newId('knowledgeItem');
  const unread = toUnreadState(item);
  const contentBlobKey = item.content === undefined ? null : `${orgId}/knowledge/${newItemId}`;
  const put =
    contentBlobKey === null
      ? undefined
      : await storage.blobs.put(contentBlobKey, item.content ?? new Uint8Array(), settings.UPLOAD_MAX_BYTES);
  return {
    newId: newItemId,
    uniqueId: storedId(item.uniqueId),
    parentUniqueId: item.parentUniqueId === null ? null : storedId(item.parentUniqueId),
    name: printableName(item.name, nameMax) || printableName(item.uniqueId, nameMax),
    contentUrl: item.url === null ? null : storableText(item.url),
    listedKey: item.changeKey === null ? null : keyPrefix + storableText(item.changeKey),
    filename: fileName(item.filename),
    mimeType: printableName(item.mimeType, 200),
    sizeBytes: put?.sizeBytes ?? item.sizeBytes ?? null,
    metadata: storableJson({
      ...item.metadata,
      ...(unread?.status === 'SKIPPED' ? { skippedReason: unread.message } : {}),
    }) as Readonly<Record<string, unknown>>,
    notes: storableJson(item.notes ?? {}) as Readonly<Record<string, unknown>>,
    contentBlobKey,
    unread,
  };
}

/** The id as it is stored: one that the database does not take is known by its beginning and its hash. */
export function storedId(id: string): string {
  if (storableText(id) === id && Buffer.byteLength(id) <= idBytesMax) return id;
  return `${printableName(id, 200)} ${createHash('sha256').update(id).digest('hex')}`;
}

async function knownItems(storage: Storage, lease: SyncLease, ids: readonly string[]) {
  const givenIds = new Map(ids.map((id) => [storedId(id), id]));
  const existingItems = await storage.knowledge.syncing.known(lease, [...givenIds.keys()]);
  return new Map(
    existingItems.map((item) => {
      const uniqueId = givenIds.get(item.uniqueId) ?? item.uniqueId;
      return [uniqueId, { ...readable(item), uniqueId }];
    }),
  );
}

/** The name of a file, with its ending also where it is cut. */
function fileName(text: string): string {
  const name = printableName(text, Number.POSITIVE_INFINITY);
  if (name.length <= nameMax) return name;
  const ending = /\.[a-z0-9]{1,8}$/i.exec(name)?.[0] ?? '';
  return name.slice(0, nameMax - ending.length).toWellFormed() + ending;
}

/** A newer reader reads everything anew, so its version is a part of every change key. */
const keyPrefix = `${parserVersion} `;

/** What the last run left; undefined where an older reader read the content, which feeds of changes would not name again. */
function readState(storedState: unknown): unknown {
  const { parserVersion: version, state } = membersOf(storedState);
  return version === parserVersion ? (state ?? undefined) : undefined;
}

function readable<T extends { readonly changeKey: string | null }>(item: T): T {
  const { changeKey } = item;
  return { ...item, changeKey: changeKey?.startsWith(keyPrefix) === true ? changeKey.slice(keyPrefix.length) : null };
}

export function syncedSource({ source, orgId, tenantId }: Pick<SyncLease, 'source' | 'orgId' | 'tenantId'>): SyncedSource {
  const { id, ownerUserId, type, data } = source;
  return { id, ownerUserId, type, data, orgId, tenantId };
}

/** Ends the lease after a failure: the run goes on later if that may help, else it has failed. */
async function settle(
  { storage, settings, logger, jobs }: SyncContext,
  lease: SyncLease,
  trigger: RunTrigger,
  error: unknown,
  signal: AbortSignal,
): Promise<SyncOutcome> {
  if (signal.aborted) {
    await storage.knowledge.syncing.release(lease, false);
    throw signal.reason;
  }
  const failure = error instanceof SourceError ? error : undefined;
  if (failure === undefined) logger.error({ err: error, dataSourceId: lease.source.id }, 'listing a source failed');
  const mayPass = failure === undefined || failure.isRetryable;
  if (mayPass && lease.attempt < attemptsMax) {
    const afterMs = Math.min(retryMaxMs, failure?.retryAfterMs ?? settings.CONNECTOR_BACKOFF_MS * 4 ** lease.attempt);
    await storage.knowledge.syncing.release(lease, true, sourceJobs(jobs, trigger, afterMs));
    return { kind: 'retry', afterMs };
  }
  const code = failure?.code ?? 'INTERNAL';
  const message = failure?.message ?? 'Something went wrong on our side while the source was read; refresh it to try again.';
  await storage.knowledge.syncing.fail(lease, { code, message: message.slice(0, messageMax) });
  return { kind: 'done' };
}

/** Data of a source that an earlier version stored may lie outside of the bounds. @throws SourceError CONFIGURATION */
function requireConfiguration({ type, data }: SyncLease['source']): void {
  const [fault] = readSourceData(type, data).faults;
  if (fault === undefined) return;
  const message = `The configuration of this source cannot be used: ${fault.path} ${fault.message}. Add the source again.`;
  throw new SourceError('CONFIGURATION', message);
}
