import { createEmbeddings, type Embeddings } from '../../domain/embeddings/embeddings.ts';
import { builder } from '../builder/builder.ts';
import { identifiers } from '../completions/inputs.ts';

interface EmbeddingView {
  readonly index: number;
  readonly vector: Embeddings['vectors'][number];
}

const EmbeddingType = builder.objectRef<EmbeddingView>('Embedding').implement({
  access: { scope: 'CHATS:READ' },
  description: 'The vector of one input.',
  fields: (t) => ({
    object: t.string({ description: 'Always `embedding`.', resolve: () => 'embedding' }),
    index: t.exposeInt('index', { description: 'The place of its input, from 0.' }),
    embedding: t.field({
      type: 'JSON',
      description: 'Numbers, or base64 of their 32-bit floats.',
      resolve: ({ vector }) => vector,
    }),
  }),
});

const UsageType = builder.objectRef<Embeddings>('EmbeddingUsage').implement({
  access: { scope: 'CHATS:READ' },
  description: 'Tokens of embeddings; they count as data tokens.',
  fields: (t) => ({
    promptTokens: t.exposeInt('tokens', { description: 'Tokens read.' }),
    totalTokens: t.exposeInt('tokens', { description: 'The same.' }),
  }),
});

const EmbeddingsType = builder.objectRef<Embeddings>('Embeddings').implement({
  access: { scope: 'CHATS:READ' },
  description: 'Vectors in the order of their inputs.',
  fields: (t) => ({
    object: t.string({ description: 'Always `list`.', resolve: () => 'list' }),
    data: t.field({
      type: [EmbeddingType],
      description: 'One for each input.',
      resolve: ({ vectors }) => vectors.map((vector, index) => ({ index, vector })),
    }),
    model: t.exposeString('model', { description: 'As the request named it.' }),
    usage: t.field({ type: UsageType, description: 'What it cost.', resolve: (embeddings) => embeddings }),
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
