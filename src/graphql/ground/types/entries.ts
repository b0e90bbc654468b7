import type { AttributeValue, FileAttributes, Metadata } from '../../../entities/knowledge/vector-store.ts';
import { builder } from '../builder/builder.ts';

/** Maps of the caller as lists of entries: a reader knows what it selects. REST and the domain have them as objects. */

const access = { scope: null } as const;

export const MetadataEntryType = builder.objectRef<{ readonly key: string; readonly value: string }>('MetadataEntry').implement({
  access,
  description: 'A text that a caller keeps with a thing.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'Its name.' }),
    value: t.exposeString('value', { description: 'The text.' }),
  }),
});

export const AttributeType = builder
  .objectRef<{ readonly key: string; readonly value: AttributeValue }>('FileAttribute')
  .implement({
    access,
    description: 'What searches may filter a file by.',
    fields: (t) => ({
      key: t.exposeString('key', { description: 'Its name.' }),
      value: t.field({ type: 'PlainValue', description: 'Its value.', resolve: ({ value }) => value }),
    }),
  });

export function metadataEntries(metadata: Metadata) {
  return Object.entries(metadata).map(([key, value]) => ({ key, value }));
}

export function attributeEntries(attributes: FileAttributes) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value }));
}

export const MetadataEntryInput = builder.inputType('MetadataEntryInput', {
  description: 'A text to keep with a thing.',
  fields: (t) => ({
    key: t.string({ description: 'Its name: at most 64 characters.' }),
    value: t.string({ description: 'The text: at most 512 characters.' }),
  }),
});

export const AttributeInput = builder.inputType('FileAttributeInput', {
  description: 'What searches may filter a file by.',
  fields: (t) => ({
    key: t.string({ description: 'Its name: at most 64 characters.' }),
    value: t.field({ type: 'PlainValue', description: 'A text of at most 512 characters, a number, true or false.' }),
  }),
});

/** Of a member of a flat form: the list of entries as an object. A fault names an entry by its key, which is no place in the list. */
export const asObject = {
  flatten: (value: unknown) =>
    Object.fromEntries(
      (value as readonly { readonly key: string; readonly value: unknown }[]).map((entry) => [entry.key, entry.value]),
    ),
  place: () => [],
};
