import { setImmediate } from 'node:timers/promises';
import type { ExecutionResult } from 'graphql';
import type { SseStream } from '../../http/reply/sse.ts';

/** Frames of one write, in UTF-16 code units; what arrives together beyond them waits. */
const gatheredMaxChars = 64 * 1024;

/**
 * Writes the body of an event stream, what arrives together in one piece, and reads no further while its reader is slow. Yoga's own writer
 * for Node waits for `drain` of a response whose client has left, for ever. graphql-sse queues frames without a limit, so its results
 * wait for room.
 */
export class ReplyBuffer {
  readonly #opened = Promise.withResolvers<void>();
  #stream: SseStream | undefined;
  #frames = '';
  /** Set while frames wait for those that come with them, or for a slow reader. */
  #writing: Promise<void> | undefined;

  /** Resolves when the stream is open and takes more. */
  get room(): Promise<void> | undefined {
    return this.#stream === undefined ? this.#opened.promise : this.roomIfOpen;
  }

  /** The same, for a stream that is open already. */
  get roomIfOpen(): Promise<void> | undefined {
    return this.#frames.length > gatheredMaxChars ? this.#writing : undefined;
  }

  /** Resolves when the body has ended. It ends also when its reader has left: the source of each stream watches that. */
  async send(body: AsyncIterable<Uint8Array>, stream: SseStream): Promise<void> {
    this.#stream = stream;
    this.#opened.resolve();
    stream.flush();
    const decoder = new TextDecoder();
    for await (const chunk of body) {
      const slow = this.#gather(decoder.decode(chunk, { stream: true }), stream);
      if (slow !== undefined) await slow;
    }
    this.#end(stream);
  }

  /** The same for the results of a subscription, as the events that Yoga makes of them. */
  async sendResults(results: AsyncIterable<ExecutionResult>, stream: SseStream): Promise<void> {
    this.#stream = stream;
    this.#opened.resolve();
    // Some browsers take the head only with a part of the body.
    this.#frames = ':\n\n';
    this.#writing = this.#write(stream);
    for await (const result of results) {
      const slow = this.#gather(`event: next\ndata: ${JSON.stringify(result)}\n\n`, stream);
      if (slow !== undefined) await slow;
    }
    this.#frames += 'event: complete\ndata:\n\n';
    this.#end(stream);
  }

  /** @returns a promise only when the reader is slow. */
  #gather(frames: string, stream: SseStream): Promise<void> | undefined {
    this.#frames += frames;
    this.#writing ??= this.#write(stream);
    return this.#frames.length > gatheredMaxChars ? this.#writing : undefined;
  }

  #end(stream: SseStream): void {
    stream.end(this.#frames);
    this.#frames = '';
  }

  async #write(stream: SseStream): Promise<void> {
    // Behind everything that is ready now.
    await setImmediate();
    while (this.#frames !== '') {
      const text = this.#frames;
      this.#frames = '';
      await stream.write(text);
    }
    this.#writing = undefined;
  }
}
