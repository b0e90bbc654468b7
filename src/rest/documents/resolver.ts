import {
  createSourceEventStream,
  type DocumentNode,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  isNonNullType,
} from 'graphql';
import type { RunEvent, RunEventStream } from '../../entities/conversations/runs/event.ts';
import type { SourceContext } from '../../http/context.ts';
import type { Variables } from '../../wire/ground/encoder.ts';
import { type RowDocument, readDocument } from './document.ts';

/** Opens the source stream of a subscription for one request. @throws whatever its resolver throws. */
export type OpenSource = (variables: Variables, context: SourceContext) => Promise<AsyncIterable<readonly RunEvent[]>>;

/**
 * The same schema whose root fields give what their resolvers return, as it is: routes whose reply is made in wire/ run their documents with it, and
 * what the documents select says nothing.
 */
export function withRootValues(schema: GraphQLSchema): GraphQLSchema {
  const { types, query, mutation, subscription, ...config } = schema.toConfig();
  const value = new GraphQLScalarType({ name: 'RootValue', description: 'What the resolver of a root field returns.' });
  const withValues = (root: GraphQLObjectType | null | undefined) => {
    if (root === null || root === undefined) return root;
    const { fields, ...rest } = root.toConfig();
    const valueFields = Object.entries(fields).map(
      ([name, field]) => [name, { ...field, type: isNonNullType(field.type) ? new GraphQLNonNull(value) : value }] as const,
    );
    return new GraphQLObjectType({ ...rest, fields: Object.fromEntries(valueFields) });
  };
  const roots: readonly unknown[] = [query, mutation, subscription];
  return new GraphQLSchema({
    ...config,
    query: withValues(query),
    mutation: withValues(mutation),
    subscription: withValues(subscription),
    types: types.filter((type) => !roots.includes(type)),
  });
}

/** Compiles a route's subscription, whose events are read directly and never executed. */
export function compileSource(schema: GraphQLSchema, row: RowDocument): OpenSource {
  if (row.operation.operation !== 'subscription') throw new Error(`${row.rootField.name} is not a subscription`);
  const document: DocumentNode = readDocument(row.document);
  return async (variables, context) => {
    const source = await createSourceEventStream({ schema, document, variableValues: variables, contextValue: context });
    if (Symbol.asyncIterator in source) return toBatches(source as AsyncIterable<RunEvent>);
    const [error] = source.errors ?? [];
    throw error?.originalError ?? error ?? new Error(`${row.rootField.name} gives no events`);
  };
}

/** Events that arrived together stay together. A source without batches gives each event alone. */
function toBatches(source: AsyncIterable<RunEvent>): AsyncIterable<readonly RunEvent[]> {
  return 'batches' in source && typeof source.batches === 'function' ? (source as RunEventStream).batches() : oneByOne(source);
}

async function* oneByOne(source: AsyncIterable<RunEvent>): AsyncIterable<readonly RunEvent[]> {
  for await (const event of source) yield [event];
}
