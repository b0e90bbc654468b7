import { type GraphQLOutputType, type GraphQLSchema, getNamedType, isCompositeType, isEnumType } from 'graphql';
import { enumTexts } from '../../http/input/names.ts';
import { fieldNamed, fieldsOf, fragmentsOf } from '../../lib/selections.ts';
import type { RowDocument } from './document.ts';

/** Makes the value of a reply show enums as REST writes them. Changes the value, which graphql-js made for this reply alone. */
export type ShowEnums = (value: unknown) => void;

/**
 * Compiles what a route shows of enums whose values are those of a third-party format (`in_progress`), where GraphQL has names (`IN_PROGRESS`).
 *
 * @returns undefined when the document selects none.
 */
export function compileEnumTexts(schema: GraphQLSchema, { document, rootField, rootNode }: RowDocument): ShowEnums | undefined {
  const fragments = fragmentsOf(document);
  const below = (type: GraphQLOutputType, node: typeof rootNode): ReadonlyMap<string, Shown> => {
    const named = getNamedType(type);
    const members = new Map<string, Shown>();
    if (node.selectionSet === undefined || !isCompositeType(named)) return members;
    for (const { node: selected, parentType } of fieldsOf(schema, fragments, [
      { selectionSet: node.selectionSet, type: named },
    ])) {
      const field = fieldNamed(schema, parentType, selected.name.value);
      if (field === undefined) continue;
      const shown = shownOf(field.type, () => below(field.type, selected));
      if (shown !== undefined) members.set((selected.alias ?? selected.name).value, shown);
    }
    return members;
  };
  const members = below(rootField.type, rootNode);
  return members.size === 0 ? undefined : (value) => show(value, members);
}

/** The texts of an enum by its names, or the members of an object that show enums. */
type Shown = { readonly texts: ReadonlyMap<string, string> } | { readonly members: ReadonlyMap<string, Shown> };

function shownOf(type: GraphQLOutputType, below: () => ReadonlyMap<string, Shown>): Shown | undefined {
  const named = getNamedType(type);
  if (!isEnumType(named)) {
    const members = below();
    return members.size === 0 ? undefined : { members };
  }
  const texts = new Map([...enumTexts(named)].map(([text, { name }]) => [name, text]));
  return texts.entries().every(([name, text]) => name === text) ? undefined : { texts };
}

function show(value: unknown, members: ReadonlyMap<string, Shown>): void {
  if (Array.isArray(value)) {
    for (const item of value) show(item, members);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const object = value as Record<string, unknown>;
  for (const [name, shown] of members) {
    if ('members' in shown) show(object[name], shown.members);
    else object[name] = textOf(object[name], shown.texts);
  }
}

function textOf(value: unknown, texts: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => textOf(item, texts));
  return typeof value === 'string' ? (texts.get(value) ?? value) : value;
}
