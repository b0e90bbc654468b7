import { createEmbeddings } from '../../domain/embeddings/embeddings.ts';
import type { Embeddings } from '../../wire/embeddings.ts';
import { builder } from '../builder/builder.ts';
import { identifiers } from '../completions/inputs.ts';

const EmbeddingsType = builder.objectRef<Embeddings>('Embeddings').implement({
  access: { scope: 'CHATS:READ' },
  description: 'Vectors in the order of their inputs.',
  fields: (t) => ({
    vectors: t.field({
      type: ['JSON'],
      description:
        'One for each input. JSON: a list of numbers, or a text, base64 of their 32-bit floats in little-endian order, as `encodingFormat` says.',
      resolve: ({ vectors }) => [...vectors],
    }),
    model: t.exposeString('model', { description: 'As the request named it.' }),
    tokens: t.exposeInt('tokens', { description: 'Tokens that were read; they count as data tokens.' }),
  }),
});

const Input = builder.inputType('EmbeddingsInput', {
  description: 'A request for embeddings.',
  fields: (t) => ({
    model: t.string({ required: true, description: 'The model of the setting EMBEDDING_MODEL: its id, or its bare name.' }),
    input: t.field({
      type: 'JSON',
      required: false,
      description: 'A text, or at most 2,048 texts; also as numbers of tokens. JSON: a text or a list of several kinds.',
    }),
    encodingFormat: t.string({ required: false, description: 'float (default) or base64.' }),
    dimensions: t.int({ required: false, description: 'How many numbers a vector has, where the model can choose.' }),
    user: t.string({ required: false, description: identifiers.user }),
  }),
});

builder.mutationField('createEmbeddings', (t) =>
  t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: EmbeddingsType,
    description: 'Makes vectors of texts, when the service has the setting EMBEDDING_MODEL. Nothing is stored.',
    args: { input: t.arg({ type: Input, description: 'The request.' }) },
    resolve: (_root, { input }, { deps, caller, signal }) => createEmbeddings(deps, caller, input, signal),
  }),
);
