// Fast path: finds the fields of an operation once. The plain path finds them in each run (graphql-js).
import {
  defaultFieldResolver,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  type SelectionSetNode,
  TypeNameMetaFieldDef,
} from 'graphql';
import { collectFields, collectSubfields } from 'graphql/execution/collectFields.js';
import { type Fragments, fieldNamed } from '../selections.ts';
import { completeAbstract, completeLeaf, completeList, completeNonNull, completeObject } from './complete.ts';
import type { Complete, FieldPlan, ObjectPlan } from './plan.ts';

/** Makes the plans of one operation, for given values of the variables in `@skip` and `@include`. */
export class Planner {
  readonly #schema: GraphQLSchema;
  readonly #fragments: Fragments;
  readonly #variables: Readonly<Record<string, unknown>>;

  constructor(schema: GraphQLSchema, fragments: Fragments, variables: Readonly<Record<string, unknown>>) {
    this.#schema = schema;
    this.#fragments = fragments;
    this.#variables = variables;
  }

  root(type: GraphQLObjectType, selectionSet: SelectionSetNode): ObjectPlan {
    const collected = collectFields(this.#schema, this.#fragments, this.#variables, type, selectionSet);
    return this.#object(type, collected);
  }

  /** The plan of an object type below some fields. */
  below(type: GraphQLObjectType, nodes: readonly FieldNode[]): ObjectPlan {
    const collected = collectSubfields(this.#schema, this.#fragments, this.#variables, type, nodes);
    return this.#object(type, collected);
  }

  #object(type: GraphQLObjectType, collected: ReadonlyMap<string, readonly FieldNode[]>): ObjectPlan {
    const fields: FieldPlan[] = [];
    for (const [key, nodes] of collected) {
      const field = this.#field(type, key, nodes);
      if (field !== undefined) fields.push(field);
    }
    // Two braces around an object; two quotes, a colon, a comma and at least one digit for each field.
    const frameBytes = fields.reduce((sum, { key }) => sum + key.length + 5, 2);
    return { type, fields, frameBytes, hasPrototypeName: fields.some(({ key }) => key === '__proto__') };
  }

  #field(parentType: GraphQLObjectType, key: string, nodes: readonly FieldNode[]): FieldPlan | undefined {
    const [node] = nodes;
    if (node === undefined) return undefined;
    const definition = fieldNamed(this.#schema, parentType, node.name.value);
    if (definition === undefined) return undefined;
    return {
      key,
      definition,
      parentType,
      nodes,
      node,
      property: propertyOf(definition),
      constant: definition === TypeNameMetaFieldDef ? parentType.name : undefined,
      resolve: definition.resolve ?? defaultFieldResolver,
      complete: this.#completion(definition.type, nodes),
      isNonNull: isNonNullType(definition.type),
      isLeaf: isLeafType(isNonNullType(definition.type) ? definition.type.ofType : definition.type),
    };
  }

  #completion(type: GraphQLOutputType, nodes: readonly FieldNode[]): Complete {
    if (isNonNullType(type)) return completeNonNull(this.#completion(type.ofType, nodes));
    if (isListType(type)) {
      const { ofType } = type;
      const isLeaf = isLeafType(isNonNullType(ofType) ? ofType.ofType : ofType);
      return completeList({ complete: this.#completion(ofType, nodes), isNonNull: isNonNullType(ofType), isLeaf });
    }
    if (isLeafType(type)) return completeLeaf(type);
    if (isAbstractType(type)) return completeAbstract(type, (runtimeType) => this.below(runtimeType, nodes));
    return completeObject(this.below(type, nodes));
  }
}

/** The property that a resolver only reads: of graphql-js's default resolver, and of Pothos's `expose`. */
function propertyOf({ name, args, resolve, extensions }: GraphQLField<unknown, unknown>): string | undefined {
  if (args.length > 0) return undefined;
  if (resolve === undefined) return name;
  const { pothosExposedField, pothosOriginalResolve } = extensions;
  return typeof pothosExposedField === 'string' && resolve === pothosOriginalResolve ? pothosExposedField : undefined;
}
