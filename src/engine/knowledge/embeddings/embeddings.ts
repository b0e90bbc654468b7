import { DomainError } from '../../../entities/ground/errors.ts';
import type { LexicalReason } from '../../../entities/knowledge/retrieval.ts';
import type { EmbeddingStore } from '../../../storage/knowledge/embeddings/embeddings.ts';
import type { EmbeddingSpace, ServingSpace } from '../../../storage/knowledge/embeddings/spaces.ts';
import type { EmbeddingModel } from '../../models/router.ts';
import type { Charge, Embed } from '../../plan/plan.ts';
import { tokensOfText } from './passage-text.ts';

/** What searching by meaning needs. */
export interface Embeddings {
  /** Undefined where the database keeps no vectors. */
  readonly store: EmbeddingStore | undefined;
  /** EMBEDDING_MODEL. */
  readonly model: EmbeddingModel;
  /** The model of this id, while its provider can be asked. */
  modelOf(id: string): EmbeddingModel | undefined;
  readonly embed: Embed;
  /** Asked for of every vector; undefined: as many as the model makes. */
  readonly dimensions: number | undefined;
  /** Time for the vector of a question. */
  readonly timeoutMs: number;
  /** How much meaning counts against words, 0 to 1. */
  readonly weight: number;
}

export interface QuestionVector {
  readonly space: ServingSpace;
  readonly vector: readonly number[];
}

/** The space of the vectors that are made now; undefined before the first one. */
export async function findSpace({ store, model, dimensions }: Embeddings): Promise<EmbeddingSpace | undefined> {
  return store?.spaces.findSpace(model.id, dimensions);
}

/** The vector with length 1; null for one without a direction. */
export function normalised(vector: readonly number[]): readonly number[] | null {
  const length = Math.hypot(...vector);
  if (!(length > 0) || !Number.isFinite(length)) return null;
  return vector.map((value) => Math.round((value / length) * 1e6) / 1e6);
}

/**
 * Makes the vectors of a question, one for each space that serves the sources, each by the model of the space.
 *
 * @returns no vector and the reason when it cannot be made in time. Fails for no other reason than `signal`.
 */
export async function questionVectors(
  embeddings: Embeddings,
  charge: Charge,
  spaces: readonly ServingSpace[],
  question: string,
  signal: AbortSignal,
): Promise<{ readonly vectors: readonly QuestionVector[]; readonly reason: LexicalReason | null }> {
  const deadline = AbortSignal.timeout(embeddings.timeoutMs);
  const either = AbortSignal.any([signal, deadline]);
  const vectors: QuestionVector[] = [];
  let reason: LexicalReason | null = null;
  await Promise.all(
    spaces.map(async (space) => {
      try {
        const vector = await vectorIn(embeddings, charge, space, question, either);
        if (vector === undefined) reason = 'model_changed';
        else vectors.push({ space, vector });
      } catch (error) {
        signal.throwIfAborted();
        reason = deadline.aborted ? 'timeout' : isQuota(error) ? 'quota' : 'provider';
      }
    }),
  );
  return { vectors, reason: vectors.length > 0 ? null : reason };
}

async function vectorIn(
  { modelOf, embed, dimensions }: Embeddings,
  charge: Charge,
  space: ServingSpace,
  question: string,
  signal: AbortSignal,
): Promise<readonly number[] | undefined> {
  const model = modelOf(space.model);
  if (model === undefined) return undefined;
  const request = { input: [question], ...(dimensions === undefined ? {} : { dimensions: space.dimensions }) };
  const { vectors } = await embed(charge, { model, request, inputTokens: tokensOfText(question) }, signal);
  const vector = vectors[0];
  if (vector?.length !== space.dimensions) return undefined;
  return normalised(vector) ?? undefined;
}

/** Whether a limit or a budget refused a call: too little is left, or its model has no price. */
export function isQuota(error: unknown): error is DomainError {
  return error instanceof DomainError && (error.code === 'INSUFFICIENT_QUOTA' || error.code === 'FORBIDDEN');
}
