import {
  type FragmentDefinitionNode,
  type GraphQLInputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  Kind,
  type ValueNode,
  valueFromAST,
} from 'graphql';
import type { RunEvent, RunEventStream } from '../../entities/conversations/runs/event.ts';
import type { SourceContext } from '../../http/context.ts';
import type { Variables } from '../../wire/ground/encoder.ts';
import type { RowDocument } from './document.ts';

/** Calls the resolver of a root field for one request. @throws whatever it throws. */
export type CallResolver = (variables: Variables, context: SourceContext) => unknown;
/** The same of a subscription: opens its source stream. */
export type OpenSource = (variables: Variables, context: SourceContext) => MaybePromise<AsyncIterable<readonly RunEvent[]>>;
type MaybePromise<T> = T | Promise<T>;

/**
 * Compiles a route's subscription into a call of the field's own `subscribe` resolver. graphql-js's `createSourceEventStream` would coerce the
 * variables again, after the body reader, and collect the fields of a document that never changes.
 */
export function compileSource(schema: GraphQLSchema, row: RowDocument): OpenSource {
  if (row.operation.operation !== 'subscription') throw new Error(`${row.rootField.name} is not a subscription`);
  const subscribe = compileResolver(schema, row);
  return (variables, context) => {
    const source = subscribe(variables, context);
    return source instanceof Promise ? source.then(toBatches) : toBatches(source);
  };
}

/** Compiles a route's document into a call of its root field's own resolver: the same code and the same access rules as under GraphQL. */
export function compileResolver(schema: GraphQLSchema, row: RowDocument): CallResolver {
  const { rootField, rootNode, rootType, operation, document } = row;
  const resolver = operation.operation === 'subscription' ? rootField.subscribe : rootField.resolve;
  if (resolver === undefined) throw new Error(`${rootType.name}.${rootField.name} has no resolver`);
  const readArguments = compileArguments(row);
  const fragments: Record<string, FragmentDefinitionNode> = {};
  for (const node of document.definitions) if (node.kind === Kind.FRAGMENT_DEFINITION) fragments[node.name.value] = node;
  const staticInfo: Omit<GraphQLResolveInfo, 'variableValues'> = {
    fieldName: rootField.name,
    fieldNodes: [rootNode],
    returnType: rootField.type,
    parentType: rootType,
    path: { prev: undefined, key: row.responseKey, typename: rootType.name },
    schema,
    fragments,
    rootValue: undefined,
    operation,
  };
  return (variables, context) =>
    resolver(undefined, readArguments(variables), context, { ...staticInfo, variableValues: variables });
}

/** Events that arrived together stay together. A source without batches gives each event alone. */
function toBatches(source: unknown): AsyncIterable<readonly RunEvent[]> {
  if (typeof source === 'object' && source !== null) {
    if ('batches' in source && typeof source.batches === 'function') return (source as RunEventStream).batches();
    if (Symbol.asyncIterator in source) return oneByOne(source as AsyncIterable<RunEvent>);
  }
  throw new Error('a subscription must return its events as an async iterable');
}

async function* oneByOne(source: AsyncIterable<RunEvent>): AsyncIterable<readonly RunEvent[]> {
  for await (const event of source) yield [event];
}

/** The arguments of the root field from coerced variables, as graphql-js would make them. */
function compileArguments(row: RowDocument): (variables: Variables) => Record<string, unknown> {
  const givenArguments = new Map((row.rootNode.arguments ?? []).map((node) => [node.name.value, node.value]));
  const readers = row.rootField.args.map((argument) => ({
    name: argument.name,
    read: argumentReader(givenArguments.get(argument.name), argument.type, argument.defaultValue),
  }));
  return (variables) => {
    const values: Record<string, unknown> = {};
    for (const { name, read } of readers) {
      const value = read(variables);
      if (value !== undefined) values[name] = value;
    }
    return values;
  };
}

function argumentReader(
  node: ValueNode | undefined,
  type: GraphQLInputType,
  fallback: unknown,
): (variables: Variables) => unknown {
  if (node === undefined) return () => fallback;
  if (node.kind === Kind.VARIABLE) {
    const name = node.name.value;
    return (variables) => (variables[name] === undefined ? fallback : variables[name]);
  }
  return (variables) => valueFromAST(node, type, variables);
}
