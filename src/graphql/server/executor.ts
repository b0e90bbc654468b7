import type { ExecutionResult } from 'graphql';
import type { GraphContext } from '../builder/builder.ts';
import type { Operation } from './documents/documents.ts';
import type { Params } from './params.ts';

/** Runs operations of valid documents. The one of the service is in fast/; a test compares it with graphql-js. */
export interface Executor {
  /** Runs a query or a mutation. Never rejects; the result has no `data` when the variables were refused before anything ran. */
  execute(operation: Operation, variables: Variables, context: GraphContext): ExecutionResult | Promise<ExecutionResult>;
  /** Asks the resolver of a subscription. @returns its events, or the result that says why there are none. */
  subscribe(operation: Operation, variables: Variables, context: GraphContext): Promise<ExecutionResult | Subscription>;
}

export interface Subscription {
  readonly source: AsyncIterable<unknown>;
  /** @param context  one for each batch of events: data loaders keep what they loaded as long as their context lives. */
  resultOf(event: unknown, context: unknown): ExecutionResult | Promise<ExecutionResult>;
}

export type Variables = Params['variables'];
