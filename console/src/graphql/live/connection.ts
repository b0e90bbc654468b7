import { type Client, createClient } from 'graphql-sse';

export interface RefusedOperation {
  readonly message: string;
  readonly code: string | undefined;
}

export interface ConnectionHandlers {
  readonly next: (data: unknown) => void;
  /** The service refused the operation, or ended it with an error. */
  readonly refused: (error: RefusedOperation) => void;
  readonly complete: () => void;
  /** The stream broke; the operation may be sent again. */
  readonly broken: () => void;
}

/** After this many heartbeats without a byte the stream counts as broken. */
const heartbeatsMissed = 3;
/** A busy service may take this long to reply, however short its heartbeats are. */
const replyMinMs = 4_000;
/** Statuses of replies that say no. Any other, such as 404 for a stream that is gone or 503, may be different next time. */
const refusals = [400, 401, 403, 422];
/** Codes of errors that say: not now. A service that stops says so too, and another one takes its place. */
const passingCodes: readonly (string | undefined)[] = ['OVERLOADED', 'RATE_LIMIT_EXCEEDED'];

/** The reserved event stream of graphql-sse on which all operations of a browser run. A new one is made after each break. */
export class StreamConnection {
  readonly #client: Client<true>;
  readonly #silenceMs: number;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #breakOff: (reason: Error) => void = () => undefined;

  /** @param onOpen  called when the stream is open. */
  constructor(heartbeatMs: number, onOpen: () => void) {
    this.#silenceMs = heartbeatMs * heartbeatsMissed;
    this.#client = createClient({
      url: new URL('/graphql/stream', location.origin).href,
      singleConnection: true,
      lazy: true,
      retryAttempts: 0,
      credentials: 'same-origin',
      headers: { 'graphql-require-preflight': 'true' },
      fetchFn: (input: RequestInfo, init?: RequestInit) => this.#fetch(input, init),
      on: { connected: onOpen },
    });
    // Without a network some browsers keep the stream as it was, and it would count as silent much later only.
    addEventListener('offline', () => this.#breakOff(new Error('The browser is offline.')));
  }

  /** Sends an operation. @returns a function that ends it. */
  begin(
    operation: { readonly query: string; readonly variables: Readonly<Record<string, unknown>> },
    handlers: ConnectionHandlers,
  ): () => void {
    return this.#client.subscribe(operation, {
      next: ({ data, errors }) => {
        const [first] = errors ?? [];
        if (data !== undefined && data !== null) handlers.next(data);
        else if (first !== undefined) refuse(first, handlers);
      },
      error: (error) => void this.#sort(error, handlers),
      complete: handlers.complete,
    });
  }

  close(): void {
    clearTimeout(this.#silence);
    this.#client.dispose();
  }

  /** Tells a refusal, which comes again with every try, from a break. */
  async #sort(error: unknown, handlers: ConnectionHandlers): Promise<void> {
    const { refused, broken } = handlers;
    if (Array.isArray(error)) {
      const [first] = error as readonly { readonly message: string }[];
      refuse(first ?? { message: 'The service refused the subscription.' }, handlers);
      return;
    }
    const response = toResponse(error);
    if (response === undefined || !refusals.includes(response.status)) broken();
    else if (response.status === 401) refused({ message: 'The session has ended.', code: 'UNAUTHENTICATED' });
    else {
      const { errors } = (await response.json().catch(() => ({}))) as {
        readonly errors?: readonly { readonly message: string }[];
      };
      const [first] = errors ?? [];
      const message = first?.message ?? `The service answered with status ${response.status}.`;
      refused({ message, code: getCode(first ?? {}) });
    }
  }

  /** Breaks the stream itself off when nothing arrives on it, not even a heartbeat: a proxy may keep a connection whose other end is gone. */
  async #fetch(input: RequestInfo, init?: RequestInit): Promise<Response> {
    const response = await this.#answered(input, init);
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (!isStream || response.body === null) return response;
    const reader = response.body.getReader();
    const watched = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          const { done, value } = await this.#orSilent(reader.read());
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          controller.error(error);
          void reader.cancel().catch(() => undefined);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    });
    return new Response(watched, { status: response.status, headers: response.headers });
  }

  /** The reply to a request; a request that gets none is broken off, with the connection that it waits on. */
  async #answered(input: RequestInfo, init: RequestInit = {}): Promise<Response> {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(new Error('No reply arrived.')), Math.max(this.#silenceMs, replyMinMs));
    const signals = [abort.signal, ...(init.signal instanceof AbortSignal ? [init.signal] : [])];
    try {
      return await fetch(input, { ...init, signal: AbortSignal.any(signals) });
    } finally {
      clearTimeout(timer);
    }
  }

  #orSilent<Value>(reading: Promise<Value>): Promise<Value> {
    clearTimeout(this.#silence);
    return new Promise((resolve, reject) => {
      this.#breakOff = reject;
      this.#silence = setTimeout(() => reject(new Error('No heartbeat arrived.')), this.#silenceMs);
      reading.then(resolve, reject).finally(() => clearTimeout(this.#silence));
    });
  }
}

function refuse(error: { readonly message: string }, { refused, broken }: ConnectionHandlers): void {
  const code = getCode(error);
  if (passingCodes.includes(code)) broken();
  else refused({ message: error.message, code });
}

function getCode(error: object): string | undefined {
  const extensions: unknown = Reflect.get(error, 'extensions');
  const code = typeof extensions === 'object' && extensions !== null ? Reflect.get(extensions, 'code') : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** graphql-sse throws its NetworkError with the response that it got. */
function toResponse(error: unknown): Response | undefined {
  const response = typeof error === 'object' && error !== null ? Reflect.get(error, 'response') : undefined;
  return response instanceof Response ? response : undefined;
}
