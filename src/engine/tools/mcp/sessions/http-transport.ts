import { setImmediate as afterThis } from 'node:timers/promises';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ErrorCode,
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { stringOf } from '../../../../lib/json.ts';

/** In `_meta` of a call: its key, also sent as the header `Idempotency-Key`. */
export const idempotencyMember = 'idempotency-key';

/** A server may end and reopen the stream of its own messages so often in one session. */
const streamsMax = 20;

/** A server gets this long to take a cancellation. */
const cancelMs = 500;

interface Pending {
  readonly ending: AbortController;
  readonly key: string | undefined;
  /** The server gave an event of the answer an id, so the rest of it can be fetched. */
  isResumable: boolean;
}

/**
 * The SDK's transport of streamable HTTP, and what it leaves open: a request whose answer ends without a response fails at once, a cancelled
 * request closes its connection, and a server cannot have its stream opened for ever.
 */
export class HttpTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #inner: StreamableHTTPClientTransport;
  readonly #pending = new Map<RequestId, Pending>();
  #streams = 0;

  constructor(url: string, headers: Readonly<Record<string, string>>, fetch: FetchLike) {
    this.#inner = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { ...headers } },
      fetch: (address, init) => this.#fetch(fetch, address, init),
    });
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  async start(): Promise<void> {
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => {
      // The SDK gives up on a stream that breaks again and again, and forgets the requests that wait for it.
      if (error.message.startsWith('Maximum reconnection attempts')) this.#failResumable();
      this.onerror?.(error);
    };
    this.#inner.onmessage = (message: JSONRPCMessage) => this.#take(message);
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (isJSONRPCRequest(message)) return this.#request(message);
    const cancelled = cancelledBy(message);
    const pending = cancelled === undefined ? undefined : this.#pending.get(cancelled);
    if (cancelled === undefined || pending === undefined) return this.#inner.send(message);
    this.#pending.delete(cancelled);
    // The connection of the request closes even if the server does not take the notification.
    const close = () => pending.ending.abort(new Error('the request was cancelled'));
    const timer = setTimeout(close, cancelMs);
    await this.#inner.send(message).finally(() => {
      clearTimeout(timer);
      close();
    });
  }

  /** Tells the server that the session is over, if it takes that. */
  async end(): Promise<void> {
    await this.#inner.terminateSession().catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  async #request(message: JSONRPCMessage & { readonly id: RequestId }): Promise<void> {
    const params = 'params' in message ? message.params : undefined;
    const meta = params?._meta as Readonly<Record<string, unknown>> | undefined;
    const pending: Pending = {
      ending: new AbortController(),
      key: stringOf(meta?.[idempotencyMember]),
      isResumable: false,
    };
    this.#pending.set(message.id, pending);
    const onresumptiontoken = () => {
      pending.isResumable = true;
    };
    try {
      await this.#inner.send(message, { onresumptiontoken });
    } catch (error) {
      this.#pending.delete(message.id);
      throw error;
    }
  }

  async #fetch(fetch: FetchLike, address: string | URL, init: RequestInit = {}): Promise<Response> {
    const method = init.method ?? 'GET';
    if (method === 'GET') {
      this.#streams += 1;
      if (this.#streams > streamsMax) return new Response(null, { status: 405 });
    }
    const id = method === 'POST' && typeof init.body === 'string' ? requestIdIn(init.body) : undefined;
    const pending = id === undefined ? undefined : this.#pending.get(id);
    if (id === undefined || pending === undefined) return fetch(address, init);
    const headers = new Headers(init.headers);
    if (pending.key !== undefined) headers.set(idempotencyMember, pending.key);
    const signals = [pending.ending.signal, ...(init.signal === undefined || init.signal === null ? [] : [init.signal])];
    const response = await fetch(address, { ...init, headers, signal: AbortSignal.any(signals) });
    if (response.body === null) return response;
    const { status, headers: replied } = response;
    return new Response(this.#watched(response.body, id), { status, headers: replied });
  }

  /** The same body; when it has ended, its request must have had its response. */
  #watched(body: ReadableStream<Uint8Array>, id: RequestId): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { value, done } = await reader.read();
            if (!done) return controller.enqueue(value);
            controller.close();
            void this.#expectNoMore(id, 'the server ended its answer in the middle');
          } catch (error) {
            controller.error(error);
            void this.#expectNoMore(id, error instanceof Error ? error.message : 'the connection broke');
          }
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }

  async #expectNoMore(id: RequestId, message: string): Promise<void> {
    // The last message of the body may still be on its way through the SDK's parsers.
    await afterThis();
    await afterThis();
    if (this.#pending.get(id)?.isResumable === false) this.#fail(id, message);
  }

  #failResumable(): void {
    for (const [id, { isResumable }] of this.#pending) if (isResumable) this.#fail(id, 'the connection broke');
  }

  #fail(id: RequestId, message: string): void {
    this.#take({ jsonrpc: '2.0', id, error: { code: ErrorCode.ConnectionClosed, message } });
  }

  #take(message: JSONRPCMessage): void {
    if ('id' in message && message.id !== undefined && !('method' in message)) this.#pending.delete(message.id);
    this.onmessage?.(message);
  }
}

/** The id of the request that the SDK wrote as this body. */
function requestIdIn(body: string): RequestId | undefined {
  const message = JSON.parse(body) as JSONRPCMessage;
  return isJSONRPCRequest(message) ? message.id : undefined;
}

/** The request that a notification cancels. */
function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return undefined;
  return message.params?.requestId as RequestId | undefined;
}
