import { membersOf, readElements } from '../../../lib/json/json.ts';
import type { Upstream } from '../../egress/dispatchers.ts';
import type { EmbeddingReply, EmbeddingRequest } from '../port.ts';
import { malformed } from './errors.ts';
import { requestJson } from './json-reply.ts';

/** Longest reply. */
const replyBytesMax = 64 * 1024 * 1024;

/**
 * Asks an OpenAI-compatible provider for embeddings. Always as numbers: not every provider knows base64.
 *
 * @throws ModelError for a refusal, a failure, or a reply that is not one vector for each input; the signal's reason.
 */
export async function requestEmbeddings(
  upstream: Upstream,
  path: string,
  headers: Readonly<Record<string, string>>,
  { model, input, dimensions, user }: EmbeddingRequest,
  signal: AbortSignal,
): Promise<EmbeddingReply> {
  const body = {
    model,
    input,
    encoding_format: 'float',
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(user === undefined ? {} : { user }),
  };
  const request = { path, headers: { ...headers }, body: JSON.stringify(body) };
  const reply = await requestJson(upstream, request, signal, replyBytesMax);
  return readReply(reply, Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1);
}

function readReply(reply: unknown, count: number): EmbeddingReply {
  const { data, usage } = membersOf(reply);
  const vectors: (readonly number[] | undefined)[] = Array.from({ length: count });
  for (const [place, row] of readElements(data).entries()) {
    const { index = place, embedding } = membersOf(row);
    const vector = typeof embedding === 'string' ? fromBase64(embedding) : embedding;
    if (!Array.isArray(vector) || !vector.every((value) => typeof value === 'number'))
      throw malformed('an embedding is no vector');
    vectors[Number(index)] = vector;
  }
  const complete = vectors.filter((vector) => vector !== undefined);
  if (complete.length !== count || vectors.length !== count) throw malformed('it has not one embedding for each input');
  const tokens = Number(membersOf(usage).prompt_tokens ?? membersOf(usage).total_tokens);
  return { vectors: complete, tokens: Number.isFinite(tokens) ? tokens : undefined };
}

/** Some providers answer base64 whatever they are asked for: little-endian 32-bit floats. */
function fromBase64(text: string): readonly number[] {
  const bytes = Buffer.from(text, 'base64');
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readFloatLE(index * 4));
}
