import {
  type FragmentDefinitionNode,
  type GraphQLInputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  Kind,
  type ValueNode,
  valueFromAST,
} from 'graphql';
import type { RunEvent, RunEventStream } from '../../entities/runs/event.ts';
import type { SourceContext } from '../../http/context.ts';
import type { Variables } from '../route.ts';
import type { RowDocument } from './document.ts';

/** Opens the source stream of a subscription for one call. @throws whatever its `subscribe` resolver throws. */
export type OpenSource = (variables: Variables, context: SourceContext) => MaybePromise<AsyncIterable<readonly RunEvent[]>>;
type MaybePromise<T> = T | Promise<T>;

/**
 * Compiles a route's subscription into a call of the field's own `subscribe` resolver: the same code and the same access rules as under
 * GraphQL. graphql-js's `createSourceEventStream` would coerce the variables again, after the body reader, and collect
 * the fields of a document that never changes.
 */
export function compileSource(schema: GraphQLSchema, row: RowDocument): OpenSource {
  const { rootField, rootNode, rootType, operation, document } = row;
  const subscribe = rootField.subscribe;
  if (operation.operation !== 'subscription' || subscribe === undefined) {
    throw new Error(`${rootType.name}.${rootField.name} is not a subscription`);
  }
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
  return (variables, context) => {
    const source: unknown = subscribe(undefined, readArguments(variables), context, { ...staticInfo, variableValues: variables });
    return source instanceof Promise ? source.then(batchesOf) : batchesOf(source);
  };
}

/** Events that arrived together stay together. A source without batches gives each event alone. */
function batchesOf(source: unknown): AsyncIterable<readonly RunEvent[]> {
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
  const given = new Map((row.rootNode.arguments ?? []).map((node) => [node.name.value, node.value]));
  const readers = row.rootField.args.map((argument) => ({
    name: argument.name,
    read: argumentReader(given.get(argument.name), argument.type, argument.defaultValue),
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
