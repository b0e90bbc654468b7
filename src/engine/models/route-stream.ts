import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Warning } from '../../entities/ground/warning.ts';
import { type Catalog, splitModelId } from './catalog.ts';
import type { Circuit } from './circuit.ts';
import { type ModelDelta, ModelError, type ModelRequest } from './port.ts';
import type { Provider } from './providers/provider.ts';
import { leavesOutThoughts, messagesFor } from './thoughts.ts';

/** How a request was routed. Filled while the stream runs; complete at its end. */
export interface Selection {
  provider: string;
  model: string;
  readonly fallbackChain: { provider: string; model: string; reason: string }[];
  queueMs: number;
  firstTokenMs: number | null;
}

export interface RoutedStream {
  readonly deltas: AsyncIterable<readonly ModelDelta[]>;
  readonly selection: Selection;
}

interface Tools {
  readonly catalog: Catalog;
  readonly circuit: Circuit;
  readonly logger: Logger;
  readonly retriesMax: number;
  /** Longest answer that is held until its end. */
  readonly charsMax: number;
}

interface Target {
  readonly provider: Provider | undefined;
  readonly providerId: string;
  readonly name: string;
}

const backoffMs = 200;
const backoffMsMax = 4_000;
/** A longer `Retry-After` is not waited for: the next model of the chain is asked. */
const retryAfterSecondsMax = 5;
/** Faults of the request itself: every other model would refuse it too. */
const callerFaults: ReadonlySet<string> = new Set(['INVALID_VALUE', 'CONTENT_FILTER', 'REQUEST_TOO_LARGE']);
/** Another model may take the request, and the one that did not is well: its circuit stays closed. */
const modelBounds: ReadonlySet<string> = new Set(['UNSUPPORTED_VALUE', 'CONTEXT_LENGTH_EXCEEDED']);

const thoughtsLeftOut: Warning = {
  code: 'thoughts_left_out',
  message: 'the model that answers goes on without the thoughts behind the tool calls so far: another provider thought them',
  param: null,
};

/** Sends a request to the first model of a chain that answers. Retries and falls back only before the first delta is given. */
export function routeStream(tools: Tools, chain: readonly string[], request: ModelRequest, signal: AbortSignal): RoutedStream {
  const targets = chain.map((id): Target => {
    const { provider, name } = splitModelId(id);
    return { provider: tools.catalog.provider(provider), providerId: provider, name };
  });
  const first = targets[0];
  const selection: Selection = {
    provider: first?.providerId ?? '',
    model: first?.name ?? '',
    fallbackChain: [],
    queueMs: 0,
    firstTokenMs: null,
  };
  return { selection, deltas: new RoutedDeltas({ ...tools, targets, request, signal, selection }) };
}

interface Route extends Tools {
  readonly targets: readonly Target[];
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
  readonly selection: Selection;
}

/** An attempt that failed, and what a whole answer had said by then. */
interface Failed {
  readonly failure: ModelError;
  readonly said: Batch;
}

type Batch = readonly ModelDelta[];
type Step = IteratorResult<Batch>;

/** Finds the model that answers with the first read; later reads go directly to its iterator. */
class RoutedDeltas implements AsyncIterableIterator<Batch> {
  readonly #route: Route;
  #answering: AsyncIterator<Batch> | undefined;
  #hasBegun = false;
  /** What ended an answer that was held, and is given as far as it came. */
  #broken: { readonly reason: unknown } | undefined;

  constructor(route: Route) {
    this.#route = route;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken.reason);
    return this.#hasBegun && this.#answering !== undefined ? this.#answering.next() : this.#first();
  }

  async return(): Promise<Step> {
    await this.#answering?.return?.();
    return { value: undefined, done: true };
  }

  async #first(): Promise<Step> {
    const { targets, circuit, selection, retriesMax, logger, signal } = this.#route;
    const startedAt = performance.now();
    let lastFailure: Failed | undefined;
    for (const [index, target] of targets.entries()) {
      const key = `${target.providerId}/${target.name}`;
      const isLast = index === targets.length - 1;
      if (!isLast && circuit.isOpen(key)) {
        selection.fallbackChain.push({ provider: target.providerId, model: target.name, reason: 'circuit_open' });
        continue;
      }
      for (let attempt = 0; target.provider !== undefined; attempt += 1) {
        const answer = await this.#ask(target.provider, target, startedAt);
        if (!('failure' in answer)) {
          this.#hasBegun = true;
          circuit.succeeded(key);
          return answer;
        }
        lastFailure = answer;
        const { failure } = lastFailure;
        logger.warn({ model: key, code: failure.code, attempt }, 'a model provider failed');
        if (callerFaults.has(failure.code)) return this.#giveUp(lastFailure);
        const isSoon = (failure.retryAfterSeconds ?? 0) <= retryAfterSecondsMax;
        if (!failure.isRetryable || !isSoon || attempt >= retriesMax) break;
        await backOff(attempt, failure.retryAfterSeconds, signal);
      }
      const isWell = lastFailure !== undefined && modelBounds.has(lastFailure.failure.code);
      if (target.provider !== undefined && !isWell) circuit.failed(key, lastFailure?.failure.retryAfterSeconds);
      const reason = (lastFailure?.failure.code ?? 'MODEL_NOT_FOUND').toLowerCase();
      selection.fallbackChain.push({ provider: target.providerId, model: target.name, reason });
    }
    return this.#giveUp(lastFailure);
  }

  /**
   * Asks one model once. An answer that nobody reads before its end is read to its end here, where another one may be asked for.
   *
   * @throws what is no failure of the provider.
   */
  async #ask(provider: Provider, { providerId, name }: Target, startedAt: number): Promise<Step | Failed> {
    const { selection, signal, charsMax } = this.#route;
    const triedAt = performance.now();
    const answer = this.#open(provider, name);
    const heldDeltas: ModelDelta[] = [];
    try {
      const step = this.#told(await answer.next(), providerId);
      selection.provider = providerId;
      selection.model = name;
      selection.queueMs = Math.round(triedAt - startedAt);
      selection.firstTokenMs = Math.round(performance.now() - startedAt);
      if (!this.#isHeld) return step;
      let chars = 0;
      for (let next = step; next.done !== true; next = await answer.next()) {
        for (const delta of next.value) {
          heldDeltas.push(delta);
          if ('json' in delta) chars += delta.json.length;
        }
        // Longer than a run keeps: the reader of the deltas ends it.
        if (chars > charsMax) break;
      }
      return { value: heldDeltas, done: false };
    } catch (error) {
      if (!signal.aborted && error instanceof ModelError) return { failure: error, said: heldDeltas };
      if (heldDeltas.length === 0) throw error;
      this.#broken = { reason: error };
      return { value: heldDeltas, done: false };
    }
  }

  /** The first step of an answer, with what its provider does not get of the conversation. */
  #told(step: Step, providerId: string): Step {
    if (step.done === true || !leavesOutThoughts(providerId, this.#route.request.messages)) return step;
    return { value: [{ type: 'warnings', warnings: [thoughtsLeftOut] }, ...step.value], done: false };
  }

  /** No model is left to ask. What a whole answer said before it broke off stays, as in a stream. @throws ModelError where there is none. */
  #giveUp(lastFailure: Failed | undefined): Step {
    if (lastFailure === undefined) throw new ModelError('MODEL_NOT_FOUND', 'There is no such model', false);
    if (lastFailure.said.length === 0) throw lastFailure.failure;
    this.#hasBegun = true;
    this.#broken = { reason: lastFailure.failure };
    return { value: lastFailure.said, done: false };
  }

  /** Whether the answer is read to its end before any of it is given: only where another one may be asked for. */
  get #isHeld(): boolean {
    const { request, targets, retriesMax } = this.#route;
    return request.isWhole === true && (targets.length > 1 || retriesMax > 0);
  }

  #open(provider: Provider, model: string): AsyncIterator<Batch> {
    const { request, signal } = this.#route;
    const messages = messagesFor(provider.id, request.messages);
    this.#answering = provider.model.stream({ ...request, model, messages }, signal)[Symbol.asyncIterator]();
    return this.#answering;
  }
}

/** Full jitter: callers that failed together do not retry together. */
async function backOff(attempt: number, retryAfterSeconds: number | undefined, signal: AbortSignal): Promise<void> {
  const most = Math.min(backoffMsMax, backoffMs * 2 ** attempt);
  const least = (retryAfterSeconds ?? 0) * 1000;
  try {
    await delay(least + Math.random() * most, undefined, { signal });
  } catch {
    throw signal.reason;
  }
}
