import { z } from 'zod';
import { anyOf, describeMembers, graphqlInput, integerRange } from './schema.ts';

/** What the common format says of embeddings beyond the GraphQL schema. */

export const embeddingInputsMax = 2_048;
const inputRule = 'must be a text, an array of texts, an array of token numbers, or an array of such arrays';
const tokens = z.array(z.int().min(0)).min(1).max(100_000);

export const embeddingsInput = graphqlInput('EmbeddingsInput', {
  input: anyOf(
    'A text, or at most 2,048 texts; also as numbers of tokens.',
    [
      z.string().min(1),
      z.array(z.string().min(1)).min(1).max(embeddingInputsMax),
      tokens,
      z.array(tokens).min(1).max(embeddingInputsMax),
    ],
    inputRule,
  ),
  encodingFormat: z.enum(['float', 'base64']).meta({ default: 'float' }),
  dimensions: integerRange(1, 100_000),
  user: z.string().max(512),
});
describeMembers('Embedding', {
  embedding: anyOf('Numbers; with `encoding_format` base64, their 32-bit floats in little-endian order.', [
    z.array(z.number()),
    z.string(),
  ]),
});
