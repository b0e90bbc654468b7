import { builder } from '../../ground/builder/builder.ts';
import { flatInput, held, itself } from '../../ground/builder/flat-inputs.ts';

const PromptPartInput = flatInput<unknown>(
  builder.inputType('PromptPartInput', {
    isOneOf: true,
    description: 'A part of a message.',
    fields: (t) => ({
      text: t.string({ required: false, description: 'A text.' }),
      fileId: t.id({ required: false, description: 'A file of the chat: models get what is in it.' }),
      imageUrl: t.string({ required: false, description: 'An image by its http(s) address, or itself as a data URL.' }),
    }),
  }),
  {
    choices: {
      text: held('text', { type: 'text' }),
      fileId: held('id', { type: 'id' }),
      imageUrl: held('url', { type: 'url' }),
    },
  },
);

/** What a user says. Its flat form is a text or a list of parts. */
export const PromptInput = flatInput<unknown>(
  builder.inputType('PromptInput', {
    isOneOf: true,
    description: 'What a user says: a text, or a list of parts.',
    fields: (t) => ({
      text: t.string({ required: false, description: 'A text that is not blank.' }),
      parts: t.field({ type: [PromptPartInput], required: false, description: '1 to 100 parts.' }),
    }),
  }),
  { choices: { text: itself, parts: itself } },
);
