import { heldFetch } from './apis/held-fetch.ts';

/** A complete reply. `body` is parsed if it is JSON, else text. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into bodies of any shape; what they find is what they check.
  readonly body: any;
}
export interface SseFrame {
  readonly event: string | undefined;
  readonly id: string | undefined;
  readonly data: string;
}
export interface GraphQLReply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly data: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly errors: readonly any[] | undefined;
}
export type RequestHeaders = Readonly<Record<string, string>>;

/** A client of the service: `ann.patch(path, body)`. Without a key: `nobody`. */
export class TestClient {
  readonly key: string | undefined;
  readonly #url: () => string;

  /** @param url  called for each request: a restarted service has another address. */
  constructor(url: () => string, key: string | undefined) {
    this.#url = url;
    this.key = key;
  }

  get url(): string {
    return this.#url();
  }

  get(path: string, headers?: RequestHeaders): Promise<Reply> {
    return this.call('GET', path, undefined, headers);
  }
  post(path: string, body?: unknown, headers?: RequestHeaders): Promise<Reply> {
    return this.call('POST', path, body, headers);
  }
  put(path: string, body?: unknown, headers?: RequestHeaders): Promise<Reply> {
    return this.call('PUT', path, body, headers);
  }
  patch(path: string, body?: unknown, headers?: RequestHeaders): Promise<Reply> {
    return this.call('PATCH', path, body, headers);
  }
  delete(path: string, body?: unknown, headers?: RequestHeaders): Promise<Reply> {
    return this.call('DELETE', path, body, headers);
  }

  /** Any method. A FormData, text or bytes are sent as they are; anything else as JSON. */
  async call(method: string, path: string, body?: unknown, headers: RequestHeaders = {}): Promise<Reply> {
    const response = await this.fetch(method.toUpperCase(), path, body, headers);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, headers: response.headers, body: isJson && text !== '' ? JSON.parse(text) : text };
  }

  async graphql(query: string, variables: Readonly<Record<string, unknown>> = {}): Promise<GraphQLReply> {
    const reply = await this.post('/graphql', { query, variables });
    return { status: reply.status, data: reply.body.data, errors: reply.body.errors };
  }

  /** The data of a GraphQL document. @throws Error where the reply has errors. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  async ask(query: string, variables: Readonly<Record<string, unknown>> = {}): Promise<any> {
    const { data, errors } = await this.graphql(query, variables);
    if (errors !== undefined) throw new Error(JSON.stringify(errors));
    return data;
  }

  /** Yields the frames of an SSE reply until its end. Leaving the loop closes the connection. @throws Error when the reply is not a stream. */
  async *sse(method: string, path: string, body?: unknown, headers: RequestHeaders = {}): AsyncGenerator<SseFrame> {
    const controller = new AbortController();
    try {
      const accept = { accept: 'text/event-stream', ...headers };
      const response = await this.fetch(method.toUpperCase(), path, body, accept, controller.signal);
      if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true || response.body === null) {
        throw new Error(`not a stream: ${response.status} ${await response.text()}`);
      }
      yield* frames(response.body);
    } finally {
      controller.abort();
    }
  }

  /** All frames of an SSE reply. */
  async stream(path: string, body?: unknown, headers: RequestHeaders = {}): Promise<SseFrame[]> {
    return Array.fromAsync(this.sse('POST', path, body, headers));
  }

  /** A GraphQL subscription over plain SSE: the results it yields, each `{data, errors}`. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  async *subscribe(query: string, variables: Readonly<Record<string, unknown>> = {}): AsyncGenerator<any> {
    for await (const frame of this.sse('POST', '/graphql', { query, variables })) {
      if (frame.event === 'complete') return;
      if (frame.data !== '') yield JSON.parse(frame.data);
    }
  }

  /** A stream that it opens stays open, read or not, until the signal fires or the service ends it. */
  fetch(method: string, path: string, body: unknown, headers: RequestHeaders, signal?: AbortSignal): Promise<Response> {
    const isRaw = body instanceof FormData || typeof body === 'string' || body instanceof Uint8Array;
    return heldFetch(this.url + path, {
      method,
      headers: {
        ...(this.key === undefined ? {} : { authorization: `Bearer ${this.key}` }),
        ...(body === undefined || isRaw ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isRaw ? (body as BodyInit) : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }
}

export async function* frames(body: ReadableStream<Uint8Array>): AsyncGenerator<SseFrame> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
      const frame = parseFrame(rest.slice(0, end));
      rest = rest.slice(end + 2);
      if (frame !== undefined) yield frame;
    }
  }
}

/** Undefined for a comment, such as a heartbeat. */
function parseFrame(text: string): SseFrame | undefined {
  const lines = text.split('\n').filter((line) => !line.startsWith(':'));
  if (lines.length === 0) return undefined;
  const valuesOf = (name: string) =>
    lines
      .filter((line) => line === name || line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).replace(/^ /, ''));
  return { event: valuesOf('event').at(-1), id: valuesOf('id').at(-1), data: valuesOf('data').join('\n') };
}
