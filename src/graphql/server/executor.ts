import { createSourceEventStream, type ExecutionResult, execute, type GraphQLSchema } from 'graphql';
import { boundedResult } from '../../http/reply/budget.ts';
import type { GraphContext } from '../builder/context.ts';
import type { Operation } from './documents/documents.ts';
import type { Params } from './params.ts';
import { coerceVariables } from './variables.ts';

export interface Subscription {
  readonly source: AsyncIterable<unknown>;
  /** @param context  one for each batch of events: data loaders keep what they loaded as long as their context lives. */
  resultOf(event: unknown, context: GraphContext): Promise<ExecutionResult>;
}

export type Variables = Params['variables'];

/** Runs operations of valid documents by graphql-js, with replies of at most REPLY_MAX_BYTES. */
export class Executor {
  readonly #schema: GraphQLSchema;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** Runs a query or a mutation. The result has no `data` when the variables were refused before anything ran. */
  async execute(operation: Operation, variables: Variables, context: GraphContext): Promise<ExecutionResult> {
    const errors = this.#faultsOf(operation, variables);
    if (errors !== undefined) return { errors };
    return boundedResult(await execute(this.#argsOf(operation, variables, context)), context.replyBudget);
  }

  /** Asks the resolver of a subscription. @returns its events, or the result that says why there are none. */
  async subscribe(operation: Operation, variables: Variables, context: GraphContext): Promise<ExecutionResult | Subscription> {
    const errors = this.#faultsOf(operation, variables);
    if (errors !== undefined) return { errors };
    const source = await createSourceEventStream(this.#argsOf(operation, variables, context));
    if (!(Symbol.asyncIterator in source)) return source;
    const resultOf = async (rootValue: unknown, own: GraphContext) =>
      boundedResult(await execute({ ...this.#argsOf(operation, variables, own), rootValue }), own.replyBudget);
    return { source, resultOf };
  }

  /** Checked here first: the errors of graphql-js repeat whole values. */
  #faultsOf({ node }: Operation, variables: Variables) {
    return coerceVariables(this.#schema, node.variableDefinitions ?? [], variables).errors;
  }

  #argsOf({ document, name }: Operation, variableValues: Variables, contextValue: GraphContext) {
    return { schema: this.#schema, document, operationName: name ?? null, variableValues, contextValue };
  }
}
