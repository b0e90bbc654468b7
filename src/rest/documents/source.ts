import { createSourceEventStream, type DocumentNode, type GraphQLSchema } from 'graphql';
import type { RunEvent, RunEventStream } from '../../entities/conversations/runs/event.ts';
import type { SourceContext } from '../../http/context.ts';
import type { Variables } from '../../wire/ground/encoder.ts';
import { type RowDocument, readDocument } from './document.ts';

/** Opens the source stream of a subscription for one request. @throws whatever its resolver throws. */
export type OpenSource = (variables: Variables, context: SourceContext) => Promise<AsyncIterable<readonly RunEvent[]>>;

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
