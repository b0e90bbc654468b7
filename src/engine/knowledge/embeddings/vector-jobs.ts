import type { Settings } from '../../../settings.ts';
import type { OwnedId } from '../../../storage/knowledge/indexing/indexing.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import { embedSource } from './embed-source.ts';
import type { Embeddings } from './embeddings.ts';

/** Tokens in one request for vectors, by an upper estimate. */
const tokensMax = 16_000;

export interface VectorJobsContext {
  /** Undefined while EMBEDDING_MODEL is not set. */
  readonly embeddings: Embeddings | undefined;
  readonly storage: Pick<Storage, 'operations'>;
  readonly settings: Pick<Settings, 'EMBEDDING_BATCH_TEXTS_MAX'>;
  readonly jobs: Jobs;
}

const reconcileEveryMs = 60_000;
/** A job that waits keeps others of its source from being queued: longer waits are left to the reconciliation. */
const queuedWaitMaxMs = 60_000;

/** Registers the job that makes vectors, and the repeated task that finds sources whose job was lost, waits for a provider, or for a limit. */
export function registerVectorJobs(context: VectorJobsContext): void {
  const { embeddings, storage, settings, jobs } = context;
  const store = embeddings?.store;
  const { EMBEDDING_BATCH_TEXTS_MAX: textsMax } = settings;
  // Registered without a store too: jobs of an earlier setting end at once.
  jobs.work('knowledge.embed-source', { concurrency: 1 }, async ({ dataSourceId }, signal, { owner }) => {
    if (embeddings === undefined || store === undefined) return;
    const retry = await embedSource({ embeddings, store, textsMax, tokensMax }, dataSourceId, signal);
    if (retry === undefined || retry.retryAfterMs > queuedWaitMaxMs) return;
    await queueEmbedding(context, { ...owner, id: dataSourceId }, retry.retryAfterMs);
  });
  if (embeddings === undefined || store === undefined) return;
  const queuePending = async (orgId?: string) => {
    const space = await store.spaces.findSpace(embeddings.model.id, embeddings.dimensions);
    for (const source of await store.findPending(space?.id, orgId)) await queueEmbedding(context, source);
  };
  jobs.lead('knowledge.vectors', reconcileEveryMs, () => queuePending());
  // A limit may have been raised.
  storage.operations.usageLimits.onChange((orgId) => {
    queuePending(orgId).catch(() => undefined);
  });
}

/** Queues the work on the vectors of a source. */
export async function queueEmbedding({ embeddings, jobs }: VectorJobsContext, source: OwnedId, startAfterMs = 0): Promise<void> {
  if (embeddings?.store === undefined) return;
  const start = startAfterMs === 0 ? {} : { startAfterMs };
  await jobs.enqueue('knowledge.embed-source', { dataSourceId: source.id }, { owner: source, key: source.id, ...start });
}
