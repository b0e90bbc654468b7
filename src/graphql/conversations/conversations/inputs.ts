import type { z } from 'zod';
import { conversationBody, conversationItemsBody, updateConversationBody } from '../../../wire/conversations.ts';
import { builder } from '../../ground/builder/builder.ts';
import { byName, flatInput } from '../../ground/builder/flat-inputs.ts';
import { NamedTextInput } from '../../ground/types/named-texts.ts';
import { RunItemInput } from '../runs/items/inputs.ts';
import { metadataDescription } from '../runs/request-inputs.ts';

export const ConversationInput = flatInput<z.output<typeof conversationBody>>(
  builder.inputType('ConversationInput', {
    description: 'A new conversation.',
    fields: (t) => ({
      items: t.field({ type: [RunItemInput], required: false, description: 'At most 20 items.' }),
      metadata: t.field({ type: [NamedTextInput], required: false, description: metadataDescription }),
    }),
  }),
  {
    body: conversationBody,
    members: { metadata: byName },
  },
);

export const UpdateConversationInput = flatInput<z.output<typeof updateConversationBody>>(
  builder.inputType('UpdateConversationInput', {
    description: 'Changes of a conversation.',
    fields: (t) => ({
      metadata: t.field({
        type: [NamedTextInput],
        required: false,
        description: `${metadataDescription} They replace the former ones; null takes all away.`,
      }),
    }),
  }),
  {
    body: updateConversationBody,
    members: { metadata: byName },
  },
);

export const ConversationItemsInput = flatInput<z.output<typeof conversationItemsBody>>(
  builder.inputType('ConversationItemsInput', {
    description: 'Items to add.',
    fields: (t) => ({ items: t.field({ type: [RunItemInput], required: false, description: 'At most 20 items.' }) }),
  }),
  {
    body: conversationItemsBody,
  },
);
