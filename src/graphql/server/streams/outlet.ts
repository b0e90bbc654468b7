import type { ServerResponse } from 'node:http';
import type { SseStream } from '../../../http/reply/sse.ts';

/**
 * Writes the frames of one event stream, those that arrive together in one piece. graphql-sse queues frames without a limit, so every source
 * of frames waits for `written` before it hands out more.
 */
export class Outlet {
  readonly #opened = Promise.withResolvers<void>();
  #stream: SseStream | undefined;
  #frames = '';
  /** Set while frames wait for the end of this turn, or for a slow reader. */
  #isBusy = false;
  #free: PromiseWithResolvers<void> | undefined;

  /** Undefined while the reader takes what it gets; else resolves when the stream is open and its reader has taken what was written. */
  get written(): Promise<void> | undefined {
    if (this.#stream === undefined) return this.#opened.promise;
    if (!this.#isBusy) return undefined;
    this.#free ??= Promise.withResolvers<void>();
    return this.#free.promise;
  }

  /** Sends all frames of a stream of graphql-sse. Resolves when they are sent or the reader is gone. */
  async send(frames: AsyncGenerator<string>, stream: SseStream, res: ServerResponse): Promise<void> {
    this.#stream = stream;
    this.#opened.resolve();
    const leave = () => void frames.return(undefined);
    res.once('close', leave);
    if (res.destroyed) leave();
    for await (const frame of frames) {
      this.#frames += frame;
      if (this.#isBusy) continue;
      this.#isBusy = true;
      // Behind everything that is ready now.
      process.nextTick(this.#write);
    }
    stream.end(this.#frames);
    this.#frames = '';
  }

  readonly #write = (): void => {
    const text = this.#frames;
    this.#frames = '';
    const slow = text === '' ? undefined : this.#stream?.write(text);
    if (slow !== undefined) {
      slow.then(this.#write);
      return;
    }
    this.#isBusy = false;
    this.#free?.resolve();
    this.#free = undefined;
  };
}
