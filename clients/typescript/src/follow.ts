import { type GraphqlResult, ParleyError, resultOf } from './errors.ts';
import type { TypedDocumentString } from './generated/graphql.ts';
import { bodyOf, readEvents } from './sse.ts';

/** A subscription to be asked for. */
export interface Subscription<Result, Variables> {
  readonly document: TypedDocumentString<Result, Variables>;
  readonly variables: Variables;
}

/** How a connection stands: asked for, open, or broken with the next try coming. */
export type FollowStatus = 'connecting' | 'open' | 'waiting';

export interface FollowOptions<Result, Variables> {
  readonly signal?: AbortSignal;
  /**
   * What is asked for after the connection broke; undefined gives up. Default: the same, with the variable `after` behind the last event where the
   * document has one. Subscriptions that act (`messageEvents`, `completionEvents` …) are not asked for twice: name another document here, such as
   * `runEvents`, or act with a mutation and follow its run.
   */
  readonly again?: (
    last: Result | undefined,
    asked: Subscription<Result, Variables>,
  ) => Subscription<Result, Variables> | undefined;
  /** After this time without a byte the connection counts as broken. Default: three heartbeats of the service. */
  readonly silenceMs?: number;
  /** The pause before the second try; each further one is twice as long, up to `pauseMaxMs`. The service may ask for a longer one. */
  readonly pauseMs?: number;
  readonly pauseMaxMs?: number;
  /** Tries in a row without an event between them. Default: without end. */
  readonly retriesMax?: number;
  readonly onStatus?: (status: FollowStatus) => void;
}

/** Sends a subscription and resolves when its stream is open. @throws ParleyError when it is refused. */
export type Connect = (document: string, variables: unknown, signal: AbortSignal) => Promise<Response>;

const heartbeatMs = 12_000;

/**
 * Follows a subscription until it ends, over as many connections as it takes. Leaving the loop ends it.
 *
 * @throws ParleyError when the service refuses for good; the last failure when `retriesMax` is reached, or when it may not be asked for again.
 */
export async function* follow<Result, Variables>(
  connect: Connect,
  first: Subscription<Result, Variables>,
  options: FollowOptions<Result, Variables>,
): AsyncGenerator<Result, void, undefined> {
  const { signal, again = goOn, silenceMs = 3 * heartbeatMs, retriesMax = Number.POSITIVE_INFINITY, onStatus } = options;
  let asked = first;
  let last: Result | undefined;
  let failures = 0;
  for (;;) {
    signal?.throwIfAborted();
    const watch = new SilenceWatch(silenceMs, signal);
    let failure: unknown = new ParleyError('The stream broke off');
    try {
      onStatus?.('connecting');
      const reply = await connect(asked.document.toString(), asked.variables, watch.signal);
      onStatus?.('open');
      for await (const { event, data } of readEvents(bodyOf(reply), () => watch.heard())) {
        if (event === 'complete') return;
        if (event !== 'next') continue;
        last = resultOf<Result>(JSON.parse(data) as GraphqlResult);
        failures = 0;
        // Nothing is read while the caller works with a result.
        watch.rest();
        yield last;
        watch.heard();
      }
    } catch (error) {
      if (signal?.aborted === true || !isPassing(error)) throw error;
      failure = error;
    } finally {
      watch.end();
    }
    const next = again(last, asked);
    if (next === undefined || failures >= retriesMax) throw failure;
    asked = next;
    failures += 1;
    onStatus?.('waiting');
    await pause(pauseOf(failures, failure, options), signal);
  }
}

/** Subscriptions that act each time they are asked for: all that show the events of a run, but for the one that only follows it. */
const acting = /\b(?!runEvents\b)\w+Events\s*\(/;

function goOn<Result, Variables>(
  last: Result | undefined,
  { document, variables }: Subscription<Result, Variables>,
): Subscription<Result, Variables> | undefined {
  const text = document.toString();
  if (acting.test(text)) return undefined;
  const after = placeOf(last);
  return after === undefined || !/\$after\b/.test(text)
    ? { document, variables }
    : { document, variables: { ...variables, after } };
}

/** Where the stream stands: the `sequence` of an event, or the `cursor` of a change. */
function placeOf(result: unknown): number | string | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  for (const value of Object.values(result)) {
    if (typeof value !== 'object' || value === null) continue;
    const { sequence, cursor } = value as { readonly sequence?: unknown; readonly cursor?: unknown };
    if (typeof sequence === 'number') return sequence;
    if (typeof cursor === 'string') return cursor;
  }
  return undefined;
}

/** Whether another try may succeed: the network failed, or the service had no room, was stopping or failed itself. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof ParleyError)) return true;
  const { status, code } = error;
  if (status === undefined && code === undefined) return true;
  return (
    (status !== undefined && (status === 429 || status >= 500)) || ['OVERLOADED', 'RATE_LIMIT_EXCEEDED'].includes(code ?? '')
  );
}

function pauseOf(
  failures: number,
  failure: unknown,
  { pauseMs = 1_000, pauseMaxMs = 30_000 }: Pick<FollowOptions<unknown, unknown>, 'pauseMs' | 'pauseMaxMs'>,
): number {
  const asked = failure instanceof ParleyError ? (failure.retryAfterSeconds ?? 0) * 1_000 : 0;
  const grown = Math.min(pauseMs * 2 ** (failures - 1), pauseMaxMs);
  // Not all clients at the same moment.
  return Math.max(asked, grown * (0.5 + Math.random() / 2));
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', leave);
      resolve();
    }, ms);
    signal?.addEventListener('abort', leave, { once: true });
  });
}

/** Breaks a connection on which nothing is heard, and one that its caller leaves. */
class SilenceWatch {
  readonly #controller = new AbortController();
  readonly #silenceMs: number;
  readonly #outer: AbortSignal | undefined;
  readonly #leave = () => this.#controller.abort(this.#outer?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(silenceMs: number, outer: AbortSignal | undefined) {
    this.#silenceMs = silenceMs;
    this.#outer = outer;
    outer?.addEventListener('abort', this.#leave, { once: true });
    this.heard();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  heard(): void {
    this.rest();
    const silent = () => this.#controller.abort(new ParleyError(`Nothing was heard for ${this.#silenceMs} ms`));
    this.#timer = setTimeout(silent, this.#silenceMs);
  }

  rest(): void {
    clearTimeout(this.#timer);
  }

  end(): void {
    this.rest();
    this.#outer?.removeEventListener('abort', this.#leave);
    this.#controller.abort();
  }
}
