import { shownItem } from '../../../domain/conversations/responses/shown-items.ts';
import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import type { CompactedConversation } from '../../../wire/responses/reply.ts';
import { builder } from '../../ground/builder/builder.ts';
import { makeListConnection } from '../../ground/pagination.ts';
import { RunItemType } from '../runs/items/items.ts';
import { UsageType } from '../runs/parts.ts';

export const InputItemConnection = makeListConnection(
  RunItemType,
  'ResponseInputItem',
  'Items that a response was given',
  (item: WireObject) => String(item.id),
  shownItem,
);

export const CompactionType = builder.objectRef<CompactedConversation>('Compaction').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A conversation in short: items that a new chain of responses can begin with.',
  fields: (t) => ({
    runId: t.exposeID('id', { description: 'The run that made it.' }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was made.',
      resolve: ({ createdAt }) => new Date(createdAt * 1000),
    }),
    items: t.field({
      type: [RunItemType],
      description: 'The messages of the user, and one CompactionItem that stands for the rest.',
      resolve: ({ output }) => output.map(shownItem),
    }),
    usage: t.expose('usage', { type: UsageType, description: 'The tokens used.' }),
  }),
});
