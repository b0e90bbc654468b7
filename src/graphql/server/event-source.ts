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
import type { GraphContext } from '../builder.ts';
import { presentError, presentResult } from '../errors.ts';
import type { Operation } from './documents.ts';
import { EventResults, type Projection } from './event-results.ts';

/**
 * Runs operations of every kind as streams of JSON texts: a query or a mutation is a stream of one result. Results that arrived
 * together come together, so they can leave in one write.
 */
export class EventSource {
  readonly #schema: GraphQLSchema;
  #eventSchema: GraphQLSchema | undefined;

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
    const args: ExecutionArgs = {
      schema: this.#schema,
      document: operation.document,
      variableValues: variables,
      contextValue: context,
      ...(operation.name === undefined ? {} : { operationName: operation.name }),
    };
    if (operation.node.operation !== 'subscription') {
      return operation.compiled.execute({ variableValues: variables, contextValue: context });
    }
    const { coerced, errors } = getVariableValues(this.#schema, operation.node.variableDefinitions ?? [], variables);
    if (errors !== undefined) return { errors };
    const source = await createSourceEventStream(args);
    if (!isAsyncIterable(source)) return source;
    return { source, compiled: operation.compiled, variables: coerced, general: this.#general(operation, coerced) };
  }

  /** graphql-js for the events of one subscription: made when the first is left to it, which few ever do. */
  #general(operation: Operation, coerced: Record<string, unknown>): Projection['general'] {
    let args: ExecutionArgs | undefined;
    return (rootValue, contextValue) => {
      if (this.#eventSchema === undefined) {
        const config = this.#schema.toConfig();
        this.#eventSchema = new GraphQLSchema({ ...config, types: [...config.types, CoercedType] });
      }
      args ??= eventArgs(this.#eventSchema, operation, coerced);
      return execute({ ...args, rootValue, contextValue });
    };
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

/**
 * graphql-js coerces the variables of a subscription anew for every event: a long input would cost more than its answer. Events run
 * with variables that were coerced once, declared as a type that takes them as they are.
 */
const CoercedType = new GraphQLScalarType({ name: 'Coerced', parseValue: (value) => value });

function eventArgs(schema: GraphQLSchema, operation: Operation, variables: Record<string, unknown>): ExecutionArgs {
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

function isAsyncIterable(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value;
}
