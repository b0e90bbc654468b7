import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLScalarType,
  GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { getVariableValues } from 'graphql/execution/values.js';
import { DomainError } from '../../entities/errors.ts';
import type { GraphContext } from '../builder.ts';
import { type ErrorContext, presentError, presentResult } from '../errors.ts';
import type { Operation } from './documents.ts';

/**
 * Runs operations of every kind as streams of JSON texts: a query or a mutation is a stream of one result. Results that arrived
 * together come together, so they can leave in one write.
 */
export class EventSource {
  readonly #schema: GraphQLSchema;
  readonly #eventSchema: GraphQLSchema;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
    const config = schema.toConfig();
    this.#eventSchema = new GraphQLSchema({ ...config, types: [...config.types, CoercedType] });
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
      if (isOpenSource(opened)) return this.#follow(opened, context, errors);
      return last(JSON.stringify(presentResult(opened, errors)));
    } catch (error) {
      return last(JSON.stringify({ errors: [presentError(error, errors)] }));
    }
  }

  async *#follow({ source, args }: OpenSource, context: GraphContext, errors: ErrorContext): AsyncGenerator<readonly string[]> {
    const { signal } = context;
    try {
      for await (const events of abortable(batchesOf(source), signal)) {
        const results = this.#execute(args, events, context);
        yield (results instanceof Promise ? await results : results).map((result) =>
          JSON.stringify(presentResult(result, errors)),
        );
      }
    } catch (error) {
      if (!signal.aborted) yield [JSON.stringify({ errors: [presentError(error, errors)] })];
    }
    if (signal.reason instanceof DomainError) yield [JSON.stringify({ errors: [presentError(signal.reason, errors)] })];
  }

  async #open(operation: Operation, variables: Variables, context: GraphContext): Promise<ExecutionResult | OpenSource> {
    const args: ExecutionArgs = {
      schema: this.#schema,
      document: operation.document,
      variableValues: variables,
      contextValue: context,
      ...(operation.name === undefined ? {} : { operationName: operation.name }),
    };
    if (operation.node.operation !== 'subscription') return execute(args);
    const { coerced, errors } = getVariableValues(this.#schema, operation.node.variableDefinitions ?? [], variables);
    if (errors !== undefined) return { errors };
    const source = await createSourceEventStream(args);
    return isAsyncIterable(source) ? { source, args: eventArgs(this.#eventSchema, operation, coerced) } : source;
  }

  /** Without a promise as long as no resolver makes one. */
  #execute(args: EventArgs, events: readonly unknown[], context: GraphContext): ExecutionResult[] | Promise<ExecutionResult[]> {
    // Loaders keep what they loaded for as long as their context: one that lives as long as the stream would show old things.
    const { deps, caller, requestId, signal } = context;
    const contextValue = { deps, caller, requestId, signal };
    let isSync = true;
    const results = events.map((rootValue) => {
      const result = execute({ ...args, rootValue, contextValue });
      if (result instanceof Promise) isSync = false;
      return result;
    });
    return isSync ? (results as ExecutionResult[]) : Promise.all(results);
  }
}

function isOpenSource(opened: ExecutionResult | OpenSource): opened is OpenSource {
  return 'source' in opened;
}

async function* last(result: string): AsyncGenerator<readonly string[]> {
  yield [result];
}

interface OpenSource {
  readonly source: AsyncIterable<unknown>;
  readonly args: EventArgs;
}
type Variables = Readonly<Record<string, unknown>>;
type EventArgs = Pick<ExecutionArgs, 'schema' | 'document' | 'variableValues'>;

/**
 * graphql-js coerces the variables of a subscription anew for every event: a long input would cost more than its answer. Events run
 * with variables that were coerced once, declared as a type that takes them as they are.
 */
const CoercedType = new GraphQLScalarType({ name: 'Coerced', parseValue: (value) => value });

function eventArgs(schema: GraphQLSchema, operation: Operation, variables: Variables): EventArgs {
  const node: OperationDefinitionNode = {
    ...operation.node,
    variableDefinitions: (operation.node.variableDefinitions ?? []).map((definition) => ({
      kind: Kind.VARIABLE_DEFINITION,
      variable: definition.variable,
      type: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: CoercedType.name } },
    })),
  };
  const definitions = operation.document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  return { schema, document: { kind: Kind.DOCUMENT, definitions: [node, ...definitions] }, variableValues: variables };
}

/** Run events come in batches (`RunEventStream`); other sources yield one event at a time. */
function batchesOf(source: AsyncIterable<unknown>): AsyncIterable<readonly unknown[]> {
  if ('batches' in source && typeof source.batches === 'function') return source.batches();
  return singles(source);
}

async function* singles(source: AsyncIterable<unknown>): AsyncGenerator<readonly unknown[]> {
  for await (const event of source) yield [event];
}

/** Ends the iteration as soon as the signal fires, also while the source is silent, and lets go of the source. */
async function* abortable<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  // One listener for the whole stream: racing every step against one promise would keep a reaction for each until the end.
  let leave: (step: undefined) => void = () => undefined;
  const onAbort = () => leave(undefined);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    while (!signal.aborted) {
      const step = await new Promise<IteratorResult<T> | undefined>((resolve, reject) => {
        leave = resolve;
        iterator.next().then(resolve, reject);
      });
      if (step === undefined || step.done === true) return;
      yield step.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    iterator.return?.().catch(() => undefined);
  }
}

function isAsyncIterable(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value;
}
