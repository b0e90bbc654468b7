import { embeddingsReply } from '../../../wire/embeddings.ts';
import type { DeclaredRoute } from '../../route.ts';

export const embeddingRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'createEmbeddings',
    method: 'post',
    path: '/api/v1/embeddings',
    forClients: true,
    summary: 'Create embeddings',
    description: 'With the model of the setting EMBEDDING_MODEL; 400 while it is not set. Tokens count as data tokens.',
    tag: 'Embeddings',
    document: `mutation ($input: EmbeddingsInput!) {
      createEmbeddings(input: $input) { tokenCount }
    }`,
    reply: embeddingsReply,
    body: 'input',
    bodyCase: 'snake',
    asksModel: true,
    example: {
      model: 'openai/text-embedding-3-small',
      input: ['Good morning', 'Good night'],
      encoding_format: 'float',
      dimensions: 256,
    },
  },
];
