import type { ExecutionResult } from 'graphql';
import type { CallContext } from '../../http/context.ts';
import { presentError, presentResult } from '../errors.ts';
import type { Call } from './call.ts';

type Step = IteratorResult<ExecutionResult, undefined>;
const over: Step = { done: true, value: undefined };

/**
 * The results of a subscription. They end as soon as the signal of the context fires, also while the source is silent: without a word
 * when the client left, with an error as the last result when the reason is a DomainError. An error of the source is the last result as well.
 *
 * An iterator by hand, because an async generator does not end while it waits for its source.
 */
export class SubscriptionResults implements AsyncIterableIterator<ExecutionResult, undefined> {
  readonly #source: AsyncIterator<unknown>;
  readonly #context: CallContext;
  readonly #resultOf: (event: unknown) => Promise<ExecutionResult>;
  readonly #call: Call;
  readonly #onEnd: () => void;
  #isEnded = false;
  #isLast = false;
  #isDropped = false;

  /** @param onEnd  is called once, when no more results come. */
  constructor(
    source: AsyncIterable<unknown>,
    context: CallContext,
    resultOf: (event: unknown) => Promise<ExecutionResult>,
    call: Call,
    onEnd: () => void,
  ) {
    this.#source = source[Symbol.asyncIterator]();
    this.#context = context;
    this.#resultOf = resultOf;
    this.#call = call;
    this.#onEnd = onEnd;
    if (context.signal.aborted) this.#end();
    else context.signal.addEventListener('abort', this.#end, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Step> {
    const step = await this.#next();
    // graphql-sse queues what it gets, so it gets the next result when the reader has taken those before.
    if (this.#call.isStreamPath) await (this.#call.reserved ?? this.#call).outlet.written;
    // graphql-sse sends the end of an operation that was stopped, and frees its id, which another operation may have by then.
    return this.#isDropped ? new Promise(() => undefined) : step;
  }

  /** Stops the operation: nothing comes after this, also no end. */
  async return(): Promise<Step> {
    this.#isDropped = true;
    this.#context.abort();
    this.#end();
    return over;
  }

  /** graphql-sse stops only what has this method. */
  throw(): Promise<Step> {
    return this.return();
  }

  async #next(): Promise<Step> {
    if (this.#isLast) return over;
    try {
      const step = await this.#nextEvent();
      if (step !== undefined) return { done: false, value: presentResult(await this.#resultOf(step.event), this.#call.errors) };
      this.#isLast = true;
      this.#end();
      const { endedBy } = this.#context;
      return endedBy === undefined ? over : this.#failure(endedBy);
    } catch (error) {
      this.#isLast = true;
      this.#end();
      return this.#failure(error);
    }
  }

  /** Undefined at the end of the source, and as soon as the signal fires. */
  #nextEvent(): Promise<{ readonly event: unknown } | undefined> {
    const { signal } = this.#context;
    if (signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const leave = () => resolve(undefined);
      signal.addEventListener('abort', leave, { once: true });
      this.#source
        .next()
        .then(({ done, value }) => resolve(done === true ? undefined : { event: value }), reject)
        .finally(() => signal.removeEventListener('abort', leave));
    });
  }

  #failure(error: unknown): Step {
    return { done: false, value: { errors: [presentError(error, this.#call.errors)] } };
  }

  readonly #end = (): void => {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#context.signal.removeEventListener('abort', this.#end);
    this.#source.return?.().catch(() => undefined);
    this.#onEnd();
  };
}
