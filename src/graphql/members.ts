import {
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { Members } from '../entities/members.ts';

/**
 * What the resolver of a field reads of its source, for its `extensions`: fields made by `expose…` need none. A field that says nothing
 * reads everything.
 *
 *     seed: t.string({ extensions: reading<AgentView>('seed'), resolve: ({ seed }) => seed ?? '' }),
 */
export function reading<T>(...members: readonly (string & keyof T)[]): { readonly reads: readonly string[] } {
  return { reads: members };
}

/**
 * The members that the selected fields of listed things read, so that a list fetches no more: a list of names does not read instructions.
 * Fields behind `@skip` and `@include` count as selected.
 *
 * @param typeName  the type of the listed things, anywhere below the field of `info`; things below those are of no interest.
 */
export function membersRead<T>(info: GraphQLResolveInfo, typeName: string): Members<T> {
  // Fields of the same name in several places are merged in a way that hangs on the variables: only one alone is remembered.
  const node = info.fieldNodes.length === 1 ? info.fieldNodes[0] : undefined;
  const known = node === undefined ? undefined : found.get(node);
  if (known !== undefined) return known.members as Members<T>;
  const members = new Selection(info, typeName).members(info.fieldNodes);
  if (node !== undefined) found.set(node, { members });
  return members as Members<T>;
}

/** By the node of the listing field: documents are kept, and their selections do not change. */
const found = new WeakMap<FieldNode, { readonly members: Names }>();

type Names = ReadonlySet<string> | undefined;

class Selection {
  readonly #info: GraphQLResolveInfo;
  readonly #typeName: string;
  readonly #names = new Set<string>();
  #isWhole = false;

  constructor(info: GraphQLResolveInfo, typeName: string) {
    this.#info = info;
    this.#typeName = typeName;
  }

  members(nodes: readonly FieldNode[]): Names {
    const type = getNamedType(this.#info.returnType);
    for (const { selectionSet } of nodes) if (selectionSet !== undefined) this.#walk(selectionSet, type);
    return this.#isWhole ? undefined : this.#names;
  }

  #walk({ selections }: SelectionSetNode, type: GraphQLNamedType): void {
    for (const node of selections) {
      if (node.kind === Kind.FIELD) this.#field(node, type);
      else {
        const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : this.#info.fragments[node.name.value];
        // Within the listed type an interface's fields are its own.
        const name = type.name === this.#typeName ? undefined : fragment?.typeCondition?.name.value;
        const inner = name === undefined ? type : this.#info.schema.getType(name);
        if (fragment !== undefined && inner !== undefined) this.#walk(fragment.selectionSet, inner);
      }
    }
  }

  #field({ name, selectionSet }: FieldNode, type: GraphQLNamedType): void {
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name.value] : undefined;
    if (field === undefined) return;
    if (type.name !== this.#typeName) {
      if (selectionSet !== undefined) this.#walk(selectionSet, getNamedType(field.type));
      return;
    }
    const members = readBy(field);
    if (members === undefined) this.#isWhole = true;
    else for (const member of members) this.#names.add(member);
  }
}

function readBy({ extensions }: GraphQLField<unknown, unknown>): readonly string[] | undefined {
  const { reads, pothosExposedField } = extensions;
  if (Array.isArray(reads)) return reads;
  return typeof pothosExposedField === 'string' ? [pothosExposedField] : undefined;
}
