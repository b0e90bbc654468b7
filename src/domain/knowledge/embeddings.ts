import type { z } from 'zod';
import { type EmbeddingInput, ModelError } from '../../engine/models/port.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { type Embeddings, embeddingsBody } from '../../wire/embeddings.ts';
import { readWire } from '../../wire/ground/read.ts';
import type { Unread } from '../../wire/ground/schema.ts';
import type { Deps } from '../deps.ts';
import { chargeTo } from '../ground/charges.ts';
import { Faults } from '../ground/faults.ts';

/** A request as either API gives it: types are checked, limits are not. */
export type EmbeddingsInput = Unread<z.output<typeof embeddingsBody>> & { readonly model: string };

/** Fewer bytes than most texts have for a token. */
const bytesPerToken = 3;

/**
 * Makes vectors of texts with EMBEDDING_MODEL. Tokens count as data tokens.
 *
 * @throws DomainError INVALID_VALUE while EMBEDDING_MODEL is not set; MODEL_NOT_FOUND for another model; the faults of the input;
 * INSUFFICIENT_QUOTA; those of the provider.
 *
 * Cost: one call of the provider.
 */
export async function createEmbeddings(
  deps: Deps,
  caller: Caller,
  embeddingsInput: EmbeddingsInput,
  signal: AbortSignal,
): Promise<Embeddings> {
  const model = deps.models.embedding;
  if (model === undefined) {
    const message = 'model cannot be served: this service makes no embeddings until its setting EMBEDDING_MODEL names a model';
    throw new DomainError('INVALID_VALUE', message, { param: 'model' });
  }
  const faults = new Faults();
  if ((embeddingsInput.input ?? null) === null) faults.add('input', 'input is required', 'MISSING_REQUIRED_PARAMETER');
  const { model: name } = embeddingsInput;
  const read = readWire(embeddingsBody, embeddingsInput, '', faults);
  faults.throwIfAny();
  if (name !== model.id && name !== model.name) {
    const message = `There is no embedding model "${name.slice(0, 100)}": this service has ${model.id}`;
    throw new DomainError('MODEL_NOT_FOUND', message, { param: 'model' });
  }
  const input = read?.input as EmbeddingInput;
  const { dimensions, user } = read ?? {};
  const request = {
    input,
    ...(typeof dimensions === 'number' ? { dimensions } : {}),
    ...(typeof user === 'string' ? { user } : {}),
  };
  const charge = chargeTo(caller, { agentId: null, runId: null });
  try {
    const call = { model, request, inputTokens: countTokens(input) };
    const run = { kind: 'embedding', charge, modelId: model.id } as const;
    const { vectors, tokens } = await deps.runs.recorded(run, (ofRun) => deps.runs.embed(ofRun, call, signal));
    return { model: name, tokens, vectors: read?.encodingFormat === 'base64' ? vectors.map(base64Of) : vectors };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    const { code, message, retryAfterSeconds } = error;
    throw new DomainError(code, message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
  }
}

/** An upper estimate. */
function countTokens(input: EmbeddingInput): number {
  if (typeof input === 'string') return Math.ceil(Buffer.byteLength(input) / bytesPerToken);
  return input.reduce<number>((sum, part) => sum + (typeof part === 'number' ? 1 : countTokens(part)), 0);
}

/** 32-bit floats in little-endian order, as clients read them. */
function base64Of(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}
