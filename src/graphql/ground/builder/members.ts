import {
  type FieldNode,
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  getNamedType,
  type SelectionSetNode,
  TypeNameMetaFieldDef,
} from 'graphql';
import type { Members } from '../../../entities/ground/members.ts';
import { collectFields, fieldNamed, type Place } from '../../../lib/selections.ts';

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
  const knownMembers = membersByNodes.get(info.fieldNodes);
  if (knownMembers !== undefined) return knownMembers.members as Members<T>;
  const members = new MembersOf(info, typeName).read();
  membersByNodes.set(info.fieldNodes, { members });
  return members as Members<T>;
}

/** By the nodes of the listing field, which belong to one plan of one document. */
const membersByNodes = new WeakMap<readonly FieldNode[], { readonly members: Names }>();

type Names = ReadonlySet<string> | undefined;

class MembersOf {
  readonly #info: GraphQLResolveInfo;
  readonly #typeName: string;
  readonly #names = new Set<string>();
  readonly #seen = new Set<SelectionSetNode>();
  #isWhole = false;

  constructor(info: GraphQLResolveInfo, typeName: string) {
    this.#info = info;
    this.#typeName = typeName;
  }

  read(): Names {
    this.#below(this.#info.fieldNodes, this.#info.returnType);
    return this.#isWhole ? undefined : this.#names;
  }

  /** Reads each selection set once: its type never changes, and the result is a set of names. */
  #below(nodes: readonly FieldNode[], returnType: GraphQLOutputType): void {
    const type = getNamedType(returnType);
    const places: Place[] = [];
    for (const { selectionSet } of nodes) {
      if (selectionSet === undefined || this.#seen.has(selectionSet)) continue;
      this.#seen.add(selectionSet);
      places.push({ selectionSet, type });
    }
    if (places.length === 0) return;
    for (const { node, parentType } of collectFields(this.#info.schema, this.#info.fragments, places)) {
      // Fields of an interface that the listed type implements are fields of the listed type.
      const owner = type.name === this.#typeName ? type : parentType;
      const field = fieldNamed(this.#info.schema, owner, node.name.value);
      if (field === undefined || field === TypeNameMetaFieldDef) continue;
      if (owner.name === this.#typeName) this.#read(field);
      else this.#below([node], field.type);
    }
  }

  #read(field: GraphQLField<unknown, unknown>): void {
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
