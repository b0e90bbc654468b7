import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { OpenItems } from '../../lib/flow/open-items.ts';
import { rateHeaders } from './rate-headers.ts';
import { headersWithCaching } from './reply.ts';

export interface SseLimits {
  readonly heartbeatMs: number;
  /** Most bytes that wait for a slow reader before more is taken from its source. */
  readonly bufferMaxBytes: number;
}

/** A longer text is written beside its chunk's frame instead of joined with it, which would copy it. */
const joinedMaxCharacters = 16 * 1024;

/** All open streams of a process, and the one timer of their heartbeats. */
export class SseStreams {
  readonly #limits: SseLimits;
  readonly #tickMs: number;
  readonly #open = new OpenItems<SseStream>();
  #timer: NodeJS.Timeout | undefined;
  #nowMs = performance.now();

  constructor(limits: SseLimits) {
    this.#limits = limits;
    this.#tickMs = Math.max(10, Math.min(1_000, limits.heartbeatMs / 8));
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** Writes the head; it leaves with the first frames, or with `flush`. */
  start(res: ServerResponse, requestId: string, headers: readonly string[]): SseStream {
    res.writeHead(200, ['x-request-id', requestId, ...streamHeaders, ...rateHeaders(res), ...headers]);
    const stream = new SseStream(res, this.#limits.bufferMaxBytes, () => this.#nowMs);
    // Its reader left while the stream was being opened: 'close' has been told, and is not told again.
    if (res.destroyed) return stream;
    const opened = this.#open.add(stream);
    res.once('close', () => {
      this.#open.remove(opened);
      stream.closed();
    });
    this.#timer ??= this.#startTimer();
    return stream;
  }

  close(): void {
    if (this.#timer !== undefined) clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #startTimer(): NodeJS.Timeout {
    this.#nowMs = performance.now();
    const timer = setInterval(() => this.#tick(), this.#tickMs);
    timer.unref();
    return timer;
  }

  #tick(): void {
    if (this.#open.size === 0) {
      this.close();
      return;
    }
    this.#nowMs = performance.now();
    const quietSinceMs = this.#nowMs - this.#limits.heartbeatMs + this.#tickMs;
    for (const stream of this.#open.values()) stream.tick(quietSinceMs);
  }
}

/** One reply of text/event-stream. */
export class SseStream {
  readonly #res: ServerResponse;
  readonly #bufferMaxBytes: number;
  readonly #nowMs: () => number;
  #lastWriteMs: number;
  #wake: (() => void) | undefined;
  #drained: Promise<void> | undefined;
  #isHeadOut = false;

  constructor(res: ServerResponse, bufferMaxBytes: number, nowMs: () => number) {
    this.#res = res;
    this.#bufferMaxBytes = bufferMaxBytes;
    this.#nowMs = nowMs;
    this.#lastWriteMs = nowMs();
    res.on('drain', () => this.#resume());
    res.on('error', () => this.closed());
  }

  /** Whether the reader is gone. */
  get isClosed(): boolean {
    return this.#res.destroyed || this.#res.writableEnded;
  }

  /** Sends the head alone, for a stream whose first events make no frame. */
  flush(): void {
    if (this.#isHeadOut) return;
    this.#isHeadOut = true;
    this.#res.flushHeaders();
  }

  /**
   * Writes frames in one piece. Returns a promise when the reader is slow: await it before writing more. It also resolves when the
   * reader is gone.
   */
  write(text: string): Promise<void> | undefined {
    if (text.length > this.#bufferMaxBytes) return this.#writeSlices(text);
    return this.#writePiece(text);
  }

  end(text: string): void {
    if (this.isClosed) return;
    const { socket } = this.#res;
    // The last frames leave in one system call with the end of the reply.
    socket?.cork();
    if (text !== '') this.#send(text);
    this.#res.end();
    socket?.uncork();
  }

  /** Sends a heartbeat to a reader that takes what it gets. One that does not is cut off with its connection (connections.ts). */
  tick(quietSinceMs: number): void {
    if (this.#drained === undefined && this.#lastWriteMs <= quietSinceMs && !this.isClosed) void this.#writePiece(': ping\n');
  }

  closed(): void {
    this.#resume();
  }

  async #writeSlices(text: string): Promise<void> {
    for (let start = 0; start < text.length && !this.isClosed; ) {
      let end = Math.min(text.length, start + this.#bufferMaxBytes);
      // At the end of a frame, where there is one: some clients parse each read on its own.
      const frameEnd = end < text.length ? text.lastIndexOf('\n\n', end - 2) : -1;
      if (frameEnd > start) end = frameEnd + 2;
      // Never between the halves of a surrogate pair: each half alone would be written as a replacement character.
      if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end += 1;
      await this.#writePiece(text.slice(start, end));
      start = end;
    }
  }

  #writePiece(text: string): Promise<void> | undefined {
    if (this.isClosed) return undefined;
    this.#lastWriteMs = this.#nowMs();
    if (this.#send(text)) return undefined;
    this.#drained ??= new Promise((resolve) => {
      this.#wake = resolve;
    });
    return this.#drained;
  }

  /**
   * Writes one chunk of the reply. Node makes four writes of a chunk, half of what a paced stream costs; here it is one string. Where the
   * reply is not an ordinary chunked one (HTTP/1.0, HEAD, waiting behind a pipelined reply), Node does it.
   */
  #send(frames: string): boolean {
    const { socket, req } = this.#res;
    const framesBytes = Buffer.byteLength(frames);
    const text = framesBytes === frames.length ? frames : withoutOtherLineEnds(frames);
    const sizeBytes = text === frames ? framesBytes : Buffer.byteLength(text);
    if (socket === null || req.method === 'HEAD') return this.#sendByNode(text);
    if (this.#isHeadOut) return this.#sendChunk(socket, text, sizeBytes);
    // The head leaves in one system call with the first frames. Nothing else is waited for, not even the end of a short answer.
    socket.cork();
    this.flush();
    const isFree = this.#sendChunk(socket, text, sizeBytes);
    socket.uncork();
    return isFree;
  }

  #sendChunk(socket: Socket, text: string, sizeBytes: number): boolean {
    if (!this.#res.chunkedEncoding) return this.#sendByNode(text);
    const isAscii = sizeBytes === text.length;
    const encoding = isAscii ? 'latin1' : 'utf8';
    let isFree: boolean;
    if (text.length <= joinedMaxCharacters) isFree = socket.write(`${sizeBytes.toString(16)}\r\n${text}\r\n`, encoding);
    else {
      socket.cork();
      socket.write(`${sizeBytes.toString(16)}\r\n`, 'latin1');
      socket.write(text, encoding);
      isFree = socket.write('\r\n', 'latin1');
      socket.uncork();
    }
    if (!isFree) socket.once('drain', this.#onDrain);
    return isFree;
  }

  #sendByNode(text: string): boolean {
    this.#isHeadOut = true;
    return this.#res.write(text);
  }

  readonly #onDrain = () => this.#resume();

  #resume(): void {
    this.#lastWriteMs = this.#nowMs();
    const wake = this.#wake;
    this.#wake = undefined;
    this.#drained = undefined;
    wake?.();
  }
}

/** Ends of lines by Unicode, but not by JSON or the standard of event streams: every one of them stands in a text of JSON. */
const otherLineEnds = [
  ['\u0085', '\\u0085'],
  ['\u2028', '\\u2028'],
  ['\u2029', '\\u2029'],
] as const;

/**
 * Some clients cut the lines of a stream at these characters too, and then fail over half an event (findings/stream-line-ends.sh). As escapes of
 * JSON they are read by all. Called for texts that have others than those of ASCII.
 */
function withoutOtherLineEnds(frames: string): string {
  let text = frames;
  for (const [end, escaped] of otherLineEnds) if (text.includes(end)) text = text.replaceAll(end, escaped);
  return text;
}

/** As on every reply, but for the cache rule: proxies must neither keep nor gather a stream. */
const streamHeaders: readonly string[] = [
  'content-type',
  'text/event-stream; charset=utf-8',
  'x-accel-buffering',
  'no',
  ...headersWithCaching('no-cache, no-transform'),
];
