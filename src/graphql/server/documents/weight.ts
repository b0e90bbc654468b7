import {
  type FieldNode,
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isIntrospectionType,
  isLeafType,
  isListType,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { fieldNamed, type SelectedField } from '../../../lib/selections.ts';
import type { MergedDocument, MergedField, MergedFields } from './merged-fields.ts';

/** What an operation costs before it runs. */
export interface Weight {
  /** Levels of fields, introspection apart. */
  readonly depth: number;
  /** Objects that the operation may make, and its leaves at a part of an object each. */
  readonly cost: number;
  /** Fields of the plan that it is run by, those below lists once. */
  readonly fields: number;
  /** Whether `cost` hangs on the variables. */
  readonly isVariable: boolean;
}

/** Items that a list without `first` is taken to have: such lists are bounded by their one parent. */
const boundedListSize = 10;
/** Cost of a leaf; an object costs 1. A text may be long, a number, a time or a name of an enum is not. */
const textCost = 0.2;
const leafCost = 0.05;
/** Scalars whose values are short whatever a user stores. */
const shortScalars: ReadonlySet<string> = new Set(['ID', 'Int', 'Float', 'Boolean', 'DateTime', 'Count']);
/** Each root of introspection costs this; its objects a part of one that is read from the database. */
const introspectionCost = 500;
const introspectionShare = 0.1;
const introspectionListSize = 2;
/** More types do not make introspection dearer: tools read the whole schema, however large it grows. */
const introspectionTypesMax = 250;

type Variables = Readonly<Record<string, unknown>>;

/** Weighs one operation of a valid document. A place that is shared in the merged document is weighed once. */
export function weigh(merged: MergedDocument, operation: OperationDefinitionNode, variables: Variables, listMax: number): Weight {
  const weight = new Scale(merged.schema, variables, listMax).place(merged.root(operation));
  return { ...weight, cost: Math.ceil(weight.cost) };
}

/** Of nothing. */
export const weightless: Weight = { depth: 0, cost: 0, fields: 0, isVariable: false };

class Scale {
  readonly #schema: GraphQLSchema;
  readonly #variables: Variables;
  readonly #listMax: number;
  readonly #weighed = new Map<MergedFields, Weight>();

  constructor(schema: GraphQLSchema, variables: Variables, listMax: number) {
    this.#schema = schema;
    this.#variables = variables;
    this.#listMax = listMax;
  }

  place(merged: MergedFields): Weight {
    const known = this.#weighed.get(merged);
    if (known !== undefined) return known;
    let total = weightless;
    for (const field of merged.values()) total = beside(total, this.#field(field));
    this.#weighed.set(merged, total);
    return total;
  }

  #field({ fields, below }: MergedField): Weight {
    const inner = below === undefined ? weightless : this.place(below);
    let count = 0;
    let own = 0;
    let isVariable = inner.isVariable;
    let isIntrospection = false;
    // Of several fields of one name that exclude each other, the most costly one counts.
    for (const { node, parentType } of fields) {
      const definition = fieldNamed(this.#schema, parentType, node.name.value);
      if (definition === undefined) continue;
      const size = this.#size(node, definition, parentType);
      count = Math.max(count, size.count);
      own = Math.max(own, ownCost(definition.type));
      isVariable ||= size.isVariable;
      isIntrospection ||= isIntrospectionType(getNamedType(definition.type));
    }
    const isRoot = isIntrospection && fields.some(isIntrospectionRoot);
    const cost = count * (own + inner.cost);
    return {
      depth: isIntrospection ? 1 : inner.depth + 1,
      cost: isRoot ? introspectionCost + cost * introspectionShare : cost,
      fields: inner.fields + fields.length,
      isVariable,
    };
  }

  /** How many values a field makes. `first` of a connection counts once, at the connection itself. */
  #size(
    node: FieldNode,
    definition: GraphQLField<unknown, unknown>,
    parentType: SelectedField['parentType'],
  ): { count: number; isVariable: boolean } {
    const first = definition.args.find((arg) => arg.name === 'first');
    if (first === undefined) {
      if (!isListType(getNullableType(definition.type))) return { count: 1, isVariable: false };
      if (isIntrospectionType(parentType)) return { count: this.#introspectionSize(definition.name), isVariable: false };
      return { count: parentType.name.endsWith('Connection') ? 1 : boundedListSize, isVariable: false };
    }
    const value = node.arguments?.find((argument) => argument.name.value === 'first')?.value;
    if (value?.kind === Kind.INT) return { count: bounded(Number(value.value), this.#listMax), isVariable: false };
    if (value?.kind !== Kind.VARIABLE) return { count: bounded(first.defaultValue, this.#listMax), isVariable: false };
    return { count: bounded(this.#variables[value.name.value], this.#listMax), isVariable: true };
  }

  /** Of the schema its types; of each type as many fields as of any list, and few of the rest. */
  #introspectionSize(name: string): number {
    if (name === 'types') return Math.min(Object.keys(this.#schema.getTypeMap()).length, introspectionTypesMax);
    return name === 'fields' ? boundedListSize : introspectionListSize;
  }
}

function ownCost(type: GraphQLOutputType): number {
  const named = getNamedType(type);
  if (!isLeafType(named)) return 1;
  return isEnumType(named) || shortScalars.has(named.name) ? leafCost : textCost;
}

function isIntrospectionRoot({ node }: SelectedField): boolean {
  return node.name.value === '__schema' || node.name.value === '__type';
}

function beside(left: Weight, right: Weight): Weight {
  return {
    depth: Math.max(left.depth, right.depth),
    cost: left.cost + right.cost,
    fields: left.fields + right.fields,
    isVariable: left.isVariable || right.isVariable,
  };
}

/** A size outside the range is refused by the resolver; here it must only not make the document look cheap. */
function bounded(size: unknown, listMax: number): number {
  return typeof size === 'number' && size >= 1 && size <= listMax ? size : listMax;
}
