import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type RequestId,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { mendedResponse } from './mended-result.ts';

/** A server's messages: so many at once, and so many a second for longer. A tool that tells its progress needs a few each second. */
const messages = { burst: 2_000, perSecond: 50 };
/** Its requests, such as pings: each costs an answer. */
const requests = { burst: 50, perSecond: 1 };
/** Its requests whose answers are still being sent. */
const pendingMax = 16;
/** A server gets this long to take a cancellation. */
const cancelMs = 500;

/** Of the answer of a request that no message follows any more. */
const connectionClosed = -32_000;

/**
 * A transport of the SDK, with what it leaves open. A server that sends too much ends the session: what waits in it fails, and no further answers
 * are sent. A request whose answer ends without a response fails at once. A cancelled request closes its connection. A response gets the members
 * that the server left out.
 */
export class BoundedTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #inner: Transport;
  readonly #messages = new Allowance(messages);
  readonly #requests = new Allowance(requests);
  /** Requests that wait for their responses, by id. */
  readonly #sent = new Map<RequestId, SentRequest>();
  #pending = 0;
  #excess: string | undefined;
  #brokenBy = '';

  constructor(inner: Transport) {
    this.#inner = inner;
  }

  /** Which bound the server exceeded, as the end of a sentence about it; undefined while it keeps to them. */
  get excess(): string | undefined {
    return this.#excess;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  get hasPerRequestStream(): boolean {
    return this.#inner.hasPerRequestStream === true;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  async start(): Promise<void> {
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => {
      this.#brokenBy = brokenStream.exec(error.message)?.[1] ?? '';
      this.onerror?.(error);
    };
    this.#inner.onmessage = (message: JSONRPCMessage) => this.#take(message);
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (isJSONRPCRequest(message)) return this.#request(message, options);
    if (isJSONRPCNotification(message)) return this.#notify(message, options);
    await this.#inner.send(message, options).finally(() => {
      this.#pending -= 1;
    });
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  async #request(
    message: JSONRPCMessage & { readonly id: RequestId; readonly method: string },
    options: TransportSendOptions = {},
  ): Promise<void> {
    const ending = new AbortController();
    this.#sent.set(message.id, { method: message.method, ending });
    const { requestSignal } = options;
    const onRequestStreamEnd = () => {
      options.onRequestStreamEnd?.();
      this.#fail(message.id);
    };
    const signal = requestSignal === undefined ? ending.signal : AbortSignal.any([requestSignal, ending.signal]);
    try {
      await this.#inner.send(message, { ...options, requestSignal: signal, onRequestStreamEnd });
    } catch (error) {
      this.#sent.delete(message.id);
      throw error;
    }
  }

  async #notify(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const cancelledId = cancelledBy(message);
    const ending = cancelledId === undefined ? undefined : this.#sent.get(cancelledId)?.ending;
    if (cancelledId === undefined || ending === undefined) return this.#inner.send(message, options);
    this.#sent.delete(cancelledId);
    // The connection of the request closes even if the server does not take the notification.
    const close = () => ending.abort(new Error('the request was cancelled'));
    const timer = setTimeout(close, cancelMs);
    await this.#inner.send(message, options).finally(() => {
      clearTimeout(timer);
      close();
    });
  }

  #fail(id: RequestId): void {
    const message = this.#brokenBy === '' ? 'the server ended its answer in the middle' : this.#brokenBy;
    if (this.#sent.delete(id)) this.onmessage?.({ jsonrpc: '2.0', id, error: { code: connectionClosed, message } });
  }

  #take(message: JSONRPCMessage): void {
    if (this.#excess !== undefined) return;
    this.#excess = this.#excessOf(message);
    if (this.#excess !== undefined) return void this.#inner.close();
    const id = 'method' in message ? undefined : message.id;
    const sentRequest = id === undefined ? undefined : this.#sent.get(id);
    if (id !== undefined) this.#sent.delete(id);
    this.onmessage?.(mendedResponse(message, sentRequest?.method));
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

interface SentRequest {
  readonly method: string;
  /** Closes its connection. */
  readonly ending: AbortController;
}

/** How the SDK's transport reports a stream that broke, just before it ends the stream. */
const brokenStream = /^SSE stream disconnected: (?:\w*Error: )?(.*)$/s;

/** The request that a notification cancels. */
function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return undefined;
  return message.params?.requestId as RequestId | undefined;
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
