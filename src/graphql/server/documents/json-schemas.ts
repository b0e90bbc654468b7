import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLInputType,
  type GraphQLNamedType,
  GraphQLNonNull,
  type GraphQLOutputType,
  type GraphQLSchema,
  GraphQLString,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  TypeInfo,
  typeFromAST,
  valueFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { CheckedDocument } from './check.ts';

type JsonSchema = Readonly<Record<string, unknown>>;
/** Of an object. */
export interface ObjectSchema extends JsonSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, JsonSchema>>;
}

/** The variables of a document as JSON Schema: the arguments of its tool, and the body of its route. */
export function inputSchema(schema: GraphQLSchema, { document, operation }: CheckedDocument): ObjectSchema {
  const definitions = new Map<string, JsonSchema>();
  const descriptions = variableDescriptions(schema, document);
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const { variable, type: typeNode, defaultValue } of operation.variableDefinitions ?? []) {
    const name = variable.name.value;
    const type = typeFromAST(schema, typeNode) as GraphQLInputType;
    const description = descriptions.get(name);
    properties[name] = {
      ...inputValue(type, definitions),
      ...(description === undefined ? {} : { description }),
      ...(defaultValue === undefined ? {} : { default: valueFromAST(defaultValue, type) }),
    };
    if (isNonNullType(type) && defaultValue === undefined) required.push(name);
  }
  return {
    ...objectOf(properties, required),
    additionalProperties: false,
    ...(definitions.size === 0 ? {} : { $defs: Object.fromEntries(definitions) }),
  };
}

/** The `data` of a result as JSON Schema. */
export function outputSchema(schema: GraphQLSchema, { document, operation }: CheckedDocument): ObjectSchema {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const one of document.definitions) if (one.kind === Kind.FRAGMENT_DEFINITION) fragments.set(one.name.value, one);
  const type = schema.getRootType(operation.operation);
  if (type === undefined || type === null) throw new Error(`the schema has no ${operation.operation}`);
  return selectedObject({ schema, fragments }, type, [operation.selectionSet]);
}

/** Of the arguments, or the members of inputs, that take the variables as they are. */
function variableDescriptions(schema: GraphQLSchema, document: DocumentNode): ReadonlyMap<string, string> {
  const typeInfo = new TypeInfo(schema);
  const found = new Map<string, string>();
  const places: (string | undefined)[] = [];
  const enter = (description: string | null | undefined) => void places.push(description ?? undefined);
  const leave = () => void places.pop();
  visit(
    document,
    visitWithTypeInfo(typeInfo, {
      VariableDefinition: () => false,
      Argument: { enter: () => enter(typeInfo.getArgument()?.description), leave },
      ObjectField: {
        enter: ({ name }) => {
          const parent = getNamedType(typeInfo.getParentInputType());
          return enter(isInputObjectType(parent) ? parent.getFields()[name.value]?.description : undefined);
        },
        leave,
      },
      Variable: ({ name }) => {
        const description = places.at(-1);
        if (description !== undefined && !found.has(name.value)) found.set(name.value, description);
      },
    }),
  );
  return found;
}

function inputValue(type: GraphQLInputType, definitions: Map<string, JsonSchema>): JsonSchema {
  if (!isNonNullType(type)) return orNull(givenValue(type, definitions));
  return givenValue(type.ofType as GraphQLInputType, definitions);
}

function givenValue(type: GraphQLInputType, definitions: Map<string, JsonSchema>): JsonSchema {
  if (isListType(type)) return { type: 'array', items: inputValue(type.ofType as GraphQLInputType, definitions) };
  if (!isInputObjectType(type)) return leaf(getNamedType(type));
  const reference = { $ref: `#/$defs/${type.name}` };
  if (definitions.has(type.name)) return reference;
  // An input may hold itself.
  definitions.set(type.name, {});
  const fields = Object.values(type.getFields());
  const properties = Object.fromEntries(
    fields.map(({ name, type: fieldType, description }) => [
      name,
      { ...inputValue(fieldType, definitions), ...(typeof description === 'string' ? { description } : {}) },
    ]),
  );
  const required = fields
    .filter((field) => isNonNullType(field.type) && field.defaultValue === undefined)
    .map(({ name }) => name);
  definitions.set(type.name, {
    ...objectOf(properties, required),
    additionalProperties: false,
    ...(type.isOneOf ? { minProperties: 1, maxProperties: 1 } : {}),
  });
  return reference;
}

interface OutputContext {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

const nameOfType = new GraphQLNonNull(GraphQLString);

/** One member of a reply: the fields that are merged into it. */
interface SelectedMember {
  readonly nodes: FieldNode[];
  readonly type: GraphQLOutputType;
  readonly description: string | undefined;
  /** Whether every object of the type has it. */
  isAlways: boolean;
}

function selectedObject(context: OutputContext, type: GraphQLNamedType, sets: readonly SelectionSetNode[]): ObjectSchema {
  const members = new Map<string, SelectedMember>();
  const unfolded = new Set<string>();
  for (const set of sets) collect(context, { type, selections: set.selections, isAlways: true, unfolded }, members);
  const properties = Object.fromEntries(
    members.entries().map(([key, { nodes, type: fieldType, description }]) => {
      const value = outputValue(
        context,
        fieldType,
        nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
      );
      return [key, { ...value, ...(description === undefined ? {} : { description }) }];
    }),
  );
  return objectOf(
    properties,
    [...members].filter(([, { isAlways }]) => isAlways).map(([key]) => key),
  );
}

interface Selections {
  readonly type: GraphQLNamedType;
  readonly selections: readonly SelectionNode[];
  readonly isAlways: boolean;
  /** Fragments that stand in this object already. */
  readonly unfolded: Set<string>;
}

function collect(
  context: OutputContext,
  { type, selections, isAlways, unfolded }: Selections,
  members: Map<string, SelectedMember>,
): void {
  for (const node of selections) {
    const isUnconditional = isAlways && (node.directives ?? []).length === 0;
    if (node.kind === Kind.FIELD) {
      addField(type, node, isUnconditional, members);
      continue;
    }
    if (node.kind === Kind.FRAGMENT_SPREAD) {
      const spread = `${node.name.value} ${isUnconditional}`;
      if (unfolded.has(spread)) continue;
      unfolded.add(spread);
    }
    const fragment = node.kind === Kind.FRAGMENT_SPREAD ? context.fragments.get(node.name.value) : node;
    const condition = fragment?.typeCondition?.name.value;
    const target = condition === undefined ? type : context.schema.getType(condition);
    if (fragment === undefined || target === undefined) continue;
    const holdsForAll =
      target === type || (isObjectType(type) && isAbstractType(target) && context.schema.isSubType(target, type));
    const { selections: inner } = fragment.selectionSet;
    collect(context, { type: target, selections: inner, isAlways: isUnconditional && holdsForAll, unfolded }, members);
  }
}

function addField(type: GraphQLNamedType, node: FieldNode, isAlways: boolean, members: Map<string, SelectedMember>): void {
  const key = node.alias?.value ?? node.name.value;
  const known = members.get(key);
  if (known !== undefined) {
    known.nodes.push(node);
    known.isAlways ||= isAlways;
    return;
  }
  const field = 'getFields' in type ? type.getFields()[node.name.value] : undefined;
  if (field === undefined || !('args' in field)) {
    // __typename: validated documents select nothing else that the type does not have.
    members.set(key, { nodes: [], type: nameOfType, description: undefined, isAlways });
    return;
  }
  members.set(key, { nodes: [node], type: field.type, description: field.description ?? undefined, isAlways });
}

function outputValue(context: OutputContext, type: GraphQLOutputType, sets: readonly SelectionSetNode[]): JsonSchema {
  if (isNonNullType(type)) return madeValue(context, type.ofType as GraphQLOutputType, sets);
  return orNull(madeValue(context, type, sets));
}

function madeValue(context: OutputContext, type: GraphQLOutputType, sets: readonly SelectionSetNode[]): JsonSchema {
  if (isListType(type)) return { type: 'array', items: outputValue(context, type.ofType as GraphQLOutputType, sets) };
  const named = getNamedType(type);
  return isCompositeType(named) ? selectedObject(context, named, sets) : leaf(named);
}

function leaf(type: GraphQLNamedType): JsonSchema {
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  return scalars[type.name] ?? {};
}

/** Custom scalars that are not here may be any value. */
const scalars: Readonly<Record<string, JsonSchema>> = {
  ID: { type: 'string' },
  String: { type: 'string' },
  Int: { type: 'integer' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  Count: { type: 'integer' },
  DateTime: { type: 'string', format: 'date-time' },
  Vector: { type: 'array', items: { type: 'number' } },
  JsonSchema: { type: 'object' },
  PlainValue: { type: ['string', 'number', 'boolean'] },
};

function orNull(schema: JsonSchema): JsonSchema {
  if (Object.keys(schema).length === 0) return schema;
  if (typeof schema.type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [schema.type, 'null'], ...(Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {}) };
}

function objectOf(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[]): ObjectSchema {
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) };
}
