import { errorOf, type GraphqlResult, ParleyError, resultOf } from './errors.ts';
import { type FollowOptions, follow } from './follow.ts';
import type { TypedDocumentString } from './generated/graphql.ts';
import type { components, paths } from './generated/rest.ts';
import { bodyOf, readEvents } from './sse.ts';
import { type UploadOptions, upload } from './upload.ts';

export interface ClientOptions {
  /** The address of the service, such as `https://parley.example.com`. */
  readonly url: string;
  readonly apiKey: string;
  /** Default: the `fetch` of the platform. */
  readonly fetch?: typeof fetch;
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
/** The paths that have this method. */
export type PathOf<M extends Method> = { [P in keyof paths]: paths[P] extends { [Key in M]: object } ? P : never }[keyof paths];
type Operation<M extends Method, P extends PathOf<M>> = paths[P][M & keyof paths[P]];
type JsonOf<Content> = Content extends { content: { 'application/json': infer Json } } ? Json : undefined;
type ParameterOf<O, Place extends string> = O extends { parameters: { [Key in Place]?: infer Given } }
  ? NonNullable<Given>
  : never;

/** What a request of an operation takes. */
export interface RestRequest<O> {
  readonly path?: ParameterOf<O, 'path'>;
  readonly query?: ParameterOf<O, 'query'>;
  readonly body?: O extends { requestBody?: infer Body } ? JsonOf<NonNullable<Body>> : never;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}
/** The JSON of a good reply; undefined where the reply has no body. */
export type RestReply<O> = O extends { responses: infer Replies } ? JsonOf<Replies[keyof Replies & (200 | 201 | 202)]> : never;

export type ChatEvent = components['schemas']['ChatStreamEvent'];
export type ChatMessage = components['schemas']['SendMessageInput'];

/** A client of one Parley. Has no state besides its options. */
export class ParleyClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = { ...options, url: options.url.replace(/\/+$/, '') };
  }

  /**
   * Calls an operation of the REST API: `client.rest('get', '/api/v1/ais/{aiId}', { path: { aiId } })`.
   *
   * @throws ParleyError when the service refuses.
   */
  async rest<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    request: RestRequest<Operation<M, P>> = {},
  ): Promise<RestReply<Operation<M, P>>> {
    const filled = fillPath(path as string, request.path);
    const reply = await this.#fetch(method, `${filled}${queryOf(request.query)}`, request);
    const text = await reply.text();
    return (text === '' ? undefined : JSON.parse(text)) as RestReply<Operation<M, P>>;
  }

  /** Runs a query or a mutation. @throws ParleyError of the first error of the result. */
  async graphql<Result, Variables>(
    document: TypedDocumentString<Result, Variables>,
    variables: Variables,
    signal?: AbortSignal,
  ): Promise<Result> {
    const body = { query: document.toString(), variables };
    const reply = await this.#fetch('post', '/graphql', { body, ...(signal === undefined ? {} : { signal }) });
    return resultOf<Result>((await reply.json()) as GraphqlResult);
  }

  /**
   * Runs a mutation whose variables hold files, and tells how far the request is.
   *
   * @throws ParleyError when the service refuses.
   */
  upload<Result, Variables>(
    document: TypedDocumentString<Result, Variables>,
    variables: Variables,
    options: UploadOptions = {},
  ): Promise<Result> {
    const { url, apiKey, fetch: send = fetch } = this.#options;
    const target = { url: `${url}/graphql`, headers: { authorization: `Bearer ${apiKey}` }, fetch: send };
    return upload(target, document.toString(), variables, options);
  }

  /**
   * Follows a subscription until it ends, also when connections break or fall silent: it is asked for again after pauses that grow, and goes on behind
   * the last event where the document has the variable `after`. Leaving the loop ends it.
   *
   * @throws ParleyError when the service refuses for good.
   */
  follow<Result, Variables>(
    document: TypedDocumentString<Result, Variables>,
    variables: Variables,
    options: FollowOptions<Result, Variables> = {},
  ): AsyncGenerator<Result, void, undefined> {
    const headers = { accept: 'text/event-stream' };
    return follow(
      (query, given, signal) => this.#fetch('post', '/graphql', { body: { query, variables: given }, headers, signal }),
      { document, variables },
      options,
    );
  }

  /** Follows a subscription on one connection until it ends. Leaving the loop ends it. @throws ParleyError of the first error of a result. */
  async *subscribe<Result, Variables>(
    document: TypedDocumentString<Result, Variables>,
    variables: Variables,
    signal?: AbortSignal,
  ): AsyncGenerator<Result, void, undefined> {
    const body = { query: document.toString(), variables };
    const headers = { accept: 'text/event-stream' };
    const reply = await this.#fetch('post', '/graphql', { body, headers, ...(signal === undefined ? {} : { signal }) });
    for await (const { event, data } of readEvents(bodyOf(reply))) {
      if (event === 'complete') return;
      if (event === 'next') yield resultOf<Result>(JSON.parse(data) as GraphqlResult);
    }
    throw new ParleyError('The stream broke off');
  }

  /**
   * Sends a message to a chat and yields the events of its answer up to `done`. A connection that breaks after the first event is
   * opened anew where it broke, at most `retriesMax` times in a row.
   *
   * @throws ParleyError when the service refuses; the error of `fetch` when it cannot be reached.
   */
  async *streamChat(
    chatId: string,
    message: ChatMessage,
    { signal, retriesMax = 3 }: { readonly signal?: AbortSignal; readonly retriesMax?: number } = {},
  ): AsyncGenerator<ChatEvent, void, undefined> {
    const chat = `/api/v1/chats/${encodeURIComponent(chatId)}`;
    const own = signal === undefined ? {} : { signal };
    let lastId = '';
    let retries = 0;
    for (;;) {
      try {
        const reply =
          lastId === ''
            ? await this.#fetch('post', `${chat}/messages`, { body: { ...message, stream: true }, ...own })
            : await this.#fetch('get', `${chat}/runs/${encodeURIComponent(runOf(lastId))}/events`, {
                headers: { 'last-event-id': lastId },
                ...own,
              });
        for await (const { id, data } of readEvents(bodyOf(reply))) {
          lastId = id;
          retries = 0;
          const event = JSON.parse(data) as ChatEvent;
          yield event;
          if (event.type === 'done') return;
        }
      } catch (error) {
        if (error instanceof ParleyError || signal?.aborted === true || lastId === '' || retries >= retriesMax) throw error;
      }
      if (lastId === '' || retries >= retriesMax) throw new ParleyError('The stream broke off');
      retries += 1;
    }
  }

  async #fetch(
    method: Method,
    path: string,
    {
      body,
      headers,
      signal,
    }: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>>; readonly signal?: AbortSignal },
  ): Promise<Response> {
    const { url, apiKey, fetch: send = fetch } = this.#options;
    const reply = await send(`${url}${path}`, {
      method: method.toUpperCase(),
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (reply.ok) return reply;
    throw errorOf({ status: reply.status, header: (name) => reply.headers.get(name) }, await reply.text());
  }
}

function fillPath(path: string, values: object | undefined): string {
  const given = (values ?? {}) as Readonly<Record<string, unknown>>;
  return path.replace(/\{(\w+)\}/g, (_all, name: string) => {
    if (given[name] === undefined) throw new TypeError(`the path ${path} needs ${name}`);
    return encodeURIComponent(String(given[name]));
  });
}

function queryOf(values: object | undefined): string {
  const given = Object.entries(values ?? {}).filter(([, value]) => value !== undefined && value !== null);
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

/** The id of an event is `<runId>:<sequence>`. */
function runOf(eventId: string): string {
  return eventId.slice(0, eventId.lastIndexOf(':'));
}
