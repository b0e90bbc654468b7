import { z } from 'zod';
import { body } from './ground/body.ts';
import type { WireReply } from './ground/encoder.ts';
import { identifiers } from './ground/identifiers.ts';
import { always, anyOf, component, integer, integerRange, list, oneOfTexts, type Sent, text } from './ground/schema.ts';

/** Embeddings in the common format. */

export const embeddingInputsMax = 2_048;
const inputRule = 'must be a text, an array of texts, an array of token numbers, or an array of such arrays';
const tokens = z.array(z.int().min(0)).min(1).max(100_000);

export const embeddingsBody = body('EmbeddingsInput', 'A request for embeddings.', {
  model: text('The model of the setting EMBEDDING_MODEL: its id, or its bare name.'),
  input: anyOf(
    'A text, or at most 2,048 texts; also as numbers of tokens.',
    [
      z.string().min(1),
      z.array(z.string().min(1)).min(1).max(embeddingInputsMax),
      tokens,
      z.array(tokens).min(1).max(embeddingInputsMax),
    ],
    inputRule,
  ).nullish(),
  encodingFormat: oneOfTexts('float (default) or base64.', ['float', 'base64'], { default: 'float' }).nullish(),
  dimensions: integerRange(1, 100_000, { description: 'How many numbers a vector has, where the model can choose.' }).nullish(),
  user: identifiers.user.nullish(),
});

/** Vectors in the order of their inputs. */
export interface Embeddings {
  /** As the request named it. */
  readonly model: string;
  /** Numbers, or base64 of their 32-bit floats. */
  readonly vectors: readonly (readonly number[] | string)[];
  readonly tokens: number;
}

const embedding = component('Embedding', 'The vector of one input.', {
  object: always('embedding'),
  index: integer('The place of its input, from 0.'),
  embedding: anyOf('Numbers; with `encoding_format` base64, their 32-bit floats in little-endian order.', [
    z.array(z.number()),
    z.string(),
  ]),
});
const embeddings = component('Embeddings', 'Vectors in the order of their inputs.', {
  object: always('list'),
  data: list('One for each input.', embedding),
  model: text('As the request named it.'),
  usage: component('EmbeddingUsage', 'Tokens of embeddings; they count as data tokens.', {
    prompt_tokens: integer('Tokens read.'),
    total_tokens: integer('The same.'),
  }).meta({ description: 'What it cost.' }),
});

export const embeddingsReply: WireReply = {
  schema: 'Embeddings',
  encode: ({ vectors, model, tokens }: Embeddings): Sent<typeof embeddings> => ({
    object: 'list',
    data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: vector })),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }),
};
