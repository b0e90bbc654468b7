// Fast path: runs documents that were compiled once. The plain path is `execute` and `subscribe` of graphql-js.
import { createSourceEventStream, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { replyBudget } from '../../../http/reply/budget.ts';
import type { KeptArguments, ReplyBudget } from '../../../lib/compiled-operation/compiled-operation.ts';
import type { Settings } from '../../../settings.ts';
import type { GraphContext } from '../../builder/builder.ts';
import type { Operation } from '../documents/documents.ts';
import type { Executor, Subscription, Variables } from '../executor.ts';

/** Counts the bytes of each result besides (REPLY_MAX_BYTES), which graphql-js does not. */
export class CompiledExecutor implements Executor {
  readonly #schema: GraphQLSchema;
  readonly #budget: ReplyBudget;

  constructor(schema: GraphQLSchema, settings: Settings) {
    this.#schema = schema;
    this.#budget = replyBudget(settings);
  }

  execute({ compiled }: Operation, variableValues: Variables, contextValue: GraphContext) {
    return compiled.execute({ variableValues, contextValue, budget: this.#budget });
  }

  async subscribe(
    { compiled, document, name }: Operation,
    variableValues: Variables,
    contextValue: GraphContext,
  ): Promise<ExecutionResult | Subscription> {
    // Coerced here first: the errors of graphql-js repeat whole values.
    const { coerced, errors } = compiled.coerce(variableValues);
    if (errors !== undefined) return { errors };
    const source = await createSourceEventStream({
      schema: this.#schema,
      document,
      variableValues,
      contextValue,
      operationName: name ?? null,
    });
    if (!(Symbol.asyncIterator in source)) return source;
    const budget = this.#budget;
    const keptArguments: KeptArguments = new Map();
    return {
      source,
      resultOf: (rootValue, context) =>
        compiled.executeCoerced({ rootValue, contextValue: context, variableValues: coerced, budget }, keptArguments),
    };
  }
}
