import { useEngine } from '@envelop/core';
import { useGraphQLSSE } from '@graphql-yoga/plugin-graphql-sse';
import type { RequestHandler } from 'express';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { Deps } from '../../domain/deps.ts';
import { watchKey } from '../../domain/people/api-keys.ts';
import { asSpan, type Tracing } from '../../engine/tracing/tracing.ts';
import { type Authenticate, authenticateBrowser } from '../../http/authenticate/authenticate.ts';
import { createKeyCheck, createSessionCheck } from '../../http/authenticate/key-check.ts';
import { readSafeBytes, requireJsonType } from '../../http/body/json.ts';
import { findRequestId } from '../../http/context.ts';
import type { Admissions } from '../../http/limits.ts';
import type { Metrics } from '../../http/log/metrics.ts';
import { countRequest } from '../../http/reply/rate-headers.ts';
import { discardBody, securityHeaders, sendBody, sendEmpty } from '../../http/reply/reply.ts';
import type { SseStreams } from '../../http/reply/sse.ts';
import { Call, type CallPlugin, type Meters, type ServerContext, type WatchKey } from './call.ts';
import { documentLimits } from './document-limits.ts';
import { ConsoleDocuments } from './documents/console.ts';
import { DocumentRunner } from './documents/run.ts';
import { TrustedDocuments, useTrustedDocuments } from './documents/trusted.ts';
import { isForm, useMultipart } from './multipart.ts';
import { Operations } from './operations.ts';
import { errorReply, useCsrfPrevention, useErrors, useResultStream } from './plugins.ts';
import { createReservedStreams, type ReservedStream, type ReservedStreams, stopping, tokenHeader } from './reserved-streams.ts';

/** Of the cached documents together, in UTF-16 code units: each takes about a hundred bytes of memory. */
const cachedCharsMax = 500_000;
/** Longer documents are made by machines with values inside, and do not come twice. */
const cachedDocumentMaxChars = 8_192;
/** Names of root fields in a span. */
const tracedFieldsMax = 10;

export interface GraphqlOptions {
  readonly schema: GraphQLSchema;
  readonly deps: Deps;
  readonly metrics: Metrics;
  readonly streams: SseStreams;
  /** Shared with REST: they limit the process. */
  readonly admissions: Admissions;
  /** Who a key belongs to and when it ends; domain/people/api-keys.ts unless a test has its own. */
  readonly keys?: { readonly authenticate: Authenticate; readonly watch: WatchKey };
  /** Where the build of the console has printed its documents, of a test. */
  readonly consoleDocuments?: ConsoleDocuments;
  /** More plugins, of a test. */
  readonly plugins?: readonly CallPlugin[];
}

export interface GraphqlHandler {
  /**
   * Answers `/graphql`: queries, mutations, uploads, and subscriptions as plain SSE; and `/graphql/stream`: graphql-sse in both modes. A
   * request without a valid key or session is answered before its body is read.
   */
  readonly handle: RequestHandler;
  /** Runs documents that organizations have saved, for other ways in. */
  readonly documents: DocumentRunner;
  /**
   * The process is going down: ends every open stream that has no end of its own, with an error that says so. One that shows a run goes on
   * to the run's end.
   */
  stop(): void;
}

type Yoga = YogaServerInstance<ServerContext, object>;

/** The GraphQL API on HTTP, by Yoga and its plugins. */
export function createGraphqlHandler(options: GraphqlOptions): GraphqlHandler {
  const { schema, deps, metrics, admissions, keys, plugins = [] } = options;
  const operations = new Operations(deps, admissions, keys?.watch);
  const watch: WatchKey = keys?.watch ?? ((caller, onEnd) => watchKey(deps, caller, onEnd));
  const reservedStreams = createReservedStreams(admissions.subscriptions, watch, (stream) => void forget(yoga, stream));
  const trusted = new TrustedDocuments(
    deps.settings,
    options.consoleDocuments ?? new ConsoleDocuments(),
    async (orgId) => (await deps.storage.operations.savedDocuments.findAll(orgId, deps.now().getTime())).texts,
  );
  const documentCache = new LRUCache<string, DocumentNode>({
    maxSize: cachedCharsMax,
    maxEntrySize: cachedDocumentMaxChars,
    sizeCalculation: (_document, text) => text.length + 1,
  });
  const yoga: Yoga = createYoga<ServerContext, object>({
    schema,
    plugins: [
      ...plugins,
      useKey(options, reservedStreams, trusted),
      useCsrfPrevention(),
      useGraphQLSSE({ authenticate: ({ headers }) => headers.get(tokenHeader) }) as unknown as CallPlugin,
      useMultipart(deps.settings, admissions.uploads),
      useTrustedDocuments(trusted),
      useEngine({ execute: operations.execute, subscribe: operations.subscribe }),
      ...documentLimits(deps.settings),
      useErrors(),
      useResultStream(),
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
  const meters = { '/graphql': createMeters(metrics, '/graphql'), '/graphql/stream': createMeters(metrics, '/graphql/stream') };
  return {
    handle: async (req, res) => {
      const path = req.url.startsWith('/graphql/stream') ? '/graphql/stream' : '/graphql';
      const call = new Call(
        req,
        res,
        path === '/graphql/stream',
        { requestId: findRequestId(req), logger: deps.logger },
        meters[path],
      );
      if (req.method === 'OPTIONS')
        return sendEmpty(res, 204, call.errors.requestId, ['allow', 'GET, POST, PUT, DELETE, OPTIONS']);
      res.locals.errorReply = (error) => errorReply(call, error);
      try {
        await inSpan(deps.tracing, call, async () =>
          send(call, await yoga.handleRequest(toRequest(yoga, call), { call }), options),
        );
      } finally {
        for (const then of call.afterwards.toReversed()) await then();
      }
    },
    documents: new DocumentRunner(deps, schema, operations),
    stop: () => {
      operations.stop(stopping());
      reservedStreams.finishAll();
    },
  };
}

function createMeters(metrics: Metrics, path: string): Meters {
  return {
    query: metrics.meter('graphqlQuery', path),
    mutation: metrics.meter('graphqlMutation', path),
    subscription: metrics.meter('graphqlSubscription', path),
    connection: metrics.meter('graphqlConnection', path),
    none: metrics.meter('graphqlNone', path),
  };
}

/** The host is fixed: a header `host` may be no part of a URL. */
function toRequest({ fetchAPI }: Yoga, { req, res, stream }: Call): Request {
  res.once('close', () => stream.abort());
  const address = `http://localhost${req.url?.replace(/^\/graphql\/(?!stream)/, '/graphql')}`;
  const { method = 'GET', headers } = req;
  return new fetchAPI.Request(address, { method, headers: headers as Record<string, string>, signal: stream.signal });
}

/** Checks the key or the session, and then gives Yoga the body, within its limits. A form is read by `useMultipart`. */
function useKey(
  { deps, admissions, keys }: GraphqlOptions,
  reservedStreams: ReservedStreams,
  trusted: TrustedDocuments,
): CallPlugin {
  const { BODY_MAX_BYTES, BODY_IDLE_TIMEOUT_MS } = deps.settings;
  const keyCheck = createKeyCheck(deps, admissions.failedKeys, keys?.authenticate);
  const sessionCheck = createSessionCheck(deps, admissions.failedKeys);
  return {
    onRequest: async ({ request: { url, method, signal }, setRequest, fetchAPI, serverContext: { call } }) => {
      if (call.caller !== undefined) return;
      const { req, res, isStreamPath } = call;
      call.caller = await authenticateBrowser(req, keyCheck, sessionCheck);
      countRequest(deps, call.caller, res, res.locals.startedMs);
      const admission = trusted.admit(call, call.caller);
      if (admission !== undefined) await admission;
      const headers: Record<string, string> = { ...(req.headers as Record<string, string>) };
      if (isStreamPath) {
        call.measureAs('connection');
        if (method === 'POST') requireJsonType(req);
        reservedStreams.admit(call);
        // graphql-sse knows this type alone, and the token of a stream that it keeps.
        if (headers.accept?.includes('text/event-stream') === true) headers.accept = 'text/event-stream';
        if (call.reserved === undefined) delete headers[tokenHeader];
        else headers[tokenHeader] = call.reserved.token;
      }
      const hasBody = method === 'POST' && (isStreamPath || !isForm(req));
      const bytes = hasBody
        ? ((await readSafeBytes(req, BODY_MAX_BYTES, BODY_IDLE_TIMEOUT_MS)) as Uint8Array<ArrayBuffer>)
        : null;
      const body = isStreamPath && bytes !== null ? await trusted.withText(bytes, call.caller) : bytes;
      setRequest(new fetchAPI.Request(url, { method, headers, signal, body }));
    },
  };
}

/** The span has the names of fields, which are ours, and no name of the caller's choice. */
function inSpan(tracing: Tracing | undefined, call: Call, work: () => Promise<void>): Promise<void> {
  if (tracing === undefined) return work();
  const span = tracing.begin('graphql', 'internal', {});
  return asSpan(tracing, span, () =>
    work().finally(() => {
      const { kind, rootFields } = call;
      const [first = '', second] = rootFields;
      if (rootFields.length > 0) span.updateName(second === undefined ? `${kind} ${first}` : kind);
      span.setAttributes({ 'graphql.operation.type': kind, 'graphql.root_fields': rootFields.slice(0, tracedFieldsMax) });
    }),
  );
}

async function send(
  { req, res, errors, buffer, kind, results }: Call,
  response: Response,
  options: GraphqlOptions,
): Promise<void> {
  const { status, headers, body } = response;
  const start = () => options.streams.start(res, errors.requestId, ['connection', 'keep-alive']);
  if (results !== undefined) return buffer.sendResults(results, start());
  if (headers.get('content-type')?.startsWith('text/event-stream') === true && body !== null) {
    const stream = start();
    return buffer.send(body as unknown as AsyncIterable<Uint8Array>, stream);
  }
  const own = [...headers].filter(([name]) => name !== 'content-length').flat();
  const bytes = Buffer.from(await response.arrayBuffer());
  sendBody(res, status, [...own, 'x-request-id', errors.requestId, ...securityHeaders], bytes, kind !== 'mutation');
  discardBody(req, options.deps.settings.UPLOAD_MAX_BYTES);
}

/** graphql-sse lets go of a reserved stream only when it was open. */
async function forget({ fetchAPI, handleRequest }: Yoga, { call, token }: ReservedStream): Promise<void> {
  const headers = { accept: 'text/event-stream', [tokenHeader]: token };
  const response = await handleRequest(new fetchAPI.Request('http://localhost/graphql/stream', { headers }), { call });
  await response.body?.cancel();
}
