import { z } from 'zod';
import { metadata } from '../conversations.ts';
import { body, idText, readAs } from '../ground/body.ts';
import { component, constant, described, flag, integerRange, list, oneOfTexts, range, text } from '../ground/schema.ts';

/** The bodies of requests for vector stores. */

export const expiry = component('VectorStoreExpiry', 'When the files of a vector store are removed.', {
  anchor: constant('last_active_at').meta({ description: 'From what on the days count.' }),
  days: integerRange(1, 365, { description: 'Days without a change or a search.' }),
});
const chunking = component('ChunkingStrategyParam', 'How passages are cut: the service does it by headings and sentences.', {
  type: constant('auto').meta({ description: 'The only one.' }),
});
const filter = component('AttributeFilter', 'Which files may be found: a comparison, or several joined by `and` or `or`.', {
  type: oneOfTexts('How it compares or joins.', ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'and', 'or']),
  key: text('The name of the attribute.').optional(),
  value: z.unknown().meta({ description: 'What it is compared with; an array for `in` and `nin`.' }).optional(),
  filters: z.array(z.unknown()).max(50).meta({ description: 'The filters that are joined.' }).optional(),
});
const ranking = component('RankingOptions', 'How results are ranked.', {
  ranker: oneOfTexts('Both are the same.', ['auto', 'none']).optional(),
  score_threshold: range(0, 1, { description: 'Results below it are left out.' }).optional(),
});

/** The domain says what is wrong with the members of these; the reader checks their types. */
const expiryRead = body(
  'ExpiresAfterInput',
  'When a vector store expires.',
  { anchor: text('Only last_active_at.').nullish(), days: z.int().meta({ description: 'From 1 to 365.' }).nullish() },
  { asJson: 'checked' },
);
const chunkingRead = body(
  'ChunkingStrategyInput',
  'How files are cut into passages.',
  { type: text('Only auto.').nullish() },
  { asJson: 'checked' },
);
const rankingRead = body(
  'RankingOptionsInput',
  'How passages are ranked.',
  {
    ranker: text('auto or none.').nullish(),
    score_threshold: z.number().meta({ description: 'The least score, from 0 to 1.' }).nullish(),
  },
  { asJson: 'checked' },
);

const expiresAfter = readAs(
  expiryRead,
  expiry.meta({ description: 'An object `{anchor: "last_active_at", days}` with 1 to 365 days; null for never.' }),
).nullish();
const chunkingStrategy = readAs(chunkingRead, chunking.meta({ description: 'Only `{type: "auto"}`.' })).nullish();
const texts = described(metadata).nullish();
const attributes = described({
  type: 'object',
  description: 'What searches may filter by.',
  additionalProperties: { anyOf: [{ type: 'string', maxLength: 512 }, { type: 'number' }, { type: 'boolean' }] },
  maxProperties: 16,
  propertyNames: { maxLength: 64 },
}).nullish();
const files = (description: string) => z.array(readAs('ID', z.string())).meta({ description }).nullish();

export const newStoreBody = body('CreateVectorStoreInput', 'A new vector store.', {
  name: text('At most 200 characters.').nullish(),
  description: text('At most 2,000 characters.').nullish(),
  fileIds: files('Files to begin with, at most 100.'),
  expiresAfter,
  chunkingStrategy,
  metadata: texts,
});

export const storeChangesBody = body('UpdateVectorStoreInput', 'Changes of a vector store: absent members are kept.', {
  name: text('At most 200 characters; null keeps it.').nullish(),
  expiresAfter,
  metadata: texts,
});

export const storeSearchBody = body('VectorStoreSearchInput', 'What to search for.', {
  query: described({
    anyOf: [
      { type: 'string', maxLength: 8_000 },
      { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 8_000 } },
    ],
    description: 'A text of at most 8,000 characters, or up to 10 such texts.',
  }).nullish(),
  maxNumResults: readAs('Int', z.int().meta({ description: 'From 1 to 50; default 10.' })).nullish(),
  filters: filter
    .meta({
      description:
        'By attributes of files: `{type, key, value}` with eq, ne, gt, gte, lt, lte, in or nin, or `{type: "and" | "or", filters}`. At most 500 comparisons. JSON: filters nest up to 8 levels, and values are of any kind.',
    })
    .nullish(),
  rankingOptions: readAs(
    rankingRead,
    ranking.meta({ description: 'An object: `score_threshold` from 0 to 1; `ranker` is auto or none.' }),
  ).nullish(),
  rewriteQuery: flag('Only false.').nullish(),
});

export const newStoreFileBody = body('AttachVectorStoreFileInput', 'A file to attach.', {
  fileId: idText('A file of the caller.'),
  attributes,
  chunkingStrategy,
});

export const storeFileChangesBody = body('UpdateVectorStoreFileInput', 'Changes of a file of a vector store.', { attributes });

export const batchFileBody = body('VectorStoreBatchFileInput', 'A file of a batch.', {
  fileId: idText('A file of the caller.'),
  attributes,
  chunkingStrategy,
});
/** Either `fileIds`, to which the other members apply, or `files`. */
export const fileBatchBody = body('CreateVectorStoreFileBatchInput', 'Files to attach: `fileIds` or `files`.', {
  fileIds: files('Files of the caller, at most 2,000.'),
  files: list('Files with attributes of their own, at most 2,000.', batchFileBody).nullish(),
  attributes,
  chunkingStrategy,
});
