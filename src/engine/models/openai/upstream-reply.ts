import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Warning } from '../../../entities/ground/warning.ts';
import { membersOf } from '../../../lib/json/json.ts';
import { type ModelDelta, ModelError } from '../port.ts';
import { ChunkReader } from './chunk-reader.ts';
import { malformed, refusal, transportFailure } from './errors.ts';
import { StreamParser } from './stream-parser.ts';

type Batch = readonly ModelDelta[];
/** What bounds a reply, and whose it is. */
interface ReplyTerms {
  readonly provider: string;
  readonly firstTokenTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly bodyBytesMax: number;
  readonly proxyName: string | undefined;
}
type Waiter = { readonly resolve: (result: IteratorResult<Batch>) => void; readonly reject: (reason: unknown) => void };

/** Most memory of an error's body. */
const errorBytesMax = 64 * 1024;
/** Bytes that may wait for a slow reader before the upstream's socket is paused. Parsed deltas take several times that. */
const waitingBytesMax = 16 * 1024;
const waitingBatchesMax = 4;
/** How long an upstream may take after the last delta to send `[DONE]` and to end its reply. */
const trailerTimeoutMs = 5_000;

/** One reply of an upstream: undici's handler on one side, an iterator of deltas on the other. */
export class UpstreamReply implements Dispatcher.DispatchHandler, AsyncIterableIterator<Batch> {
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #retryAfter: string | undefined;
  #parser: StreamParser | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #waiting: Batch[] = [];
  #waitingBytes = 0;
  #waiter: Waiter | undefined;
  #failure: { readonly reason: unknown } | undefined;
  #isOver = false;
  #hasEnded = false;
  #trailerTimer: NodeJS.Timeout | undefined;
  readonly #signal: AbortSignal;
  readonly #isStreaming: boolean;
  readonly #terms: ReplyTerms;
  /** What of the request has no effect; empty once it is told, with the first deltas. */
  #warnings: readonly Warning[];
  /** Set until the first delta. */
  #firstTimer: NodeJS.Timeout | undefined;
  /** Since when reads bring no delta; undefined when the last one did. */
  #emptySinceMs: number | undefined;
  readonly #onAbort = () => {
    this.#fail(this.#signal.reason);
    this.#abandon();
  };

  constructor(signal: AbortSignal, isStreaming: boolean, terms: ReplyTerms, warnings: readonly Warning[] = []) {
    this.#warnings = warnings;
    this.#signal = signal;
    this.#isStreaming = isStreaming;
    this.#terms = terms;
    if (signal.aborted) {
      this.#onAbort();
      return;
    }
    signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#firstTimer = setTimeout(() => this.#giveUp('sent no token in time'), terms.firstTokenTimeoutMs).unref();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Batch>> {
    const batch = this.#waiting.shift();
    if (batch !== undefined) {
      if (this.#waiting.length === 0) {
        this.#waitingBytes = 0;
        if (this.#controller?.paused === true) this.#controller.resume();
      }
      return Promise.resolve({ value: batch, done: false });
    }
    if (this.#failure !== undefined) {
      const { reason } = this.#failure;
      this.#failure = undefined;
      return Promise.reject(reason);
    }
    if (this.#isOver) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
    });
  }

  /** The reader left early: the upstream request is aborted. */
  return(): Promise<IteratorResult<Batch>> {
    this.#finish();
    this.#abandon();
    return Promise.resolve({ value: undefined, done: true });
  }

  /** Ends the reply of a request that could not be sent. */
  fail(error: unknown): void {
    this.#fail(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) this.#abandon();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // Raw headers are slices of the first read and would keep its memory for as long as the stream lasts.
    controller.rawHeaders = null;
    // Informational responses (103) come before the final one.
    if (status < 200) return;
    this.#status = status;
    this.#retryAfter = headers['retry-after'];
    const isEventStream = !(headers['content-type'] ?? '').includes('json');
    if (status === 200 && this.#isStreaming && isEventStream) this.#parser = new StreamParser();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#parser === undefined) this.#collect(chunk);
    else this.#parse(this.#parser, chunk);
  }

  onResponseEnd(): void {
    this.#hasEnded = true;
    clearTimeout(this.#trailerTimer);
    if (!this.#isOver) this.#conclude();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#hasEnded = true;
    clearTimeout(this.#trailerTimer);
    if (this.#isOver) return;
    // The answer is complete; only the end of the reply is missing.
    if (this.#parser?.hasFinish === true) this.#conclude();
    else this.#fail(transportFailure(error, this.#status !== 0, this.#terms.proxyName));
  }

  #conclude(): void {
    const out: ModelDelta[] = [];
    try {
      if (this.#parser !== undefined) this.#parser.end(out);
      else if (this.#status === 200) bodyDeltas(this.#text(), out);
      else throw refusal(this.#status, this.#text(), this.#retryAfter);
    } catch (error) {
      this.#deliver(out);
      this.#fail(error);
      return;
    }
    this.#deliver(out);
    this.#finish();
  }

  /** What was collected; one piece is not copied. */
  #text(): string {
    const [first] = this.#chunks;
    return (this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks)).toString();
  }

  #parse(parser: StreamParser, chunk: Buffer): void {
    const out: ModelDelta[] = [];
    try {
      parser.push(chunk, out);
      if (parser.isDone) parser.end(out);
    } catch (error) {
      this.#deliver(out);
      this.#fail(error);
      this.#abandon();
      return;
    }
    if (out.length > 0) this.#deliver(out, chunk.length);
    else if (!parser.hasFinish) this.#requireTokens();
    if (parser.isDone) this.#finish();
    if (parser.hasFinish && this.#trailerTimer === undefined) {
      this.#trailerTimer = setTimeout(() => {
        if (!this.#isOver) this.#conclude();
        this.#abandon();
      }, trailerTimeoutMs).unref();
    }
  }

  #collect(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#status !== 200 && this.#bytes > errorBytesMax) return;
    if (this.#bytes > this.#terms.bodyBytesMax) {
      this.#fail(
        new ModelError('UPSTREAM_ERROR', `The model provider's answer is longer than ${this.#terms.bodyBytesMax} bytes`, false),
      );
      this.#abandon();
      return;
    }
    this.#chunks.push(chunk);
  }

  /** Comments and empty events keep a connection busy, and are no answer. Silence is bounded by the connection. */
  #requireTokens(): void {
    const nowMs = performance.now();
    this.#emptySinceMs ??= nowMs;
    if (nowMs - this.#emptySinceMs > this.#terms.idleTimeoutMs) this.#giveUp('sends no more tokens');
  }

  #giveUp(what: string): void {
    this.#fail(new ModelError('UPSTREAM_TIMEOUT', `The model provider ${what}`, false));
    this.#abandon();
  }

  #deliver(deltas: Batch, sizeBytes = 0): void {
    if (deltas.length === 0) return;
    const batch: Batch = this.#warnings.length === 0 ? deltas : [{ type: 'warnings', warnings: this.#warnings }, ...deltas];
    this.#warnings = [];
    this.#emptySinceMs = undefined;
    if (this.#firstTimer !== undefined) {
      clearTimeout(this.#firstTimer);
      this.#firstTimer = undefined;
    }
    const waiter = this.#waiter;
    if (waiter !== undefined) {
      this.#waiter = undefined;
      waiter.resolve({ value: batch, done: false });
      return;
    }
    this.#waiting.push(batch);
    this.#waitingBytes += sizeBytes;
    const isFull = this.#waitingBytes >= waitingBytesMax || this.#waiting.length >= waitingBatchesMax;
    if (isFull && this.#controller?.paused === false) this.#controller.pause();
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    const reason = error instanceof ModelError ? error.of(this.#terms.provider) : error;
    const waiter = this.#waiter;
    this.#waiter = undefined;
    if (waiter === undefined) this.#failure = { reason };
    else waiter.reject(reason);
    this.#finish();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#firstTimer);
    this.#signal.removeEventListener('abort', this.#onAbort);
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.resolve({ value: undefined, done: true });
  }

  /** Closes the connection unless the reply has ended. */
  #abandon(): void {
    if (this.#hasEnded || this.#controller === undefined || this.#controller.aborted) return;
    this.#controller.abort(unwantedError);
  }
}

const unwantedError = new Error('no longer wanted');

/** The deltas of an answer that came in one piece. @throws ModelError */
function bodyDeltas(body: string, out: ModelDelta[]): void {
  let eventJson: unknown;
  try {
    eventJson = JSON.parse(body);
  } catch {
    throw malformed('it is not JSON');
  }
  const reader = new ChunkReader();
  reader.read(membersOf(eventJson), out);
  reader.end(out);
}
