import { z } from 'zod';
import type { WireObject } from '../entities/runs/response.ts';
import type { WireReply } from './encoder.ts';
import { inputItem } from './responses/items.ts';
import { described, describeMembers, graphqlInput } from './schema.ts';

/** What the common format says of conversations beyond the GraphQL schema. */

/** Texts by name that a caller keeps with a thing. */
export const metadata = {
  type: 'object',
  description: 'Texts by name.',
  additionalProperties: { type: 'string', maxLength: 512 },
  maxProperties: 16,
  propertyNames: { maxLength: 64 },
};
const items = described({ type: 'array', maxItems: 20, items: { $ref: '#/components/schemas/InputItemParam' } });
export const storedMetadata = z.record(z.string(), z.string()).meta({ description: 'Texts by name.' });

graphqlInput('ConversationInput', { items, metadata: described(metadata) });
graphqlInput('UpdateConversationInput', { metadata: described(metadata) });
graphqlInput('ConversationItemsInput', { items });
describeMembers('Conversation', { metadata: storedMetadata });
describeMembers('ConversationItemList', { data: z.array(inputItem) });

/** An item of a conversation, as it is stored. */
export const conversationItemReply: WireReply = { schema: 'InputItem', encode: (item: WireObject) => item };
