import {
  type FieldNode,
  GraphQLError,
  type GraphQLOutputType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  print,
} from 'graphql';
import { sortValueNode } from 'graphql/utilities/sortValueNode.js';
import { fieldNamed, type SelectedField } from '../../../lib/selections.ts';
import type { MergedDocument, MergedFields } from './merged-fields.ts';

/** A field and the other one of the same name in the reply that it does not fit. */
interface Conflict {
  readonly reason: string;
  readonly nodes: readonly [FieldNode, FieldNode];
}

/**
 * The rule "Field Selection Merging" of the GraphQL specification: fields that make one field of the reply must be the same field with the
 * same arguments, or stand on object types that exclude each other and have types of one shape.
 *
 * graphql-js compares all pairs of fields, which takes a quarter of a second for a thousand. Being the same is transitive, so here each field
 * is compared with the first of its group: the work is that of the merged fields.
 *
 * @returns at most one error for each field of the reply.
 * @throws TooManyFields
 */
export class FieldConflicts {
  readonly #document: MergedDocument;
  readonly #sameShape = new Set<MergedFields>();
  readonly #sameFields = new Set<MergedFields>();
  readonly #errors: GraphQLError[] = [];

  constructor(document: MergedDocument) {
    this.#document = document;
  }

  errorsOf(root: MergedFields): readonly GraphQLError[] {
    this.#requireSameFields(root);
    if (this.#errors.length === 0) this.#requireSameShape(root);
    return this.#errors;
  }

  /** Whatever object the reply is made of, a client reads the same kind of value under one name. */
  #requireSameShape(merged: MergedFields): void {
    if (this.#sameShape.has(merged)) return;
    this.#sameShape.add(merged);
    for (const [name, { fields, below }] of merged) {
      this.#report(name, this.#shapeConflict(fields));
      if (below !== undefined) this.#requireSameShape(below);
    }
  }

  /** Fields that one object can have at the same time are one field. */
  #requireSameFields(merged: MergedFields): void {
    if (this.#sameFields.has(merged)) return;
    this.#sameFields.add(merged);
    for (const [name, { fields, below }] of merged) {
      const groups = together(fields);
      for (const group of groups) {
        this.#report(name, fieldConflict(group));
        const inner = groups.length === 1 ? below : this.#document.below(group);
        if (inner !== undefined) this.#requireSameFields(inner);
      }
    }
  }

  #shapeConflict([first, ...others]: readonly SelectedField[]): Conflict | undefined {
    if (first === undefined) return undefined;
    const type = this.#typeOf(first);
    for (const other of others) {
      const otherType = this.#typeOf(other);
      if (type === undefined || otherType === undefined || isSameShape(type, otherType)) continue;
      const reason = `they return conflicting types "${String(type)}" and "${String(otherType)}"`;
      return { reason, nodes: [first.node, other.node] };
    }
    return undefined;
  }

  #typeOf({ node, parentType }: SelectedField): GraphQLOutputType | undefined {
    return fieldNamed(this.#document.schema, parentType, node.name.value)?.type;
  }

  #report(name: string, conflict: Conflict | undefined): void {
    if (conflict === undefined) return;
    const message = `Fields "${name}" conflict because ${conflict.reason}. Use different aliases on the fields to fetch both if this was intentional.`;
    this.#errors.push(new GraphQLError(message, { nodes: conflict.nodes }));
  }
}

/** Groups of fields that one object can have at the same time: those of its own type, and those of interfaces. */
function together(fields: readonly SelectedField[]): readonly (readonly SelectedField[])[] {
  const groups = new Map<string, SelectedField[]>();
  const shared: SelectedField[] = [];
  for (const field of fields) {
    const group = groups.get(field.parentType.name);
    if (!isObjectType(field.parentType)) shared.push(field);
    else if (group === undefined) groups.set(field.parentType.name, [field]);
    else group.push(field);
  }
  if (groups.size === 0) return [shared];
  return [...groups.values()].map((group) => [...shared, ...group]);
}

function fieldConflict([first, ...others]: readonly SelectedField[]): Conflict | undefined {
  if (first === undefined || others.length === 0) return undefined;
  const { name } = first.node;
  const given = argumentsText(first.node);
  for (const { node } of others) {
    const nodes = [first.node, node] as const;
    if (node.name.value !== name.value) {
      return { reason: `"${name.value}" and "${node.name.value}" are different fields`, nodes };
    }
    if (argumentsText(node) !== given) return { reason: 'they have differing arguments', nodes };
  }
  return undefined;
}

/** The same for the same arguments in any order. */
function argumentsText({ arguments: given = [] }: FieldNode): string {
  if (given.length === 0) return '';
  return given
    .map(({ name, value }) => `${name.value}: ${print(sortValueNode(value))}`)
    .sort()
    .join('\n');
}

function isSameShape(one: GraphQLOutputType, other: GraphQLOutputType): boolean {
  if (isNonNullType(one) || isNonNullType(other)) {
    return isNonNullType(one) && isNonNullType(other) && isSameShape(one.ofType, other.ofType);
  }
  if (isListType(one) || isListType(other)) {
    return isListType(one) && isListType(other) && isSameShape(one.ofType, other.ofType);
  }
  return isLeafType(one) || isLeafType(other) ? one === other : true;
}
