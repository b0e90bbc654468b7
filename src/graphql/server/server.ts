import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphQLSchema } from 'graphql';
import { watchKey, watchRevocation } from '../../domain/accounts/api-keys.ts';
import type { Deps } from '../../domain/deps.ts';
import { asSpan, type Tracing } from '../../engine/tracing/tracing.ts';
import type { Caller } from '../../entities/accounts/caller.ts';
import { DomainError, isWithoutKey, publicError } from '../../entities/errors.ts';
import { type Authenticate, authenticate, type KeyCheck } from '../../http/authenticate/authenticate.ts';
import { keyCheckOf } from '../../http/authenticate/key-check.ts';
import { breakOff, reportedStatus } from '../../http/connections/connection.ts';
import { requestIdOf } from '../../http/context.ts';
import type { Admissions } from '../../http/limits.ts';
import type { Metrics, RouteMeter } from '../../http/log/metrics.ts';
import { countRequest } from '../../http/reply/rate-headers.ts';
import { discardBody, sendEmpty } from '../../http/reply/reply.ts';
import type { SseStreams } from '../../http/reply/sse.ts';
import { type ErrorContext, presentError } from '../errors.ts';
import { type Call, type MeasuredAs, measuredKinds, type WatchKey } from './call.ts';
import { Documents } from './documents/documents.ts';
import { Executor } from './executor.ts';
import { createGraphiqlPage } from './graphiql.ts';
import { sendErrors } from './reply.ts';
import { RequestReader } from './request-reader.ts';
import { EventStreams } from './streams/event-streams.ts';
import { createProtocol } from './streams/protocol.ts';
import { SingleConnections } from './streams/single-connections.ts';
import { Turns } from './turns.ts';
import { YogaHandler } from './yoga.ts';

export interface GraphqlOptions {
  readonly schema: GraphQLSchema;
  readonly deps: Deps;
  readonly metrics: Metrics;
  readonly streams: SseStreams;
  /** Shared with REST: they limit the process. */
  readonly admissions: Admissions;
  /** Who a key belongs to and when it ends; domain/accounts/api-keys.ts unless a test has its own. */
  readonly keys?: { readonly authenticate: Authenticate; readonly watch: WatchKey };
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
 * The GraphQL API on HTTP: `/graphql` for queries, mutations, uploads and subscriptions as plain SSE, `/graphql/stream` for graphql-sse in
 * both modes, and GraphiQL for a browser. A request without a valid key is answered before its body is read.
 */
export function createGraphqlHandler(options: GraphqlOptions): GraphqlHandler {
  const server = new GraphqlServer(options);
  return {
    handle: (req, res, next) => {
      const target = req.url ?? '/';
      const end = target.indexOf('?');
      const path = end === -1 ? target : target.slice(0, end);
      if (path === '/graphql' || path === '/graphql/') void server.serve(req, res, false);
      else if (path === '/graphql/stream') void server.serve(req, res, true);
      else next();
    },
    stop: () => server.stop(),
  };
}

class GraphqlServer {
  readonly #deps: Deps;
  readonly #keyCheck: KeyCheck;
  readonly #streams: EventStreams;
  readonly #connections: SingleConnections;
  readonly #yoga: YogaHandler;
  readonly #page = createGraphiqlPage();
  readonly #meters: ReadonlyMap<MeasuredAs, RouteMeter>;

  constructor({ schema, deps, metrics, streams: sse, admissions, keys }: GraphqlOptions) {
    const { settings } = deps;
    this.#meters = new Map(measuredKinds.map((kind) => [kind, metrics.meter(meterNames[kind])]));
    this.#deps = deps;
    this.#keyCheck = keyCheckOf(deps, admissions.failedKeys, keys?.authenticate);
    const watchOf = (watch: typeof watchKey): WatchKey => keys?.watch ?? ((caller, onEnd) => watch(deps, caller, onEnd));
    const reader = new RequestReader(new Documents(schema, settings), settings, admissions.uploads);
    const turns = new Turns(deps, admissions, watchOf(watchRevocation));
    const executor = new Executor(schema);
    const streamParts = { deps, executor, sse, protocol: createProtocol(), watchKey: watchOf(watchKey), admissions };
    const streams = new EventStreams(streamParts);
    const parts = { schema, reader, executor, turns, streams };
    this.#streams = streams;
    this.#connections = new SingleConnections(streamParts, streams, reader);
    this.#yoga = new YogaHandler(parts);
  }

  async serve(req: IncomingMessage, res: ServerResponse, isStreamPath: boolean): Promise<void> {
    const startedMs = performance.now();
    const requestId = requestIdOf(req);
    const errors = { requestId, logger: this.#deps.logger };
    let measuredAs: MeasuredAs = 'none';
    let call: Call | undefined;
    if (this.#deps.tracing !== undefined) {
      noteRoute(res, () => call?.measuredAs ?? measuredAs, isStreamPath ? '/graphql/stream' : '/graphql');
    }
    try {
      if (req.method === 'OPTIONS') return sendEmpty(res, 204, requestId, ['allow', 'GET, POST, PUT, DELETE, OPTIONS']);
      if (!isStreamPath && asksForPage(req)) {
        measuredAs = 'page';
        return await this.#page.send(req, res);
      }
      const known = authenticate(req, this.#keyCheck);
      const caller: Caller = known instanceof Promise ? await known : known;
      countRequest(this.#deps.rates, caller, res, startedMs);
      const accept = req.headers.accept ?? '*/*';
      call = { req, res, caller, requestId, accept, errors, measuredAs, document: undefined, dispose: undefined };
      const { tracing } = this.#deps;
      await (tracing === undefined ? this.#run(call, isStreamPath) : this.#trace(tracing, call, isStreamPath));
    } catch (error) {
      this.#refuse(req, res, errors, error);
    } finally {
      this.#meters.get(call?.measuredAs ?? measuredAs)?.finished(reportedStatus(res), startedMs);
    }
  }

  stop(): void {
    this.#streams.stop(new DomainError('OVERLOADED', 'The service is stopping; connect again', { retryAfterSeconds: 1 }));
    this.#connections.finishAll();
  }

  async #run(call: Call, isStreamPath: boolean): Promise<void> {
    await (isStreamPath ? this.#connections.answer(call) : this.#answer(call));
  }

  /** The span gets its name once the document is read. It has the names of fields, which are ours, and no name of the caller's choice. */
  #trace(tracing: Tracing, call: Call, isStreamPath: boolean): Promise<void> {
    const span = tracing.begin('graphql', 'internal', {});
    return asSpan(tracing, span, async () => {
      try {
        await this.#run(call, isStreamPath);
      } finally {
        if (call.document !== undefined) {
          const { kind, rootFields } = call.document;
          const [first = '', second] = rootFields;
          if (kind !== undefined) span.updateName(second === undefined ? `${kind} ${first}`.trim() : kind);
          span.setAttributes({ 'graphql.operation.type': kind, 'graphql.root_fields': rootFields.slice(0, tracedFieldsMax) });
        }
      }
    });
  }

  async #answer(call: Call): Promise<void> {
    const { method } = call.req;
    if (method !== 'GET' && method !== 'POST') {
      call.res.setHeader('allow', 'GET, POST');
      throw new DomainError('METHOD_NOT_ALLOWED', 'GraphQL takes GET and POST');
    }
    try {
      await this.#yoga.answer(call);
    } finally {
      await call.dispose?.();
    }
  }

  #refuse(req: IncomingMessage, res: ServerResponse, errors: ErrorContext, error: unknown): void {
    if (isWithoutKey(error)) this.#deps.audit.refusals.noteWithoutKey();
    if (res.headersSent) {
      presentError(error, errors);
      if (!res.writableEnded) breakOff(res);
      return;
    }
    const { status, detail } = publicError(error);
    if (status === 401) res.setHeader('www-authenticate', 'Bearer');
    if (detail.retryAfterSeconds !== undefined)
      res.setHeader('retry-after', String(Math.max(1, Math.ceil(detail.retryAfterSeconds))));
    sendErrors(res, status, [error], errors);
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
function noteRoute(res: ServerResponse & { locals?: Express.Locals }, kind: () => MeasuredAs, path: string): void {
  if (res.locals === undefined) return;
  res.locals.traced = {
    path,
    get operation() {
      return meterNames[kind()];
    },
  };
}

/** A visit of a browser: it takes a page and has no key yet. A link may carry an operation, which the page then shows. */
function asksForPage(req: IncomingMessage): boolean {
  if (req.method !== 'GET' && req.method !== 'HEAD') return false;
  return (req.headers.accept ?? '').includes('text/html') && req.headers.authorization === undefined;
}
