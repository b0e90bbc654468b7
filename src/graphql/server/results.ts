import type { ExecutionResult } from 'graphql';
import type { CallContext } from '../../http/context.ts';
import { presentError, presentResult } from '../ground/errors/present.ts';
import type { Call } from './call.ts';

/** What the results of a subscription are made of. */
export interface ResultsOptions {
  readonly call: Call;
  readonly context: CallContext;
  /** A promise only where a field waits for something. */
  readonly resultOf: (event: unknown) => ExecutionResult | Promise<ExecutionResult>;
  /** Called once, when no more results come. */
  readonly onEnd: () => void;
}

/**
 * The results of a subscription. They end with its source, which ends when the signal of the context fires: with an error as the last
 * result when the reason is a DomainError, without a word when the client left. An error of the source is the last result as well.
 */
export function streamResults(
  source: AsyncIterable<unknown>,
  { call, context, resultOf, onEnd }: ResultsOptions,
): AsyncIterableIterator<ExecutionResult, undefined> {
  const events = source[Symbol.asyncIterator]();
  const { signal } = context;
  const { extensions } = call.extensions;
  let isEnded = false;
  const end = () => {
    if (isEnded) return;
    isEnded = true;
    signal.removeEventListener('abort', end);
    events.return?.().catch(() => undefined);
    onEnd();
  };
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const results = presented();
  async function* presented(): AsyncGenerator<ExecutionResult, undefined> {
    try {
      for (;;) {
        const { done, value } = await events.next();
        if (done === true || signal.aborted) break;
        const coming = resultOf(value);
        const result = presentResult(coming instanceof Promise ? await coming : coming, call.errors);
        yield extensions === undefined ? result : { ...result, extensions: { ...extensions } };
      }
      if (context.endedBy !== undefined) throw context.endedBy;
    } catch (error) {
      const shownCause = signal.aborted ? context.endedBy : error;
      if (shownCause !== undefined) yield { errors: [presentError(shownCause, call.errors)] };
    } finally {
      end();
    }
  }
  let isStopped = false;
  const stop = async () => {
    isStopped = true;
    context.abort();
    return { done: true, value: undefined } as const;
  };
  if (!call.isStreamPath) {
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: () => results.next(),
      return: stop,
    };
  }
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      const result = await results.next();
      // graphql-sse queues what it gets, so it gets the next result when the stream takes more.
      await call.buffer.room;
      // graphql-sse sends the end of an operation that was stopped, and frees its id, which another operation may have by then.
      return isStopped ? new Promise(() => undefined) : result;
    },
    return: stop,
    // graphql-sse stops only what has this method.
    throw: stop,
  };
}
