import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Logger } from 'pino';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { IdKind } from '../../../entities/ground/ids.ts';
import { isConnectedType } from '../../../entities/knowledge/data-source.ts';
import type { Settings } from '../../../settings.ts';
import { readBlobAddress } from '../../../storage/blobs/address.ts';
import type { Database } from '../../../storage/ground/database.ts';
import type { IndexedContent, IndexFailure, IndexLease, ItemLeft } from '../../../storage/knowledge/indexing/indexing.ts';
import type { NewChunk } from '../../../storage/knowledge/passages/chunks.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import { holdLease, isLost } from '../../leases.ts';
import { SourceError, unreadStatus } from '../connectors/error.ts';
import type { Connectors } from '../connectors/registry.ts';
import { embeddedText, hashOfText } from '../embeddings/passage-text.ts';
import { ExtractError, type ExtractedDocument, type Extractor } from '../extract/extract.ts';
import { itemJobs } from '../queue.ts';
import { indexChunks } from './index-chunks.ts';
import { textSearchConfig } from './language.ts';

export interface IndexContext {
  readonly settings: Settings;
  readonly storage: Storage;
  readonly jobs: Jobs;
  readonly extractor: Extractor;
  /** Fetch the content of items that are not stored here. */
  readonly connectors: Connectors;
  readonly logger: Logger;
  /** The holder of the lease: the job. */
  readonly owner: string;
  newId(kind: IdKind): string;
}

export interface IndexOutcome {
  /** `held`: another job indexes the item. `waits`: it failed for the moment, and its next job is queued. */
  readonly kind: 'done' | 'held' | 'waits';
  readonly dataSourceId: string;
}

/** Increase it when extraction, splitting or the lexemes change: every item is then read anew at its next refresh. */
export const parserVersion = 4;
const indexAttemptsMax = 5;
/** Another process may have the bytes that this one lacks: the item is given back this often before its content counts as gone. */
const missingAttemptsMax = 20;
const missingRetryMaxMs = 5 * 60_000;
/** An item that was begun this often when its process ended is not begun again: it may have ended the process. */
const indexStartsMax = 2;
const retryMaxMs = 15 * 60_000;
/**
 * Chunks of one transaction. On a server the words of many chunks are counted together, which writes a third as much. The embedded database runs
 * transactions one after the other: one of 16 chunks takes about 100 ms, so while callers ask, they wait for one of four.
 */
const chunksAtOnce = { server: 128, embedded: 16, beforeCallers: 4 } as const;
export function chunksOfTransaction(db: Pick<Database, 'kind' | 'makesCallersWait'>): number {
  return chunksAtOnce[db.makesCallersWait ? 'beforeCallers' : db.kind];
}
/** The progress at which fetching and reading end, of 100. */
const fetchedPercent = 5;
const parsedPercent = 25;
/** Content that is read before anybody would see that it is: no statement says so. */
const quickBytesMax = 64 * 1024;

/**
 * Indexes one item from its bytes to a live generation, and once more as long as it changed meanwhile. In every case the item ends in a state with a
 * reason, or back in the queue with a job; an item that another job holds is left alone. The old generation answers until the new one is complete.
 *
 * @returns undefined when the item is gone.
 * @throws the signal's reason when it fires; the item is back in the queue then.
 */
export async function indexItem(context: IndexContext, itemId: string, signal: AbortSignal): Promise<IndexOutcome | undefined> {
  const { storage, settings, owner } = context;
  for (;;) {
    const lease = await storage.knowledge.indexing.take(itemId, owner, settings.INDEX_LEASE_MS);
    if (lease === undefined) return undefined;
    const { dataSourceId } = lease;
    if (!('fence' in lease)) {
      if (lease.isBusy) return { kind: 'held', dataSourceId };
      // A process that was killed after it ended the lease, or a cancellation, left passages of a dead generation.
      await storage.knowledge.indexing.clean(itemId);
      return { kind: 'done', dataSourceId };
    }
    const kind = await indexLeased(context, lease, signal, (content) => storage.knowledge.indexing.complete(lease, content));
    if (kind !== 'again') return { kind, dataSourceId };
  }
}

/**
 * Indexes an item whose lease is held.
 *
 * @param complete  makes the generation live and ends the lease.
 * @returns `again`: it changed meanwhile, and is queued.
 */
export async function indexLeased(
  context: IndexContext,
  lease: IndexLease,
  signal: AbortSignal,
  complete: (content: IndexedContent) => Promise<ItemLeft>,
): Promise<'done' | 'waits' | 'again'> {
  const { storage, settings } = context;
  const hold = holdLease(storage.leases, 'item', lease, settings.INDEX_LEASE_MS);
  const cleanEnded = async ({ isRunWanted, needsCleaning }: ItemLeft) => {
    if (needsCleaning) await storage.knowledge.indexing.clean(lease.id);
    return isRunWanted ? 'again' : 'done';
  };
  const notLost = async (error: unknown) => {
    if (!isLost(error, hold)) throw error;
    // It was cancelled, or its next attempt goes on with it, which this leaves alone.
    return cleanEnded({ isRunWanted: false, needsCleaning: true });
  };
  try {
    if (lease.isTakenOver && lease.attempt > indexStartsMax)
      return await cleanEnded(await storage.knowledge.indexing.fail(lease, interrupted(lease)));
    return await cleanEnded(await runLeased(context, lease, AbortSignal.any([signal, hold.lost]), complete));
  } catch (error) {
    if (isLost(error, hold)) return await notLost(error);
    return await settleFailure(context, lease, error, signal).then(
      (kind) => (kind === 'waits' ? kind : cleanEnded(kind)),
      notLost,
    );
  } finally {
    hold.stop();
  }
}

async function runLeased(
  context: IndexContext,
  lease: IndexLease,
  signal: AbortSignal,
  complete: (content: IndexedContent) => Promise<ItemLeft>,
): Promise<ItemLeft> {
  const { storage, settings, extractor } = context;
  const { indexing } = storage.knowledge;
  const folder = await mkdtemp(join(tmpdir(), 'parley-item-'));
  try {
    const path = join(folder, 'content');
    const { contentHash, filename, mimeType } = await fetchContent(context, lease, path, signal);
    if (contentHash === lease.contentHash && lease.liveGeneration !== null && !lease.isForced) {
      return await indexing.completeUnchanged(lease);
    }
    if ((await stat(path)).size > quickBytesMax)
      await indexing.progress(lease, { status: 'PARSING', percentage: fetchedPercent });
    const limits = {
      timeoutMs: settings.EXTRACT_TIMEOUT_MS,
      memoryMaxBytes: settings.EXTRACT_MEMORY_MAX_BYTES,
      textMaxChars: settings.EXTRACT_TEXT_MAX_CHARS,
    };
    const document = await extractor.extract({ path, filename, mimeType }, limits, signal);
    await indexing.cleanLeased(lease);
    const built = await buildGeneration(context, lease, document, signal);
    const { title, omissions } = document;
    const usageEntryId = context.newId('usageEntry');
    return await complete({ contentHash, title, mimeType: document.mimeType, omissions, ...built, usageEntryId });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Copies the bytes to a local file: those that are stored here, else those of the other service. */
async function fetchContent(
  { storage, connectors, settings }: IndexContext,
  lease: IndexLease,
  path: string,
  signal: AbortSignal,
): Promise<FetchedFile> {
  const { contentBlobKey, filename, mimeType, source } = lease;
  if (contentBlobKey !== null) {
    const content = await storage.blobs.get(contentBlobKey);
    return { filename, mimeType, contentHash: await copy(content, createWriteStream(path, { mode: 0o600 }), signal) };
  }
  if (!isConnectedType(source.type)) throw new DomainError('NOT_FOUND', 'The item has no content');
  const { dataSourceId: id, ownerUserId, orgId, uniqueId, name, contentUrl: url, metadata } = lease;
  const { type, data, tenantId } = source;
  const fetchedContent = await connectors.get(source.type).fetch({
    source: { id, ownerUserId, orgId, tenantId, type, data },
    item: { uniqueId, name, url, filename, mimeType, metadata },
    path,
    bytesMax: settings.UPLOAD_MAX_BYTES,
    signal,
  });
  return { filename, mimeType, ...fetchedContent, contentHash: await copy(createReadStream(path), nowhere(), signal) };
}

interface FetchedFile {
  readonly filename: string;
  readonly mimeType: string;
  /** Changes with the bytes and with the code that reads them. */
  readonly contentHash: string;
}

/** @returns the hash of what was copied. */
async function copy(from: Readable, to: Writable, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256').update(`parser ${parserVersion} `);
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      hash.update(chunk);
      callback(null, chunk);
    },
  });
  await pipeline(from, hashing, to, { signal });
  return hash.digest('hex');
}

function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, callback) => callback() });
}

async function buildGeneration(
  { storage }: IndexContext,
  lease: IndexLease,
  document: ExtractedDocument,
  signal: AbortSignal,
): Promise<Pick<IndexedContent, 'documentCount' | 'tokenCount' | 'config' | 'lastChunks'>> {
  const { db } = storage;
  const config = textSearchConfig(`${document.title ?? ''}\n${document.text}`);
  let documentCount = 0;
  let tokenCount = 0;
  let batch: NewChunk[] = [];
  const title = document.title ?? lease.name;
  const builtText = ({ ordinal, headingPath, text }: NewChunk) => ({
    ordinal,
    textHash: hashOfText(embeddedText(title, headingPath, text)),
  });
  const flush = async (chunk: NewChunk) => {
    signal.throwIfAborted();
    const percentage = parsedPercent + Math.floor(((100 - parsedPercent) * chunk.charEnd) / document.text.length);
    await storage.knowledge.indexing.addChunks(lease, config, batch, Math.min(99, percentage));
    // Passages that did not change keep their vectors: the earlier generation is still there.
    if (lease.liveGeneration !== null) {
      const generation = { dataSourceId: lease.dataSourceId, itemId: lease.id, generation: lease.fence };
      await storage.knowledge.embeddings?.reuse(generation, batch.map(builtText));
    }
    batch = [];
  };
  for (const chunk of indexChunks(document, lease.name)) {
    batch.push(chunk);
    documentCount += 1;
    tokenCount += chunk.tokenCount;
    if (batch.length >= chunksOfTransaction(db)) await flush(chunk);
  }
  // A first generation ends with its last chunks: a short document takes one transaction. Vectors are taken over before the earlier one goes.
  const last = batch.at(-1);
  if (last !== undefined && lease.liveGeneration !== null) await flush(last);
  return { documentCount, tokenCount, config, lastChunks: batch };
}

/** Ends the lease after a failure: queues the item again if a retry may help, else stores the reason. */
async function settleFailure(
  context: IndexContext,
  lease: IndexLease,
  error: unknown,
  signal: AbortSignal,
): Promise<'waits' | ItemLeft> {
  const { storage, settings, logger, jobs } = context;
  const { id: itemId, attempt } = lease;
  if (signal.aborted) {
    await storage.knowledge.indexing.release(lease, false);
    throw signal.reason;
  }
  const retryAfter = async (afterMs: number) => {
    await storage.knowledge.indexing.release(lease, true, itemJobs(jobs, 'knowledge.index-item', afterMs));
    return 'waits' as const;
  };
  const failure = toFailure(error);
  if (failure.errorCode === 'CONTENT_MISSING' && mayLieElsewhere(context) && attempt < missingAttemptsMax) {
    logger.warn({ itemId, attempt }, 'the content of an item is not in this file store; the item is given back');
    return retryAfter(Math.min(missingRetryMaxMs, 1_000 * 2 ** attempt));
  }
  if (failure.errorCode === 'INTERNAL') logger.error({ err: error, itemId, attempt }, 'indexing an item failed');
  if (failure.isRetryable && attempt < indexAttemptsMax) {
    const isOfSource = error instanceof SourceError;
    const waitMs = (isOfSource ? settings.CONNECTOR_BACKOFF_MS : 1_000) * 2 ** attempt;
    return retryAfter(Math.min(retryMaxMs, (isOfSource ? error.retryAfterMs : undefined) ?? waitMs));
  }
  return storage.knowledge.indexing.fail(lease, failure);
}

function interrupted({ attempt }: IndexLease): IndexFailure {
  const errorMessage = `The process that indexed the document ended ${attempt - 1} times while it did; retry the document to try again.`;
  return { status: 'FAILED', errorCode: 'INTERRUPTED', errorMessage, isRetryable: false };
}

/** Whether other processes of the database may have files that this one lacks: files in a folder, which may be no shared one, beside a server. */
function mayLieElsewhere({ storage, settings }: IndexContext): boolean {
  return storage.db.kind === 'server' && readBlobAddress(settings).kind === 'folder';
}

/** The reason in words that a person can act on. Messages of other software are not shown. */
function toFailure(error: unknown): IndexFailure {
  if (error instanceof ExtractError) {
    const isSkipped = error.code === 'NO_TEXT' || error.code === 'TOO_LARGE';
    return {
      status: isSkipped ? 'SKIPPED' : 'FAILED',
      errorCode: error.code,
      errorMessage: error.message,
      isRetryable: error.isRetryable,
    };
  }
  if (error instanceof SourceError) {
    return {
      status: unreadStatus(error.code),
      errorCode: error.code,
      errorMessage: error.message,
      isRetryable: error.isRetryable,
    };
  }
  if (error instanceof DomainError && error.code === 'NOT_FOUND') {
    const errorMessage = 'The stored content is gone; delete the source and add it again.';
    return { status: 'FAILED', errorCode: 'CONTENT_MISSING', errorMessage, isRetryable: false };
  }
  const errorMessage = 'Something went wrong on our side while indexing; refresh the source to try again.';
  return { status: 'FAILED', errorCode: 'INTERNAL', errorMessage, isRetryable: true };
}
