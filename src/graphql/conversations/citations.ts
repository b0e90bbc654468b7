import { type CitedPassage, readPassages } from '../../domain/knowledge/passages.ts';
import { builder } from '../ground/builder/builder.ts';
import { findNodeLoader, loadNode } from '../ground/builder/nodes.ts';
import { DataSourceRef, KnowledgeItemRef } from '../ground/refs.ts';
import { PassageContentType } from '../knowledge/passages.ts';
import { CitationType } from './chats/messages.ts';

/** Passages that one statement reads. */
const togetherMax = 50;

builder.objectFields(CitationType, (t) => ({
  source: t.field({
    type: DataSourceRef,
    nullable: true,
    description: 'The data source of the document; null for a page of the web, and where the caller may not see it.',
    resolve: ({ dataSourceId }, _args, context) => loadNode(context, 'dataSource', dataSourceId),
  }),
  item: t.field({
    type: KnowledgeItemRef,
    nullable: true,
    description: 'The document; null for a page of the web, and where the caller may not see its source.',
    resolve: ({ knowledgeItemId }, _args, context) =>
      findNodeLoader(knowledgeItemId) === undefined ? null : loadNode(context, 'knowledgeItem', knowledgeItemId),
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
      const passageTexts = await readPassages(
        deps,
        caller,
        keys.map((key) => JSON.parse(key) as CitedPassage),
      );
      return passageTexts.map((passage) => passage ?? null);
    },
  }),
}));
