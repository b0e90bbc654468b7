import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as wait } from 'node:timers/promises';

const retryMs = 250;

/** Lines that go to one channel together. */
export interface Message {
  readonly channel: string;
  readonly text: string;
}
interface Line {
  readonly channel: string;
  readonly line: string;
  readonly isAlone: boolean;
}

export interface OutboxOptions {
  /** Lines of this time go together. */
  readonly gatherMs: number;
  /** Most bytes of a message, unless a single line has more. */
  readonly bytesMax: number;
  /** Further lines than these displace the oldest: the database is looked up by then anyway. */
  readonly linesMax: number;
  /** Whether messages can be sent now. Otherwise they wait for `flush`. */
  isOpen(): boolean;
  /** @throws Error: the messages are sent again after a while. */
  send(messages: readonly Message[]): Promise<void>;
  /** Called for the first of several failures. */
  onError?(error: unknown): void;
}

/** Sends what this process says, in order, the lines of a channel gathered into few messages, equal ones once. Makes nobody wait. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #closing = new AbortController();
  /** By channel and line. */
  #lines = new Map<string, Line>();
  #sending: Promise<void> | undefined;
  #isFailing = false;
  /** Signals of all callers go together, so they wait in the line of none. */
  readonly #forAll = AsyncLocalStorage.snapshot();
  /** Messages so far. */
  sent = 0;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** @param isAlone  the line gets a message of its own. */
  add(channel: string, line: string, isAlone = false): void {
    this.#lines.set(`${channel} ${line}`, { channel, line, isAlone });
    if (this.#lines.size > this.#options.linesMax) {
      const oldest = this.#lines.keys().next();
      if (oldest.done !== true) this.#lines.delete(oldest.value);
    }
    this.flush();
  }

  /** Messages can be sent now. */
  flush(): void {
    if (this.#options.isOpen()) this.#sending ??= this.#forAll(() => this.#send());
  }

  /** Tries once more to send what is left. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#sending;
  }

  async #send(): Promise<void> {
    const { gatherMs, bytesMax, isOpen, send } = this.#options;
    const { signal } = this.#closing;
    await wait(gatherMs, undefined, { signal, ref: false }).catch(() => undefined);
    while (this.#lines.size > 0 && isOpen()) {
      const lines = this.#lines;
      this.#lines = new Map();
      const messages = packLines([...lines.values()], bytesMax);
      try {
        await send(messages);
        this.sent += messages.length;
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) this.#options.onError?.(error);
        this.#isFailing = true;
        if (signal.aborted) break;
        this.#lines = new Map([...lines, ...this.#lines]);
        await wait(retryMs, undefined, { ref: false });
      }
    }
    this.#sending = undefined;
  }
}

function packLines(lines: readonly Line[], bytesMax: number): readonly Message[] {
  const messages: Message[] = [];
  const open = new Map<string, { text: string; bytes: number }>();
  for (const { channel, line, isAlone } of lines) {
    if (isAlone) {
      messages.push({ channel, text: line });
      continue;
    }
    const bytes = Buffer.byteLength(line) + 1;
    const message = open.get(channel);
    if (message !== undefined && message.bytes + bytes <= bytesMax) {
      message.text += `\n${line}`;
      message.bytes += bytes;
      continue;
    }
    if (message !== undefined) messages.push({ channel, text: message.text });
    open.set(channel, { text: line, bytes });
  }
  return [...messages, ...[...open].map(([channel, { text }]) => ({ channel, text }))];
}
