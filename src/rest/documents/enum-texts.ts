import { type GraphQLOutputType, type GraphQLSchema, getNamedType, isCompositeType, isEnumType } from 'graphql';
import { enumTexts } from '../../http/input/names.ts';
import { collectFields, collectFragments, fieldNamed } from '../../lib/selections.ts';
import type { RowDocument } from './document.ts';

/** Makes the value of a reply show enums as REST writes them. Changes the value, which graphql-js made for this reply alone. */
export type ShowEnums = (value: unknown) => void;

/**
 * Compiles what a route shows of enums whose values are those of a third-party format (`in_progress`), where GraphQL has names (`IN_PROGRESS`).
 *
 * @returns undefined when the document selects none.
 */
export function compileEnumTexts(schema: GraphQLSchema, { document, rootField, rootNode }: RowDocument): ShowEnums | undefined {
  const fragments = collectFragments(document);
  const below = (type: GraphQLOutputType, node: typeof rootNode): ReadonlyMap<string, Shown> => {
    const innerType = getNamedType(type);
    const members = new Map<string, Shown>();
    if (node.selectionSet === undefined || !isCompositeType(innerType)) return members;
    for (const { node: selectedField, parentType } of collectFields(schema, fragments, [
      { selectionSet: node.selectionSet, type: innerType },
    ])) {
      const field = fieldNamed(schema, parentType, selectedField.name.value);
      if (field === undefined) continue;
      const fieldTexts = findShown(field.type, () => below(field.type, selectedField));
      if (fieldTexts !== undefined) members.set((selectedField.alias ?? selectedField.name).value, fieldTexts);
    }
    return members;
  };
  const members = below(rootField.type, rootNode);
  return members.size === 0 ? undefined : (value) => show(value, members);
}

/** The texts of an enum by its names, or the members of an object that show enums. */
type Shown = { readonly texts: ReadonlyMap<string, string> } | { readonly members: ReadonlyMap<string, Shown> };

function findShown(type: GraphQLOutputType, below: () => ReadonlyMap<string, Shown>): Shown | undefined {
  const innerType = getNamedType(type);
  if (!isEnumType(innerType)) {
    const members = below();
    return members.size === 0 ? undefined : { members };
  }
  const texts = new Map([...enumTexts(innerType)].map(([text, { name }]) => [name, text]));
  return texts.entries().every(([name, text]) => name === text) ? undefined : { texts };
}

function show(value: unknown, members: ReadonlyMap<string, Shown>): void {
  if (Array.isArray(value)) {
    for (const item of value) show(item, members);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const object = value as Record<string, unknown>;
  for (const [name, memberTexts] of members) {
    if ('members' in memberTexts) show(object[name], memberTexts.members);
    else object[name] = toEnumText(object[name], memberTexts.texts);
  }
}

function toEnumText(value: unknown, texts: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => toEnumText(item, texts));
  return typeof value === 'string' ? (texts.get(value) ?? value) : value;
}
