import { builder } from '../../ground/builder/builder.ts';
import { byName, flatInput } from '../../ground/builder/flat-inputs.ts';
import { NamedTextInput } from '../../ground/types/named-texts.ts';
import { RunItemInput } from '../runs/items/inputs.ts';
import { metadataDescription } from '../runs/request-inputs.ts';

const restItems = 'At most 20 items, as in the input of a response. JSON: each kind has members of its own.';
const restMetadata = 'At most 16 texts of 512 characters by names of 64.';

export const ConversationInput = flatInput(
  builder.inputType('ConversationInput', {
    description: 'A new conversation.',
    fields: (t) => ({
      items: t.field({ type: [RunItemInput], required: false, description: 'At most 20 items.' }),
      metadata: t.field({ type: [NamedTextInput], required: false, description: metadataDescription }),
    }),
  }),
  {
    rest: builder.inputType('RestConversationInput', {
      description: 'A new conversation.',
      fields: (t) => ({
        items: t.field({ type: 'JSON', required: false, description: restItems }),
        metadata: t.field({ type: 'StringMap', required: false, description: restMetadata }),
      }),
    }),
    members: { metadata: byName },
  },
);

export const UpdateConversationInput = flatInput(
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
    rest: builder.inputType('RestUpdateConversationInput', {
      description: 'Changes of a conversation.',
      fields: (t) => ({
        metadata: t.field({
          type: 'StringMap',
          required: false,
          description: `${restMetadata} They replace the former ones; null takes all away.`,
        }),
      }),
    }),
    members: { metadata: byName },
  },
);

export const ConversationItemsInput = flatInput(
  builder.inputType('ConversationItemsInput', {
    description: 'Items to add.',
    fields: (t) => ({ items: t.field({ type: [RunItemInput], required: false, description: 'At most 20 items.' }) }),
  }),
  {
    rest: builder.inputType('RestConversationItemsInput', {
      description: 'Items to add.',
      fields: (t) => ({ items: t.field({ type: 'JSON', required: false, description: restItems }) }),
    }),
  },
);
