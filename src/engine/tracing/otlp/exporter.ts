import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Pool } from 'undici';
import type { EndedSpan } from './span.ts';

/** Spans that wait to be sent; more are dropped, so that a collector that is down costs a bounded amount of memory. */
const waitingMax = 2_048;
const spansPerRequest = 512;
const triesMax = 3;
const tryTimeoutMs = 5_000;
const retryAfterMs = 500;
/** The statuses after which OTLP sends again; after any other, the spans are dropped. */
const retryStatuses = new Set([429, 502, 503, 504]);

export interface ExporterOptions {
  /** Without `/v1/traces`. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Spans are sent this long after the first of them ended, or earlier when a request is full. */
  readonly delayMs: number;
  encode(spans: readonly EndedSpan[]): string;
  readonly logger: Logger;
}

/** Sends ended spans to a collector, behind the requests that they tell of. No failure reaches a caller: spans are dropped, and the log says so once. */
export class Exporter {
  readonly #options: ExporterOptions;
  readonly #pool: Pool;
  readonly #path: string;
  readonly #closing = new AbortController();
  #waiting: EndedSpan[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #dropped = 0;
  #isFailing = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
    const { origin, pathname, search } = new URL(options.endpoint);
    this.#path = `${pathname.replace(/(?<!\/)\/+$/, '')}/v1/traces${search}`;
    this.#pool = new Pool(origin, { connections: 1, connect: { timeout: tryTimeoutMs } });
  }

  add(span: EndedSpan): void {
    if (this.#closing.signal.aborted) return;
    if (this.#waiting.length >= waitingMax) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= spansPerRequest) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), this.#options.delayMs).unref();
  }

  async close(timeMs: number): Promise<void> {
    this.#start();
    const stopWaiting = new AbortController();
    const late = wait(timeMs, undefined, { signal: stopWaiting.signal }).catch(() => undefined);
    await Promise.race([this.#sending, late]);
    stopWaiting.abort();
    this.#closing.abort(new Error('the exporter is closed'));
    await this.#sending;
    await this.#pool.destroy();
    if (this.#dropped > 0) this.#warnOfDropped('at the end of the process');
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#closing.signal.aborted) {
      const spans = this.#waiting.slice(0, spansPerRequest);
      this.#waiting = this.#waiting.slice(spansPerRequest);
      const failure = await this.#send(this.#options.encode(spans));
      if (failure === undefined) this.#isFailing = false;
      else {
        this.#dropped += spans.length;
        if (!this.#isFailing) this.#warnOfDropped(failure);
        this.#isFailing = true;
      }
    }
    this.#dropped += this.#waiting.length;
    this.#waiting = [];
  }

  /** @returns why the spans did not arrive; undefined when they did. */
  async #send(body: string): Promise<string | undefined> {
    const { signal: closing } = this.#closing;
    for (let attempt = 1; ; attempt += 1) {
      const failure = await this.#try(body, closing);
      if (failure === undefined) return undefined;
      if (!failure.mayRetry || attempt === triesMax || closing.aborted) return failure.reason;
      await wait(retryAfterMs * 2 ** attempt * Math.random(), undefined, { signal: closing, ref: false }).catch(() => undefined);
    }
  }

  async #try(body: string, closing: AbortSignal): Promise<{ readonly reason: string; readonly mayRetry: boolean } | undefined> {
    const { headers } = this.#options;
    try {
      const { statusCode, body: reply } = await this.#pool.request({
        path: this.#path,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'OTel-OTLP-Exporter-Parley', ...headers },
        body,
        signal: AbortSignal.any([closing, AbortSignal.timeout(tryTimeoutMs)]),
      });
      await reply.dump({ limit: 16 * 1024 });
      if (statusCode >= 200 && statusCode < 300) return undefined;
      return { reason: `status ${statusCode}`, mayRetry: retryStatuses.has(statusCode) };
    } catch (error) {
      return { reason: error instanceof Error ? error.message : String(error), mayRetry: true };
    }
  }

  #warnOfDropped(reason: string): void {
    this.#options.logger.warn(
      { spans: this.#dropped, reason },
      'traces do not reach OTEL_EXPORTER_OTLP_ENDPOINT and are dropped',
    );
    this.#dropped = 0;
  }
}
