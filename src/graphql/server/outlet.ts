import type { SseStream } from '../../http/reply/sse.ts';

/** Frames of one write, in UTF-16 code units; what arrives together beyond them waits. */
const gatheredMaxChars = 64 * 1024;

/**
 * Writes the body of an event stream, what arrives together in one piece, and reads no further while its reader is slow. Yoga's own writer
 * for Node waits for `drain` of a response whose client has left, for ever. graphql-sse queues frames without a limit, so its results
 * wait for `written`.
 */
export class Outlet {
  readonly #opened = Promise.withResolvers<void>();
  #stream: SseStream | undefined;
  #frames = '';
  /** Set while frames wait for those that come with them, or for a slow reader. */
  #busy: PromiseWithResolvers<void> | undefined;
  #isSlow = false;

  /** Resolves when the stream is open and its reader has taken what was written. */
  get written(): Promise<void> | undefined {
    return this.#stream === undefined ? this.#opened.promise : this.#busy?.promise;
  }

  /** The same for a stream that is open already. */
  get drained(): Promise<void> | undefined {
    return this.#busy?.promise;
  }

  /** Resolves when the body has ended. It ends also when its reader has left: the source of each stream watches that. */
  async send(body: AsyncIterable<Uint8Array>, stream: SseStream): Promise<void> {
    this.#stream = stream;
    this.#opened.resolve();
    stream.flush();
    const decoder = new TextDecoder();
    for await (const chunk of body) {
      this.#frames += decoder.decode(chunk, { stream: true });
      if (this.#busy === undefined) {
        this.#busy = Promise.withResolvers();
        // Behind everything that is ready now.
        setImmediate(this.#write);
      }
      if (this.#isSlow || this.#frames.length > gatheredMaxChars) await this.#busy.promise;
    }
    stream.end(this.#frames);
    this.#frames = '';
    this.#busy?.resolve();
  }

  readonly #write = (): void => {
    const text = this.#frames;
    this.#frames = '';
    const slow = text === '' ? undefined : this.#stream?.write(text);
    this.#isSlow = slow !== undefined;
    if (slow !== undefined) {
      slow.then(this.#write);
      return;
    }
    this.#busy?.resolve();
    this.#busy = undefined;
  };
}
