import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Catalog, splitModelId } from './catalog.ts';
import type { Circuit } from './circuit.ts';
import { type ModelDelta, ModelError, type ModelRequest } from './port.ts';
import type { Provider } from './providers/provider.ts';
import type { RoutedStream, Selection } from './router.ts';

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
/** A provider that asks for more patience than this is not waited for. */
const patienceSeconds = 5;
/** Faults of the request itself: no other model would take it. */
const callerFaults: ReadonlySet<string> = new Set(['INVALID_VALUE', 'CONTENT_FILTER', 'REQUEST_TOO_LARGE']);

/** Runs a request at the first model of a chain that answers. Tries again and falls back before the first delta only. */
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
  return { selection, deltas: run(tools, targets, request, signal, selection) };
}

async function* run(
  tools: Tools,
  targets: readonly Target[],
  request: ModelRequest,
  signal: AbortSignal,
  selection: Selection,
): AsyncGenerator<readonly ModelDelta[], void, undefined> {
  const startedAt = performance.now();
  let failure: ModelError | undefined;
  for (const [index, target] of targets.entries()) {
    const key = `${target.providerId}/${target.name}`;
    const isLast = index === targets.length - 1;
    if (!isLast && tools.circuit.isOpen(key)) {
      selection.fallbackChain.push({ provider: target.providerId, model: target.name, reason: 'circuit_open' });
      continue;
    }
    for (let attempt = 0; target.provider !== undefined; attempt += 1) {
      const triedAt = performance.now();
      try {
        for await (const batch of target.provider.model.stream({ ...request, model: target.name }, signal)) {
          if (selection.firstTokenMs === null) {
            selection.provider = target.providerId;
            selection.model = target.name;
            selection.queueMs = Math.round(triedAt - startedAt);
            selection.firstTokenMs = Math.round(performance.now() - startedAt);
            tools.circuit.succeeded(key);
          }
          yield batch;
        }
        return;
      } catch (error) {
        if (signal.aborted || !(error instanceof ModelError) || selection.firstTokenMs !== null) throw error;
        failure = error;
      }
      tools.logger.warn({ model: key, code: failure.code, attempt }, 'a model provider failed');
      if (callerFaults.has(failure.code)) throw failure;
      const hasPatience = (failure.retryAfterSeconds ?? 0) <= patienceSeconds;
      if (!failure.isRetryable || !hasPatience || attempt >= tools.retriesMax) break;
      await backOff(attempt, failure.retryAfterSeconds, signal);
    }
    if (target.provider !== undefined) tools.circuit.failed(key, failure?.retryAfterSeconds);
    const reason = (failure?.code ?? 'MODEL_NOT_FOUND').toLowerCase();
    selection.fallbackChain.push({ provider: target.providerId, model: target.name, reason });
  }
  throw failure ?? new ModelError('MODEL_NOT_FOUND', 'There is no such model', false);
}

/** Full jitter: callers that failed together do not come back together. */
async function backOff(attempt: number, retryAfterSeconds: number | undefined, signal: AbortSignal): Promise<void> {
  const most = Math.min(backoffMsMax, backoffMs * 2 ** attempt);
  const least = (retryAfterSeconds ?? 0) * 1000;
  try {
    await delay(least + Math.random() * most, undefined, { signal });
  } catch {
    throw signal.reason;
  }
}
