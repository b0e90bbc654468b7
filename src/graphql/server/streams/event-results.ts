import type { ExecutionResult } from 'graphql';
import { DomainError } from '../../../entities/errors.ts';
import type { CompiledOperation, KeptArguments, ReplyBudget } from '../../../lib/compiled-operation/compiled-operation.ts';
import type { GraphContext } from '../../builder/builder.ts';
import { type ErrorContext, presentError, presentResult } from '../../errors.ts';

/** How events become results. */
export interface Projection {
  readonly compiled: CompiledOperation;
  /** Coerced. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Of each result. */
  readonly budget: ReplyBudget;
}

type Texts = readonly string[];
type Step = IteratorResult<Texts, undefined>;
const over: Step = { done: true, value: undefined };

/**
 * The results of a subscription as JSON texts, a batch of events at a time. Ends as soon as the signal of the context fires, also while the
 * source is silent, and lets go of the source.
 *
 * An iterator by hand: a chain of generators costs more for each event than its result. Read one step at a time, as `for await` does.
 */
export class EventResults implements AsyncIterable<Texts>, AsyncIterator<Texts, undefined> {
  readonly #source: AsyncIterator<readonly unknown[]>;
  readonly #projection: Projection;
  readonly #context: GraphContext;
  readonly #signal: AbortSignal;
  readonly #errors: ErrorContext;
  readonly #keptArguments: KeptArguments = new Map();
  #isOver = false;
  #leave: (() => void) | undefined;

  constructor(source: AsyncIterable<readonly unknown[]>, projection: Projection, context: GraphContext, errors: ErrorContext) {
    this.#source = source[Symbol.asyncIterator]();
    this.#projection = projection;
    this.#context = context;
    this.#signal = context.signal;
    this.#errors = errors;
    this.#signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    if (this.#isOver) return Promise.resolve(over);
    if (this.#signal.aborted) return Promise.resolve(this.#last());
    return new Promise((resolve) => {
      this.#leave = () => resolve(this.#last());
      this.#source.next().then(
        (step) => resolve(this.#shown(step)),
        (error: unknown) => resolve(this.#broken(error)),
      );
    });
  }

  async return(): Promise<Step> {
    this.#end();
    return over;
  }

  readonly #onAbort = () => this.#leave?.();

  #shown(step: IteratorResult<readonly unknown[]>): Step | Promise<Step> {
    // What comes after the end is of no interest: the step has been answered.
    if (this.#isOver) return over;
    if (step.done === true) return this.#last();
    try {
      const results = this.#results(step.value);
      if (!(results instanceof Promise)) return this.#step(results);
      return results.then((settled) => this.#step(settled)).catch((error: unknown) => this.#broken(error));
    } catch (error) {
      return this.#broken(error);
    }
  }

  #step(results: readonly ExecutionResult[]): Step {
    return { done: false, value: results.map((result) => JSON.stringify(presentResult(result, this.#errors))) };
  }

  /** Without a promise as long as no resolver makes one. */
  #results(events: readonly unknown[]): ExecutionResult[] | Promise<ExecutionResult[]> {
    const { compiled, variables, budget } = this.#projection;
    // Loaders keep what they loaded for as long as their context: one that lives as long as the stream would show old things.
    const { deps, caller, requestId, signal } = this.#context;
    const contextValue = { deps, caller, requestId, signal };
    let isSync = true;
    const results = events.map((rootValue) => {
      const args = { rootValue, contextValue, variableValues: variables, budget };
      const result = compiled.executeCoerced(args, this.#keptArguments);
      if (result instanceof Promise) isSync = false;
      return result;
    });
    return isSync ? (results as ExecutionResult[]) : Promise.all(results);
  }

  /** The source broke: its error is the last result, unless nobody wants one any more. */
  #broken(error: unknown): Step {
    if (this.#isOver) return over;
    if (this.#signal.aborted) return this.#last();
    this.#end();
    return { done: false, value: [JSON.stringify({ errors: [presentError(error, this.#errors)] })] };
  }

  /** The end: quiet when the client left or the source is through, with the reason as the last result when it is a DomainError. */
  #last(): Step {
    if (this.#isOver) return over;
    this.#end();
    const reason: unknown = this.#signal.reason;
    if (!(reason instanceof DomainError)) return over;
    return { done: false, value: [JSON.stringify({ errors: [presentError(reason, this.#errors)] })] };
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#leave = undefined;
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#source.return?.().catch(() => undefined);
  }
}
