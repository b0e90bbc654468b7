import { builder } from '../builder/builder.ts';

/** A text with a name, in place of a member with a name of the caller's own: `headers`, `secrets`. Its flat form is `byName`. */
export const NamedTextInput = builder.inputType('NamedTextInput', {
  description: 'A text with its name.',
  fields: (t) => ({
    name: t.string({ description: 'Its name, once in its list.' }),
    value: t.string({ description: 'The text.' }),
  }),
});

/** The texts of an object by name. */
export function namedTexts(texts: Readonly<Record<string, unknown>>): NamedText[] {
  return Object.entries(texts).map(([name, value]) => ({ name, value: String(value) }));
}

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
