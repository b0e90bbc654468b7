import { type CitedPassage, type PassageText, readPassages } from '../../domain/knowledge/passages.ts';
import { builder } from '../builder/builder.ts';
import { nodeLoaderOf, nodeOf } from '../builder/nodes.ts';
import { CitationType } from '../chats/messages.ts';
import { DataSourceRef, KnowledgeItemRef } from '../refs.ts';

export const PassageContentType = builder.objectRef<PassageText>('PassageContent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A cited passage as it stands in its document now, with the text around it.',
  fields: (t) => ({
    text: t.exposeString('text', {
      description: 'The passage; at most 8,000 characters. Empty when the document has become shorter.',
    }),
    before: t.exposeString('before', { description: 'The text before it; at most 800 characters.' }),
    after: t.exposeString('after', { description: 'The text behind it; at most 800 characters.' }),
    charStart: t.exposeInt('charStart', {
      description: 'Where `text` starts in the text of the document, in UTF-16 code units.',
    }),
    charEnd: t.exposeInt('charEnd', { description: 'Where `text` ends.' }),
    isCutBefore: t.exposeBoolean('isCutBefore', { description: 'Whether the document has more text before.' }),
    isCutAfter: t.exposeBoolean('isCutAfter', { description: 'Whether the document has more text behind.' }),
    isCurrent: t.exposeBoolean('isCurrent', {
      description: 'False when the document was read again since: the place may hold another text than the one that was cited.',
    }),
    page: t.exposeInt('page', { nullable: true, description: 'The page of the document; null where there are no pages.' }),
    headingPath: t.exposeString('headingPath', { description: 'The headings above it; empty when there are none.' }),
  }),
});

/** Passages that one statement reads. */
const togetherMax = 50;

builder.objectFields(CitationType, (t) => ({
  source: t.field({
    type: DataSourceRef,
    nullable: true,
    description: 'The data source of the document; null for a page of the web, and where the caller may not see it.',
    resolve: ({ dataSourceId }, _args, context) => nodeOf(context, 'dataSource', dataSourceId),
  }),
  item: t.field({
    type: KnowledgeItemRef,
    nullable: true,
    description: 'The document; null for a page of the web, and where the caller may not see its source.',
    resolve: ({ knowledgeItemId }, _args, context) =>
      nodeLoaderOf(knowledgeItemId) === undefined ? null : nodeOf(context, 'knowledgeItem', knowledgeItemId),
  }),
  content: t.loadable({
    type: PassageContentType,
    nullable: true,
    description:
      'The passage in the text around it, for readers who see its source or may use an agent that cites it. Null for a page of the web, and when the document is gone.',
    loaderOptions: { maxBatchSize: togetherMax },
    resolve: ({ id, knowledgeItemId, dataSourceId, charStart, charEnd }) =>
      JSON.stringify({ id, knowledgeItemId, dataSourceId, charStart, charEnd } satisfies CitedPassage),
    load: async (keys: string[], { deps, caller }) => {
      const found = await readPassages(
        deps,
        caller,
        keys.map((key) => JSON.parse(key) as CitedPassage),
      );
      return found.map((passage) => passage ?? null);
    },
  }),
}));
