import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isJSONRPCRequest, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

/** A server's messages: so many at once, and so many a second for longer. A tool that tells its progress needs a few each second. */
const messages = { burst: 2_000, perSecond: 50 };
/** Its requests, such as pings: each costs an answer. */
const requests = { burst: 50, perSecond: 1 };
/** Its requests whose answers are still being sent. */
const pendingMax = 16;

/**
 * A transport that bounds what the server sends. A server that sends more than that ends the session: what waits in it fails, and no further
 * answers are sent.
 */
export class BoundedTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #inner: Transport;
  readonly #messages = new Allowance(messages);
  readonly #requests = new Allowance(requests);
  #pending = 0;
  #excess: string | undefined;

  constructor(inner: Transport) {
    this.#inner = inner;
  }

  /** Which bound the server exceeded, as the end of a sentence about it; undefined while it keeps to them. */
  get excess(): string | undefined {
    return this.#excess;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  async start(): Promise<void> {
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onmessage = (message: JSONRPCMessage) => this.#take(message);
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if ('method' in message) return this.#inner.send(message);
    await this.#inner.send(message).finally(() => {
      this.#pending -= 1;
    });
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  #take(message: JSONRPCMessage): void {
    if (this.#excess !== undefined) return;
    this.#excess = this.#excessOf(message);
    if (this.#excess === undefined) this.onmessage?.(message);
    else void this.#inner.close();
  }

  #excessOf(message: JSONRPCMessage): string | undefined {
    if (!this.#messages.take()) return `it sent more than ${told(messages, 'messages')}`;
    if (!isJSONRPCRequest(message)) return undefined;
    if (!this.#requests.take()) return `it sent more than ${told(requests, 'requests of its own')}`;
    this.#pending += 1;
    return this.#pending > pendingMax
      ? `it sent more than ${pendingMax} requests of its own without taking the answers`
      : undefined;
  }
}

interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

function told({ burst, perSecond }: Rate, what: string): string {
  return `${burst} ${what} at once, or ${perSecond} a second`;
}

/** Counts down with each use, and fills up again with time. */
class Allowance {
  readonly #rate: Rate;
  #left: number;
  #countedAtMs = performance.now();

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#left = rate.burst;
  }

  take(): boolean {
    const { burst, perSecond } = this.#rate;
    const nowMs = performance.now();
    this.#left = Math.min(burst, this.#left + ((nowMs - this.#countedAtMs) / 1_000) * perSecond) - 1;
    this.#countedAtMs = nowMs;
    return this.#left >= 0;
  }
}
