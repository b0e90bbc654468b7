import type { ExecutionResult } from 'graphql';
import { DomainError } from '../../../entities/errors.ts';
import { ReplyBudget } from '../../../http/reply/budget.ts';
import type { GraphContext } from '../../builder/context.ts';
import { type ErrorContext, presentError, presentResult } from '../../errors.ts';
import type { Subscription } from '../executor.ts';
import type { Outlet } from './outlet.ts';

/** Of one operation. */
export interface StreamContext extends GraphContext {
  /** Fires the signal, which tells the source of the results. */
  abort(reason?: unknown): void;
}

type Opened = ExecutionResult | Subscription;
type Batch = ExecutionResult[] | undefined;
type Step = IteratorResult<ExecutionResult, undefined>;
const over: Step = { done: true, value: undefined };

/**
 * The results of one operation on an event stream; of a query or a mutation there is one. They end as soon as the signal of the context
 * fires, also while the source is silent: without a word when the client left, with an error as the last result when the reason is a
 * DomainError. An error of the source is the last result as well.
 *
 * An iterator by hand, because an async generator does not end while it waits for its source. graphql-sse reads single results, which wait
 * for the outlet.
 */
export class OperationResults implements AsyncIterableIterator<ExecutionResult, undefined> {
  readonly #context: StreamContext;
  readonly #outlet: Outlet;
  readonly #open: () => Promise<Opened>;
  readonly #onEnd: () => void;
  readonly #errors: ErrorContext;
  #opening: Promise<Opened> | undefined;
  #source: AsyncIterator<readonly unknown[]> | undefined;
  /** Of the batch that was read last, not given out yet. */
  #ready: ExecutionResult[] = [];
  #leave: (() => void) | undefined;
  /** Set once the last batch is read. */
  #isLast = false;
  #isOver = false;
  #isDropped = false;

  /**
   * @param open  runs a query or a mutation, or asks for the events of a subscription.
   * @param onEnd  is called once, when no more results come.
   */
  constructor(context: StreamContext, outlet: Outlet, open: () => Promise<Opened>, onEnd: () => void) {
    this.#context = context;
    this.#outlet = outlet;
    this.#open = open;
    this.#onEnd = onEnd;
    this.#errors = { requestId: context.requestId, logger: context.deps.logger };
    context.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Asks the resolvers, before the first result is read. Rejects when the caller gets no turn. */
  open(): Promise<Opened> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async next(): Promise<Step> {
    if (this.#ready.length === 0) {
      // The results of a batch are handed out together, so that they leave in one write.
      await this.#outlet.written;
      this.#ready = (await this.#nextBatch()) ?? [];
      await this.#outlet.written;
    }
    // graphql-sse sends the end of an operation that was stopped, and frees its id, which another operation may have by then.
    if (this.#isDropped) return new Promise(() => undefined);
    const value = this.#ready.shift();
    return value === undefined ? over : { done: false, value };
  }

  /** The results of events that came together; undefined at the end. Never rejects. */
  #nextBatch(): Promise<Batch> {
    if (this.#isOver) return Promise.resolve(undefined);
    if (this.#context.signal.aborted) return Promise.resolve(this.#last());
    return new Promise((resolve) => {
      this.#leave = () => resolve(this.#last());
      this.#read().then((batch) => {
        if (batch === undefined) this.#end();
        resolve(batch);
      });
    });
  }

  /** Stops the operation: nothing comes after this, also no end. */
  async return(): Promise<Step> {
    this.#isDropped = true;
    if (!this.#isOver) {
      this.#end();
      this.#context.abort();
    }
    return over;
  }

  /** graphql-sse stops only what has this method. */
  throw(): Promise<Step> {
    return this.return();
  }

  abort(reason: DomainError): void {
    this.#context.abort(reason);
  }

  async #read(): Promise<Batch> {
    if (this.#isLast) return undefined;
    try {
      const opened = await this.open();
      this.#isLast = !('source' in opened);
      const results = 'source' in opened ? await this.#readEvents(opened) : [opened];
      return results?.map((result) => presentResult(result, this.#errors));
    } catch (error) {
      this.#isLast = true;
      return this.#isOver ? undefined : [{ errors: [presentError(error, this.#errors)] }];
    }
  }

  async #readEvents({ source, resultOf }: Subscription): Promise<Batch> {
    this.#source ??= batchesOf(source)[Symbol.asyncIterator]();
    const step = await this.#source.next();
    if (step.done === true) return undefined;
    const { deps, caller, requestId, address, signal } = this.#context;
    const replyBudget = new ReplyBudget(deps.settings.REPLY_MAX_BYTES * step.value.length);
    const context = { deps, caller, requestId, address, signal, replyBudget };
    return Promise.all(step.value.map((event) => resultOf(event, context)));
  }

  readonly #onAbort = () => this.#leave?.();

  #last(): Batch {
    if (this.#isOver) return undefined;
    this.#end();
    const reason: unknown = this.#context.signal.reason;
    return reason instanceof DomainError ? [{ errors: [presentError(reason, this.#errors)] }] : undefined;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#leave = undefined;
    this.#context.signal.removeEventListener('abort', this.#onAbort);
    this.#source?.return?.().catch(() => undefined);
    this.#onEnd();
  }
}

/** Run events come in batches (`RunEventStream`); other sources yield one event at a time. */
function batchesOf(source: AsyncIterable<unknown>): AsyncIterable<readonly unknown[]> {
  if ('batches' in source && typeof source.batches === 'function') return source.batches();
  return singles(source);
}

async function* singles(source: AsyncIterable<unknown>): AsyncGenerator<readonly unknown[]> {
  for await (const event of source) yield [event];
}
