import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { useEngine } from '@envelop/core';
import { useGraphQLSSE } from '@graphql-yoga/plugin-graphql-sse';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { watchKey } from '../../domain/accounts/api-keys.ts';
import type { Deps } from '../../domain/deps.ts';
import { asSpan, type Tracing } from '../../engine/tracing/tracing.ts';
import { DomainError, isWithoutKey } from '../../entities/errors.ts';
import { type Authenticate, authenticate } from '../../http/authenticate/authenticate.ts';
import { keyCheckOf } from '../../http/authenticate/key-check.ts';
import { readSafeBytes, requireJsonType } from '../../http/body/json.ts';
import { breakOff, reportedStatus } from '../../http/connections/connection.ts';
import { requestIdOf } from '../../http/context.ts';
import type { Admissions } from '../../http/limits.ts';
import type { Metrics, RouteMeter } from '../../http/log/metrics.ts';
import { countRequest } from '../../http/reply/rate-headers.ts';
import { discardBody, securityHeaders, sendBody, sendEmpty, sendJson } from '../../http/reply/reply.ts';
import type { SseStreams } from '../../http/reply/sse.ts';
import { presentError, presentResult } from '../errors.ts';
import { type Call, type CallPlugin, type MeasuredAs, measuredKinds, type ServerContext, type WatchKey } from './call.ts';
import { documentLimits } from './document-limits.ts';
import { createGraphiqlPage } from './graphiql.ts';
import { useMultipart } from './multipart.ts';
import { Operations } from './operations.ts';
import { Outlet } from './outlet.ts';
import { httpOf, useCsrfPrevention, useKindNotes, usePresentedErrors, useRefusals } from './plugins.ts';
import { type ReservedStream, ReservedStreams } from './reserved-streams.ts';

/** Of the cached documents together, in UTF-16 code units: each takes about a hundred bytes of memory. */
const cachedCharsMax = 500_000;
/** Longer documents are made by machines with values inside, and do not come twice. */
const cachedDocumentMaxChars = 8_192;

export interface GraphqlOptions {
  readonly schema: GraphQLSchema;
  readonly deps: Deps;
  readonly metrics: Metrics;
  readonly streams: SseStreams;
  /** Shared with REST: they limit the process. */
  readonly admissions: Admissions;
  /** Who a key belongs to and when it ends; domain/accounts/api-keys.ts unless a test has its own. */
  readonly keys?: { readonly authenticate: Authenticate; readonly watch: WatchKey };
  /** More plugins, of a test. */
  readonly plugins?: readonly CallPlugin[];
}

export interface GraphqlHandler {
  /** Answers what is under `/graphql`; anything else goes to `next`. */
  handle(req: IncomingMessage, res: ServerResponse, next: () => void): void;
  /**
   * The process is going down: ends every open stream that has no end of its own, with an error that says so. One that shows a run goes on
   * to the run's end.
   */
  stop(): void;
}

/**
 * The GraphQL API on HTTP, by Yoga and its plugins: `/graphql` for queries, mutations, uploads and subscriptions as plain SSE,
 * `/graphql/stream` for graphql-sse in both modes, and GraphiQL for a browser. A request without a valid key is answered before its body
 * is read.
 */
export function createGraphqlHandler(options: GraphqlOptions): GraphqlHandler {
  const server = new GraphqlServer(options);
  return {
    handle: (req, res, next) => {
      const [path] = (req.url ?? '/').split('?', 1);
      if (path === '/graphql' || path === '/graphql/') void server.serve(req, res, false);
      else if (path === '/graphql/stream') void server.serve(req, res, true);
      else next();
    },
    stop: () => server.stop(),
  };
}

class GraphqlServer {
  readonly #options: GraphqlOptions;
  readonly #deps: Deps;
  readonly #operations: Operations;
  readonly #reserved: ReservedStreams;
  readonly #yoga: YogaServerInstance<ServerContext, object>;
  readonly #page = createGraphiqlPage();
  readonly #meters: ReadonlyMap<MeasuredAs, RouteMeter>;
  readonly #calls = new WeakMap<Request, Call>();

  constructor(options: GraphqlOptions) {
    const { schema, deps, metrics, admissions, keys } = options;
    this.#options = options;
    this.#deps = deps;
    this.#meters = new Map(measuredKinds.map((kind) => [kind, metrics.meter(meterNames[kind])]));
    this.#operations = new Operations(deps, admissions, keys?.watch);
    const watch: WatchKey = keys?.watch ?? ((caller, onEnd) => watchKey(deps, caller, onEnd));
    this.#reserved = new ReservedStreams(admissions.subscriptions, watch, (reserved) => void this.#forget(reserved));
    const documentCache = new LRUCache<string, DocumentNode>({
      maxSize: cachedCharsMax,
      maxEntrySize: cachedDocumentMaxChars,
      sizeCalculation: (_document, text) => text.length + 1,
    });
    this.#yoga = createYoga<ServerContext, object>({
      schema,
      plugins: [
        ...(options.plugins ?? []),
        this.#useKey(),
        useCsrfPrevention(),
        this.#useGraphqlSse(),
        useMultipart(deps.settings, admissions.uploads),
        useEngine({ execute: this.#operations.execute, subscribe: this.#operations.subscribe }),
        ...documentLimits(deps.settings),
        useKindNotes(),
        useRefusals(),
        usePresentedErrors(),
      ],
      parserAndValidationCache: { documentCache, errorCache: { get: () => undefined, set: () => undefined } },
      graphiql: false,
      maskedErrors: false,
      maxRequestBodySize: false,
      multipart: false,
      cors: false,
      landingPage: false,
      logging: false,
    });
  }

  async serve(req: IncomingMessage, res: ServerResponse, isStreamPath: boolean): Promise<void> {
    const requestId = requestIdOf(req);
    const call: Call = {
      ...{ req, res, requestId, isStreamPath, startedMs: performance.now(), afterwards: [] },
      ...{ stream: new AbortController(), outlet: new Outlet() },
      errors: { requestId, logger: this.#deps.logger },
      ...{ caller: undefined, reserved: undefined, refusal: undefined, measuredAs: 'none', rootFields: [] },
    };
    const { tracing } = this.#deps;
    if (tracing !== undefined) noteRoute(call);
    try {
      if (req.method === 'OPTIONS') sendEmpty(res, 204, requestId, ['allow', 'GET, POST, PUT, DELETE, OPTIONS']);
      else if (!isStreamPath && asksForPage(req)) {
        call.measuredAs = 'page';
        await this.#page.send(req, res);
      } else await (tracing === undefined ? this.#answer(call) : this.#trace(tracing, call));
    } catch (error) {
      this.#refuse(call, [error]);
    } finally {
      for (const then of call.afterwards.toReversed()) await then();
      this.#meters.get(call.measuredAs)?.finished(reportedStatus(res), call.startedMs);
    }
  }

  stop(): void {
    this.#operations.stop(new DomainError('OVERLOADED', 'The service is stopping; connect again', { retryAfterSeconds: 1 }));
    this.#reserved.finishAll();
  }

  /** The span has the names of fields, which are ours, and no name of the caller's choice. */
  #trace(tracing: Tracing, call: Call): Promise<void> {
    const span = tracing.begin('graphql', 'internal', {});
    return asSpan(tracing, span, async () => {
      try {
        await this.#answer(call);
      } finally {
        const { measuredAs: kind, rootFields } = call;
        const [first = '', second] = rootFields;
        if (rootFields.length > 0) span.updateName(second === undefined ? `${kind} ${first}`.trim() : kind);
        span.setAttributes({ 'graphql.operation.type': kind, 'graphql.root_fields': rootFields.slice(0, tracedFieldsMax) });
      }
    });
  }

  async #answer(call: Call): Promise<void> {
    const { req, res, requestId } = call;
    const response = await this.#yoga.handleRequest(this.#requestOf(call), { call });
    if (call.refusal !== undefined) return this.#refuse(call, call.refusal);
    if (response.headers.get('content-type')?.startsWith('text/event-stream') === true && response.body !== null) {
      const stream = this.#options.streams.start(res, requestId, ['connection', 'keep-alive']);
      const { outlet } = call.reserved ?? call;
      await outlet.send(response.body as unknown as AsyncIterable<Uint8Array>, stream);
      return;
    }
    const headers = [...response.headers].filter(([name]) => name !== 'content-length').flat();
    const body = Buffer.from(await response.arrayBuffer());
    sendBody(
      res,
      response.status,
      [...headers, 'x-request-id', requestId, ...securityHeaders],
      body,
      call.measuredAs !== 'mutation',
    );
    discardBody(req, this.#deps.settings.UPLOAD_MAX_BYTES);
  }

  /** The host that Yoga sees is fixed: a header `host` may be no part of a URL. */
  #requestOf(call: Call, method = call.req.method ?? 'GET'): Request {
    const { req, res, isStreamPath, stream } = call;
    const headers: Record<string, string> = { ...(req.headers as Record<string, string>) };
    // graphql-sse knows this type alone.
    if (isStreamPath && headers.accept?.includes('text/event-stream') === true) headers.accept = 'text/event-stream';
    const init = { method, headers, ...(isStreamPath ? { signal: stream.signal } : {}) };
    if (isStreamPath) {
      res.once('close', () => {
        if (!res.writableFinished) stream.abort();
      });
    }
    const { Request } = this.#yoga.fetchAPI;
    const address = `http://localhost${req.url?.replace(/^\/graphql\/(?!stream)/, '/graphql') ?? '/graphql'}`;
    if (method === 'GET' || method === 'HEAD') return new Request(address, init);
    return new Request(address, { ...init, body: Readable.from(this.#bodyOf(call)) as never, duplex: 'half' } as RequestInit);
  }

  /** Read when Yoga asks for it: behind the key. */
  async *#bodyOf(call: Call): AsyncGenerator<Buffer> {
    const { BODY_MAX_BYTES, BODY_IDLE_TIMEOUT_MS } = this.#deps.settings;
    try {
      yield await readSafeBytes(call.req, BODY_MAX_BYTES, BODY_IDLE_TIMEOUT_MS);
    } catch (error) {
      call.refusal = [error];
      throw error;
    }
  }

  #useKey(): CallPlugin {
    const { deps, admissions, keys } = this.#options;
    const keyCheck = keyCheckOf(deps, admissions.failedKeys, keys?.authenticate);
    return {
      onRequest: async ({ request, serverContext: { call } }) => {
        this.#calls.set(request, call);
        if (call.caller !== undefined) return;
        call.caller = await authenticate(call.req, keyCheck);
        countRequest(deps.rates, call.caller, call.res, call.startedMs);
        if (!call.isStreamPath) return;
        call.measuredAs = 'connection';
        if (call.req.method === 'POST') requireJsonType(call.req);
        this.#reserved.admit(call);
      },
    };
  }

  #useGraphqlSse(): CallPlugin {
    return useGraphQLSSE({
      authenticate: ({ raw }) => this.#calls.get(raw)?.reserved?.token ?? null,
      // graphql-sse queues what it gets, so it gets the next result when the reader has taken those before.
      onNext: async (_context, { raw }, result) => {
        const call = this.#calls.get(raw);
        if (call === undefined) return undefined;
        if (call.measuredAs !== 'subscription') await (call.reserved ?? call).outlet.written;
        return presentResult(result as never, call.errors);
      },
    }) as unknown as CallPlugin;
  }

  /** graphql-sse lets go of a reserved stream only when it was open. */
  async #forget(reserved: ReservedStream): Promise<void> {
    const headers = { accept: 'text/event-stream' };
    const request = new this.#yoga.fetchAPI.Request('http://localhost/graphql/stream', { headers });
    const response = await this.#yoga.handleRequest(request, { call: { ...reserved.call, reserved } });
    await response.body?.cancel();
  }

  #refuse({ req, res, errors: context, requestId }: Call, errors: readonly unknown[]): void {
    if (errors.some(isWithoutKey)) this.#deps.audit.refusals.noteWithoutKey();
    if (res.headersSent) {
      for (const error of errors) presentError(error, context);
      if (!res.writableEnded) breakOff(res);
      return;
    }
    const { status, headers } = httpOf(errors[0]);
    const body = JSON.stringify({ errors: errors.map((error) => presentError(error, context)) });
    sendJson(res, status, body, requestId, Object.entries(headers ?? {}).flat());
    discardBody(req, this.#deps.settings.UPLOAD_MAX_BYTES);
  }
}

/** Names of root fields in a span. */
const tracedFieldsMax = 10;

const meterNames: Readonly<Record<MeasuredAs, string>> = {
  query: 'graphqlQuery',
  mutation: 'graphqlMutation',
  subscription: 'graphqlSubscription',
  connection: 'graphqlConnection',
  page: 'graphqlPage',
  none: 'graphqlNone',
};

/** For the span of the request, which may end before the kind of its operation is known. */
function noteRoute(call: Call): void {
  const { locals } = call.res as ServerResponse & { locals?: Express.Locals };
  if (locals === undefined) return;
  locals.traced = {
    path: call.isStreamPath ? '/graphql/stream' : '/graphql',
    get operation() {
      return meterNames[call.measuredAs];
    },
  };
}

/** A visit of a browser: it takes a page and has no key yet. A link may carry an operation, which the page then shows. */
function asksForPage(req: IncomingMessage): boolean {
  if (req.method !== 'GET' && req.method !== 'HEAD') return false;
  return (req.headers.accept ?? '').includes('text/html') && req.headers.authorization === undefined;
}
