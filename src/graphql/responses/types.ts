import type { CompactedConversation, ItemPage } from '../../wire/responses/reply.ts';
import { builder } from '../builder/builder.ts';
import { UsageType } from '../runs/parts.ts';

export const InputItemsType = builder.objectRef<ItemPage>('ResponseInputItemList').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A page of the items that a response was given.',
  fields: (t) => ({
    nodes: t.field({
      type: ['JSON'],
      description:
        'The items as `input` takes them. JSON: they are of many kinds, and the `id` of the last one is the next `after`.',
      resolve: ({ items }) => [...items],
    }),
    hasNextPage: t.exposeBoolean('hasMore', { description: 'Whether there are more behind it.' }),
  }),
});

export const CompactionType = builder.objectRef<CompactedConversation>('Compaction').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A conversation in short: items that a new chain of responses can begin with.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id for logs.' }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was made.',
      resolve: ({ createdAt }) => new Date(createdAt * 1000),
    }),
    items: t.field({
      type: ['JSON'],
      description:
        'The messages of the user, and one item that summarizes the rest. JSON: items as the `input` of a response takes them.',
      resolve: ({ output }) => [...output],
    }),
    usage: t.expose('usage', { type: UsageType, description: 'The tokens used.' }),
  }),
});
