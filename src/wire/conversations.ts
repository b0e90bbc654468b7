import { z } from 'zod';
import type { Conversation } from '../entities/conversations/chats/chat.ts';
import type { WireObject } from '../entities/conversations/runs/response.ts';
import { body, maybe } from './ground/body.ts';
import type { WireReply } from './ground/encoder.ts';
import { createListSchema, deletionReply, inSeconds, listOfItems, type StoredItems } from './ground/envelopes.ts';
import { always, component, described, integer, type Sent, text } from './ground/schema.ts';
import { inputItem, storedItem } from './responses/items.ts';

/** Conversations in the common format. */

/** Texts by name that a caller keeps with a thing. */
export const metadata = {
  type: 'object',
  description: 'Texts by name.',
  additionalProperties: { type: 'string', maxLength: 512 },
  maxProperties: 16,
  propertyNames: { maxLength: 64 },
};
const items = maybe(
  'At most 20 items, as in the input of a response. JSON: each kind has members of its own.',
  described({ type: 'array', maxItems: 20, items: { $ref: '#/components/schemas/InputItemParam' } }),
);
export const storedMetadata = z.record(z.string(), z.string()).meta({ description: 'Texts by name.' });

export const conversationBody = body('ConversationInput', 'A new conversation.', {
  items,
  metadata: described(metadata).nullish(),
});
export const updateConversationBody = body('UpdateConversationInput', 'Changes of a conversation.', {
  metadata: described(metadata).nullish(),
});
export const conversationItemsBody = body('ConversationItemsInput', 'Items to add.', { items });

const conversation = component(
  'Conversation',
  'A chat of the caller as the common format knows it: items, and texts that the caller keeps with it.',
  {
    id: text('The id of the chat.'),
    object: always('conversation'),
    created_at: integer('Seconds since 1970.'),
    metadata: storedMetadata,
  },
);

export const conversationReply: WireReply = {
  schema: 'Conversation',
  encode: ({ id, createdAt, metadata: texts }: Conversation): Sent<typeof conversation> => ({
    ...{ id, object: 'conversation', created_at: inSeconds(createdAt) },
    metadata: texts as Sent<typeof storedMetadata>,
  }),
};

/** An item as GraphQL shows it, with the form in which it is stored. */
interface Stored {
  readonly wire: WireObject;
}

/** An item of a conversation, as it is stored. */
export const conversationItemReply: WireReply = { schema: 'InputItem', encode: ({ wire }: Stored) => wire };

const itemList = createListSchema('ConversationItemList', 'Items of a conversation in the form of the format.', inputItem);
type ItemList = Sent<typeof itemList>;

/** A page of stored items. */
export const conversationItemsReply: WireReply = {
  schema: 'ConversationItemList',
  encode: (page: StoredItems): ItemList => listOfItems(page, storedItem),
};

/** Items that were added. */
export const addedItemsReply: WireReply = {
  schema: 'ConversationItemList',
  encode: (addedItems: readonly Stored[]): ItemList =>
    listOfItems({ items: addedItems.map(({ wire }) => wire), hasMore: false }, storedItem),
};

export const deletedConversationReply = deletionReply(
  'DeletedConversation',
  'conversation.deleted',
  'A conversation that was deleted.',
);
