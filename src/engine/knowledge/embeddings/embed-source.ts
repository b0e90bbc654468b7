import type { DomainError } from '../../../entities/ground/errors.ts';
import type { VectorErrorCode } from '../../../entities/knowledge/failure.ts';
import type { EmbeddingStore } from '../../../storage/knowledge/embeddings/embeddings.ts';
import type { ChunkVector, PendingChunk, PendingSource } from '../../../storage/knowledge/embeddings/pending.ts';
import { dimensionsMax, type EmbeddingSpace } from '../../../storage/knowledge/embeddings/spaces.ts';
import { ModelError } from '../../models/port.ts';
import type { Charge } from '../../plan/plan.ts';
import { type Embeddings, isQuota, normalised } from './embeddings.ts';
import { embeddedText, hashOfText, tokensOfText } from './passage-text.ts';

export interface EmbedContext {
  readonly embeddings: Embeddings;
  readonly store: EmbeddingStore;
  /** Most texts and tokens of one request. */
  readonly textsMax: number;
  readonly tokensMax: number;
}

const requestTimeoutMs = 120_000;
const retryMaxMs = 15 * 60_000;
/** Refusals of one text; other errors concern the provider or its key. */
const refusesText = new Set(['CONTEXT_LENGTH_EXCEEDED', 'CONTENT_FILTER', 'BAD_REQUEST', 'INVALID_VALUE']);

/**
 * Makes the vectors that the live passages of a source lack, in batches; each batch is stored before the next is asked for, so a killed process
 * loses one batch at most. When none is missing, the vectors of EMBEDDING_MODEL answer searches, and those of an earlier model are removed.
 *
 * @returns when to try again after a failure, which is noted with the source; undefined when there is no need to, or only an operator can help.
 * @throws the signal's reason.
 */
export async function embedSource(
  context: EmbedContext,
  dataSourceId: string,
  signal: AbortSignal,
): Promise<{ readonly retryAfterMs: number } | undefined> {
  const { store, embeddings } = context;
  const source = await store.findSource(dataSourceId);
  if (source === undefined) return undefined;
  let space = await store.spaces.findSpace(embeddings.model.id, embeddings.dimensions);
  let wasEmpty = false;
  for (;;) {
    signal.throwIfAborted();
    const chunks = await store.nextChunks(dataSourceId, space?.id, context.textsMax);
    if (chunks.length > 0) {
      wasEmpty = false;
      try {
        space = await embedBatch(context, source, withinTokens(chunks, context.tokensMax), space, signal);
      } catch (error) {
        signal.throwIfAborted();
        return noteFailure(context, source, error);
      }
    } else {
      if (space === undefined) return undefined;
      const { isComplete, marked: markedCount } = await store.settle(dataSourceId, space.id);
      if (isComplete) {
        while (await store.removeReplaced(dataSourceId, space.id)) signal.throwIfAborted();
        await store.spaces.removeUnused(space.id);
        return undefined;
      }
      // Something became live in between. Found twice, it is left to the next job.
      if (wasEmpty && markedCount === 0) return undefined;
      wasEmpty = true;
    }
  }
}

function withinTokens(chunks: readonly PendingChunk[], tokensMax: number): readonly Given[] {
  const batch: Given[] = [];
  let tokens = 0;
  for (const { chunkId, title, headingPath, text } of chunks) {
    const whole = embeddedText(title, headingPath, text);
    tokens += tokensOfText(whole);
    if (batch.length > 0 && tokens > tokensMax) break;
    batch.push({ chunkId, text: whole, textHash: hashOfText(whole) });
  }
  return batch;
}

interface Given {
  readonly chunkId: string;
  readonly text: string;
  readonly textHash: string;
}

/** @returns the space of the vectors, which is another one when the model makes other vectors than before. */
async function embedBatch(
  { embeddings, store }: EmbedContext,
  source: PendingSource,
  batch: readonly Given[],
  space: EmbeddingSpace | undefined,
  signal: AbortSignal,
): Promise<EmbeddingSpace> {
  const hashes = [...new Set(batch.map(({ textHash }) => textHash))];
  const reusableHashes = space === undefined ? new Set<string>() : await store.reusable(source.id, space.id, hashes);
  const copiedTexts = batch.filter(({ textHash }) => reusableHashes.has(textHash));
  if (space !== undefined && copiedTexts.length > 0) await store.copyVectors(source.id, space.id, copiedTexts);
  const fresh = batch.filter(({ textHash }) => !reusableHashes.has(textHash));
  if (space !== undefined && fresh.length === 0) return space;
  const texts = [...new Map(fresh.map(({ textHash, text }) => [textHash, text])).entries()];
  const newVectors = await embedTexts(
    embeddings,
    source,
    texts.map(([, text]) => text),
    space !== undefined,
    signal,
  );
  const dimensions = newVectors.find((vector) => vector !== null)?.length ?? space?.dimensions;
  if (dimensions === undefined)
    throw new ModelError('UPSTREAM_ERROR', 'The embedding model gave vectors without a direction', false);
  if (dimensions > dimensionsMax) {
    const message = `The embedding model makes ${dimensions} dimensions; at most ${dimensionsMax} can be kept. Set EMBEDDING_DIMENSIONS, or another model.`;
    throw new ModelError('UPSTREAM_ERROR', message, false);
  }
  const target = space?.dimensions === dimensions ? space : await store.spaces.makeSpace(embeddings.model.id, dimensions);
  const byHash = new Map(texts.map(([hash], index) => [hash, newVectors[index] ?? null]));
  const vectors = fresh.map(({ chunkId, textHash }): ChunkVector => {
    const embedding = byHash.get(textHash) ?? null;
    return { chunkId, textHash, embedding: embedding?.length === dimensions ? embedding : null };
  });
  await store.addVectors(source.id, target.id, vectors);
  await store.clearFailure(source.id);
  return target;
}

/** @returns null for a text that the provider refuses, in a batch of which it takes others. @throws ModelError, DomainError */
async function embedTexts(
  embeddings: Embeddings,
  source: PendingSource,
  texts: readonly string[],
  isModelKnown: boolean,
  signal: AbortSignal,
): Promise<readonly (readonly number[] | null)[]> {
  try {
    return await ask(embeddings, source, texts, signal);
  } catch (error) {
    if (!(error instanceof ModelError) || error.isRetryable || !refusesText.has(error.code)) throw error;
    if (texts.length === 1 && isModelKnown) return [null];
    if (texts.length === 1) throw error;
    const batchVectors: (readonly number[] | null)[] = [];
    for (const text of texts) batchVectors.push((await embedTexts(embeddings, source, [text], true, signal))[0] ?? null);
    // A model that refuses everything has another fault than the texts.
    if (batchVectors.every((vector) => vector === null)) throw error;
    return batchVectors;
  }
}

async function ask(
  { model, embed, dimensions }: Embeddings,
  { id: _id, ownerUserId: userId, ...owner }: PendingSource,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly (readonly number[] | null)[]> {
  const charge: Charge = { ...owner, userId, keyId: null, runId: null };
  const inputTokens = texts.reduce((sum, text) => sum + tokensOfText(text), 0);
  const request = { input: texts, ...(dimensions === undefined ? {} : { dimensions }) };
  const either = AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]);
  return (await embed(charge, { model, request, inputTokens }, either)).vectors.map(normalised);
}

function toErrorCode({ code, detail }: DomainError): VectorErrorCode {
  if (code === 'FORBIDDEN') return 'MODEL_WITHOUT_PRICE';
  return detail.budgetId === undefined ? 'LIMIT_REACHED' : 'BUDGET_REACHED';
}

async function noteFailure(
  { store }: EmbedContext,
  { id }: PendingSource,
  error: unknown,
): Promise<{ readonly retryAfterMs: number } | undefined> {
  if (isQuota(error)) {
    const errorCode = toErrorCode(error);
    const errorMessage =
      errorCode === 'BUDGET_REACHED' ? `${error.message}. Vectors are made again once it has room` : error.message;
    await store.fail(id, { errorCode, errorMessage, retryAfterMs: null });
    return undefined;
  }
  const isTimeout = error instanceof DOMException;
  if (!isTimeout && !(error instanceof ModelError)) throw error;
  const attempt = await store.noteTry(id);
  const backOffMs = Math.min(retryMaxMs, 1_000 * 2 ** Math.min(attempt, 10));
  const askedMs = isTimeout || error.retryAfterSeconds === undefined ? undefined : error.retryAfterSeconds * 1_000;
  const isHopeful = isTimeout || error.isRetryable;
  const retryAfterMs = isHopeful ? Math.min(retryMaxMs, askedMs ?? backOffMs) : retryMaxMs;
  const errorMessage = isTimeout ? 'The embedding model took too long' : error.message;
  await store.fail(id, { errorCode: isHopeful ? 'PROVIDER_UNAVAILABLE' : 'PROVIDER_REFUSED', errorMessage, retryAfterMs });
  return { retryAfterMs };
}
