import { type GraphQLNamedType, type GraphQLSchema, getNamedType, isCompositeType } from 'graphql';
import { collectFields, collectFragments, fieldNamed, type Place } from '../../lib/selections.ts';
import type { ShownTo } from '../../wire/ground/encoder.ts';
import type { DeclaredRoute } from '../route.ts';
import { memberName } from './checks.ts';
import type { RowDocument } from './document.ts';

/** Shows a value of a document as its route shows it. */
export type ShowMembers = (value: unknown, context: ShownTo) => unknown;

const showAsSelected: ShowMembers = (value) => value;

/**
 * Compiles how a route shows the members that its document selects. What is JSON to GraphQL is no selection: it is shown as it came, whatever the
 * names in it.
 *
 * @returns undefined for a route that shows what its document selects.
 */
export function compileMembers(
  schema: GraphQLSchema,
  { omitNull, blankNull, lists, shapes }: DeclaredRoute,
  { document, rootField, rootNode }: RowDocument,
): ShowMembers | undefined {
  if ((omitNull ?? blankNull ?? lists ?? shapes) === undefined) return undefined;
  const fragments = collectFragments(document);
  const omitted = new Set(omitNull);
  const blanks = new Set(Object.keys(blankNull ?? {}).map(memberName));
  const listed = new Set(Object.keys(lists ?? {}));
  const shaped = new Map(Object.entries(shapes ?? {}).map(([place, shape]) => [memberName(place), shape]));

  const below = (places: readonly Place[]): ShowMembers => {
    const placesByName = new Map<string, Place[]>();
    for (const { node, parentType } of collectFields(schema, fragments, places)) {
      const type: GraphQLNamedType | undefined = getNamedType(fieldNamed(schema, parentType, node.name.value)?.type);
      const name = (node.alias ?? node.name).value;
      const inner = placesByName.get(name) ?? [];
      placesByName.set(name, inner);
      if (isCompositeType(type) && node.selectionSet !== undefined) inner.push({ selectionSet: node.selectionSet, type });
    }
    if (placesByName.size === 0) return showAsSelected;
    const members = new Map([...placesByName].map(([name, inner]) => [name, below(inner)]));
    const show: ShowMembers = (value, context) => {
      if (Array.isArray(value)) return value.map((item) => show(item, context));
      if (typeof value !== 'object' || value === null) return value;
      const shown: Record<string, unknown> = {};
      for (const [name, member] of Object.entries(value)) {
        const shape = shaped.get(name);
        if (shape === 'unshown') continue;
        const memberShown =
          shape === undefined ? showMember(name, member, members, context) : shape.show(member as never, value as never, context);
        if (memberShown !== null || !omitted.has(name)) shown[name] = memberShown;
      }
      return shown;
    };
    return show;
  };
  const showMember = (name: string, member: unknown, members: ReadonlyMap<string, ShowMembers>, context: ShownTo): unknown => {
    if (member === null) return blanks.has(name) ? '' : null;
    const shown = (members.get(name) ?? showAsSelected)(member, context);
    return listed.has(name) ? (shown as { readonly nodes?: unknown }).nodes : shown;
  };

  const type = getNamedType(rootField.type);
  const { selectionSet } = rootNode;
  return selectionSet === undefined ? showAsSelected : below([{ selectionSet, type }]);
}
