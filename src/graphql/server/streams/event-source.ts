import { createSourceEventStream, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { replyBudget } from '../../../http/reply/budget.ts';
import type { GraphContext } from '../../builder/builder.ts';
import { presentError, presentResult } from '../../errors.ts';
import type { Operation } from '../documents/documents.ts';
import { EventResults, type Projection } from './event-results.ts';

/**
 * Runs operations of every kind as streams of JSON texts: a query or a mutation is a stream of one result. Results that arrived
 * together come together, so they can leave in one write.
 */
export class EventSource {
  readonly #schema: GraphQLSchema;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /**
   * Asks the resolvers first: once this resolves, the caller has been let in, or told so in the only result. What comes then ends as
   * soon as the signal of the context fires: quietly when the client left, with the reason as the last result when it is a DomainError.
   * A source that breaks has its error as the last result.
   */
  async open(operation: Operation, variables: Variables, context: GraphContext): Promise<AsyncIterable<readonly string[]>> {
    const errors = { requestId: context.requestId, logger: context.deps.logger };
    try {
      const opened = await this.#open(operation, variables, context);
      if (isOpenSource(opened)) return new EventResults(batchesOf(opened.source), opened, context, errors);
      return last(JSON.stringify(presentResult(opened, errors)));
    } catch (error) {
      return last(JSON.stringify({ errors: [presentError(error, errors)] }));
    }
  }

  async #open(operation: Operation, variables: Variables, context: GraphContext): Promise<ExecutionResult | OpenSource> {
    const { compiled, node, document, name } = operation;
    const budget = replyBudget(context.deps.settings);
    if (node.operation !== 'subscription') {
      return compiled.execute({ variableValues: variables, contextValue: context, budget });
    }
    // Before graphql-js coerces them once more: its errors repeat whole values.
    const { coerced, errors } = compiled.coerce(variables);
    if (errors !== undefined) return { errors };
    const source = await createSourceEventStream({
      schema: this.#schema,
      document,
      variableValues: variables,
      contextValue: context,
      ...(name === undefined ? {} : { operationName: name }),
    });
    return isAsyncIterable(source) ? { source, compiled, variables: coerced, budget } : source;
  }
}

function isOpenSource(opened: ExecutionResult | OpenSource): opened is OpenSource {
  return 'source' in opened;
}

async function* last(result: string): AsyncGenerator<readonly string[]> {
  yield [result];
}

interface OpenSource extends Projection {
  readonly source: AsyncIterable<unknown>;
}
type Variables = Readonly<Record<string, unknown>>;

/** Run events come in batches (`RunEventStream`); other sources yield one event at a time. */
function batchesOf(source: AsyncIterable<unknown>): AsyncIterable<readonly unknown[]> {
  if ('batches' in source && typeof source.batches === 'function') return source.batches();
  return singles(source);
}

async function* singles(source: AsyncIterable<unknown>): AsyncGenerator<readonly unknown[]> {
  for await (const event of source) yield [event];
}

function isAsyncIterable(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value;
}
