import { builder } from '../builder/builder.ts';

/** A text with a name, in place of a member with a name of the caller's own: `headers`, `secrets`. Its flat form is `byName`. */
export const NamedTextInput = builder.inputType('NamedTextInput', {
  description: 'A text with its name.',
  fields: (t) => ({
    name: t.string({ description: 'Its name, once in its list.' }),
    value: t.string({ description: 'The text.' }),
  }),
});

interface NamedText {
  readonly name: string;
  readonly value: string;
}

export const NamedTextType = builder.objectRef<NamedText>('NamedText').implement({
  access: { scope: null },
  description: 'A text with its name.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    value: t.exposeString('value', { description: 'The text.' }),
  }),
});
