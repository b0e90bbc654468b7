import {
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLFieldConfig,
  GraphQLObjectType,
  GraphQLSchema,
  getArgumentValues,
  getOperationAST,
  getVariableValues,
  Kind,
  visit,
} from 'graphql';

/** The root value while one event is executed. */
interface EventRoot {
  readonly event: unknown;
  readonly args: Readonly<Record<string, unknown>>;
}

/**
 * Reads the arguments of a subscription once. graphql-js 16 executes the whole operation for each event, and so coerces all variables and the arguments of
 * the root field again: a completion of a long prompt would walk through the prompt at each of its tokens. Here an event is executed by a schema whose
 * root fields have no arguments, with the variables that are used below the root field.
 *
 * @param args  of a valid operation whose variables are right.
 * @returns what executes one event.
 */
export function readEventArgs(args: ExecutionArgs): (event: unknown) => ExecutionArgs {
  const { schema, document, operationName, variableValues = {} } = args;
  const node = getOperationAST(document, operationName);
  const [field] = node?.selectionSet.selections ?? [];
  const rootType = schema.getSubscriptionType();
  const definition = field?.kind === Kind.FIELD ? rootType?.getFields()[field.name.value] : undefined;
  // The root field stands in a fragment: rare enough to be executed as graphql-js does.
  if (node === null || node === undefined || field?.kind !== Kind.FIELD || definition === undefined)
    return (rootValue) => ({ ...args, rootValue });
  const { variableDefinitions = [] } = node;
  const { coerced } = getVariableValues(schema, variableDefinitions, variableValues ?? {});
  const rootArgs = getArgumentValues(definition, field, coerced);
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  const selectionSet = { ...node.selectionSet, selections: [{ ...field, arguments: [] }] };
  const below: DocumentNode = {
    kind: Kind.DOCUMENT,
    definitions: [{ ...node, selectionSet, variableDefinitions: [] }, ...fragments],
  };
  const usedNames = new Set<string>();
  visit(below, { Variable: ({ name }) => void usedNames.add(name.value) });
  const used = variableDefinitions.filter(({ variable }) => usedNames.has(variable.name.value));
  const eventArgs = {
    ...args,
    schema: eventSchema(schema),
    document: { ...below, definitions: [{ ...node, selectionSet, variableDefinitions: used }, ...fragments] },
  };
  return (event) => ({ ...eventArgs, rootValue: { event, args: rootArgs } satisfies EventRoot });
}

const eventSchemas = new WeakMap<GraphQLSchema, GraphQLSchema>();

function eventSchema(schema: GraphQLSchema): GraphQLSchema {
  const known = eventSchemas.get(schema);
  if (known !== undefined) return known;
  const config = schema.toConfig();
  const subscription =
    config.subscription === null || config.subscription === undefined ? null : withoutArguments(config.subscription);
  const types = config.types.filter((type) => type !== config.subscription);
  const made = new GraphQLSchema({ ...config, subscription, types, assumeValid: true });
  eventSchemas.set(schema, made);
  return made;
}

function withoutArguments(type: GraphQLObjectType): GraphQLObjectType {
  const config = type.toConfig();
  const fields = Object.entries(config.fields).map(([name, { args: _args, subscribe: _subscribe, resolve, ...field }]) => {
    const eventField: GraphQLFieldConfig<EventRoot, unknown> = {
      ...field,
      resolve: ({ event, args }, _none, context, info) =>
        resolve === undefined || resolve === null ? event : resolve(event, args, context, info),
    };
    return [name, eventField] as const;
  });
  return new GraphQLObjectType({ ...config, fields: Object.fromEntries(fields) });
}
