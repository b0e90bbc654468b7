import { z } from 'zod';
import { metadata, storedMetadata } from './conversations.ts';
import { component, constant, described, describeMembers, graphqlInput, integerRange, range, text } from './schema.ts';

/** What the common format says of vector stores beyond the GraphQL schema. */

const expiry = component('VectorStoreExpiry', 'When the files of a vector store are removed.', {
  anchor: constant('last_active_at').meta({ description: 'From what on the days count.' }),
  days: integerRange(1, 365, { description: 'Days without a change or a search.' }),
});
const chunking = component('ChunkingStrategyParam', 'How passages are cut: the service does it by headings and sentences.', {
  type: constant('auto').meta({ description: 'The only one.' }),
});
const attribute = z.union([z.string().max(512), z.number(), z.boolean()]);
const givenAttributes = described({
  type: 'object',
  description: 'What searches may filter by.',
  additionalProperties: { anyOf: [{ type: 'string', maxLength: 512 }, { type: 'number' }, { type: 'boolean' }] },
  maxProperties: 16,
  propertyNames: { maxLength: 64 },
});
const attributes = z.record(z.string(), attribute).meta({ description: 'What searches may filter by.' });
const filter = component('AttributeFilter', 'Which files may be found: a comparison, or several joined by `and` or `or`.', {
  type: z
    .enum(['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'and', 'or'])
    .meta({ description: 'How it compares or joins.' }),
  key: text('The name of the attribute.').optional(),
  value: z.unknown().meta({ description: 'What it is compared with; an array for `in` and `nin`.' }).optional(),
  filters: z.array(z.unknown()).max(50).meta({ description: 'The filters that are joined.' }).optional(),
});
const ranking = component('RankingOptions', 'How results are ranked.', {
  ranker: z.enum(['auto', 'none']).meta({ description: 'Both are the same.' }).optional(),
  score_threshold: range(0, 1, { description: 'Results below it are left out.' }).optional(),
});
const query = {
  anyOf: [
    { type: 'string', maxLength: 8_000 },
    { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 8_000 } },
  ],
};

graphqlInput('CreateVectorStoreInput', {
  expiresAfter: expiry,
  chunkingStrategy: chunking,
  metadata: described(metadata),
});
graphqlInput('UpdateVectorStoreInput', { expiresAfter: expiry, metadata: described(metadata) });
graphqlInput('VectorStoreSearchInput', { query: described(query), filters: filter, rankingOptions: ranking });
graphqlInput('AttachVectorStoreFileInput', { attributes: givenAttributes, chunkingStrategy: chunking });
graphqlInput('VectorStoreBatchFileInput', { attributes: givenAttributes, chunkingStrategy: chunking });
graphqlInput('CreateVectorStoreFileBatchInput', { attributes: givenAttributes, chunkingStrategy: chunking });
graphqlInput('UpdateVectorStoreFileInput', { attributes: givenAttributes });
describeMembers('VectorStore', { metadata: storedMetadata, expiresAfter: expiry });
describeMembers('VectorStoreFile', {
  attributes,
  chunkingStrategy: component('ChunkingStrategy', 'How the passages of a file were cut.', {
    type: constant('other').meta({ description: 'By the service.' }),
  }),
});
describeMembers('VectorStoreResult', { attributes });
