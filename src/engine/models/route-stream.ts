import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Catalog, splitModelId } from './catalog.ts';
import type { Circuit } from './circuit.ts';
import { type ModelDelta, ModelError, type ModelRequest } from './port.ts';
import type { Provider } from './providers/provider.ts';

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

/** Sends a request to the first model of a chain that answers. Retries and falls back only before the first delta. */
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

type Batch = readonly ModelDelta[];
type Step = IteratorResult<Batch>;

/** Finds the model that answers with the first read; later reads go directly to its iterator. */
class RoutedDeltas implements AsyncIterableIterator<Batch> {
  readonly #route: Route;
  #answering: AsyncIterator<Batch> | undefined;
  #hasBegun = false;

  constructor(route: Route) {
    this.#route = route;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    return this.#hasBegun && this.#answering !== undefined ? this.#answering.next() : this.#first();
  }

  async return(): Promise<Step> {
    await this.#answering?.return?.();
    return { value: undefined, done: true };
  }

  async #first(): Promise<Step> {
    const { targets, circuit, selection, retriesMax, logger, signal } = this.#route;
    const startedAt = performance.now();
    let failure: ModelError | undefined;
    for (const [index, target] of targets.entries()) {
      const key = `${target.providerId}/${target.name}`;
      const isLast = index === targets.length - 1;
      if (!isLast && circuit.isOpen(key)) {
        selection.fallbackChain.push({ provider: target.providerId, model: target.name, reason: 'circuit_open' });
        continue;
      }
      for (let attempt = 0; target.provider !== undefined; attempt += 1) {
        const triedAt = performance.now();
        try {
          const step = await this.#open(target.provider, target.name).next();
          this.#hasBegun = true;
          selection.provider = target.providerId;
          selection.model = target.name;
          selection.queueMs = Math.round(triedAt - startedAt);
          selection.firstTokenMs = Math.round(performance.now() - startedAt);
          circuit.succeeded(key);
          return step;
        } catch (error) {
          if (signal.aborted || !(error instanceof ModelError)) throw error;
          failure = error;
        }
        logger.warn({ model: key, code: failure.code, attempt }, 'a model provider failed');
        if (callerFaults.has(failure.code)) throw failure;
        const isSoon = (failure.retryAfterSeconds ?? 0) <= retryAfterSecondsMax;
        if (!failure.isRetryable || !isSoon || attempt >= retriesMax) break;
        await backOff(attempt, failure.retryAfterSeconds, signal);
      }
      if (target.provider !== undefined) circuit.failed(key, failure?.retryAfterSeconds);
      const reason = (failure?.code ?? 'MODEL_NOT_FOUND').toLowerCase();
      selection.fallbackChain.push({ provider: target.providerId, model: target.name, reason });
    }
    throw failure ?? new ModelError('MODEL_NOT_FOUND', 'There is no such model', false);
  }

  #open(provider: Provider, model: string): AsyncIterator<Batch> {
    const { request, signal } = this.#route;
    this.#answering = provider.model.stream({ ...request, model }, signal)[Symbol.asyncIterator]();
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
