import { GraphQLError } from 'graphql';
import { createEmbeddings, type EmbeddingsInput } from '../../domain/knowledge/embeddings.ts';
import { type Embeddings, embeddingsBody } from '../../wire/embeddings.ts';
import { describe } from '../../wire/ground/body.ts';
import { builder } from '../ground/builder/builder.ts';
import { flatInput, itself } from '../ground/builder/flat-inputs.ts';

builder.scalarType('Vector', {
  description: 'The numbers of a vector, in order: a JSON list of numbers.',
  serialize: (value) => value,
  parseValue: () => {
    throw new GraphQLError('Vector is an output only');
  },
});

const EmbeddingsType = builder.objectRef<Embeddings>('Embeddings').implement({
  access: { scope: 'CHATS:READ' },
  description: 'Vectors in the order of their inputs.',
  fields: (t) => ({
    vectors: t.field({
      type: ['Vector'],
      description: 'One for each input.',
      resolve: ({ vectors }) => vectors as readonly number[][] as number[][],
    }),
    model: t.exposeString('model', { description: 'As the request named it.' }),
    tokenCount: t.exposeInt('tokens', { description: 'Tokens that were read; they count as data tokens.' }),
  }),
});

const ContentInput = flatInput<unknown>(
  builder.inputType('EmbeddingsContentInput', {
    description: 'What vectors are made of: at most 2,048 texts, as such or as tokens.',
    isOneOf: true,
    fields: (t) => ({
      texts: t.stringList({ required: false, description: 'The texts.' }),
      tokens: t.field({
        type: t.listRef(t.listRef('Count')),
        required: false,
        description: 'Each text as the numbers of its tokens.',
      }),
    }),
  }),
  { choices: { texts: itself, tokens: itself } },
);

const Input = flatInput<EmbeddingsInput>(
  builder.inputType('EmbeddingsInput', {
    description: 'A request for embeddings.',
    fields: (t) => ({
      model: t.string({ description: describe(embeddingsBody, 'model') }),
      content: t.field({ type: ContentInput, description: 'What vectors are made of.' }),
      dimensions: t.int({ required: false, description: describe(embeddingsBody, 'dimensions') }),
      user: t.string({ required: false, description: describe(embeddingsBody, 'user') }),
    }),
  }),
  { body: embeddingsBody, members: { content: 'input' } },
);

builder.mutationField('createEmbeddings', (t) =>
  t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: EmbeddingsType,
    description: 'Makes vectors of texts, when the service has the setting EMBEDDING_MODEL. Nothing is stored.',
    args: { input: t.arg({ type: Input, description: 'The request.' }) },
    resolve: (_root, { input }, { deps, caller, signal }) => createEmbeddings(deps, caller, input, signal),
  }),
);
