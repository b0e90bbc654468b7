import type { WireObject } from '../../entities/runs/response.ts';
import type { CompactedConversation } from '../../wire/responses/reply.ts';
import { builder } from '../builder/builder.ts';
import { listConnectionOf } from '../pagination.ts';
import { UsageType } from '../runs/parts.ts';

export const InputItemConnection = listConnectionOf<WireObject>(
  'JSON',
  'ResponseInputItem',
  'Items that a response was given',
  (item) => String(item.id),
  {
    scope: 'CHATS:READ',
  },
);

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
