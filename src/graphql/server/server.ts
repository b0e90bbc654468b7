import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphQLSchema } from 'graphql';
import { watchKey, watchRevocation } from '../../domain/accounts/api-keys.ts';
import type { Deps } from '../../domain/deps.ts';
import type { Caller } from '../../entities/accounts/caller.ts';
import { DomainError, isWithoutKey, publicError } from '../../entities/errors.ts';
import { type Authenticate, authenticate, type KeyCheck } from '../../http/authenticate/authenticate.ts';
import { keyCheckOf } from '../../http/authenticate/key-check.ts';
import { parseJsonBody, readBytes, requireJsonType } from '../../http/body/json.ts';
import { breakOff, toldStatus } from '../../http/connections/connection.ts';
import { CallContext, requestIdOf } from '../../http/context.ts';
import type { Admissions } from '../../http/limits.ts';
import type { Metrics, RouteMeter } from '../../http/log/metrics.ts';
import { countRequest } from '../../http/reply/rate-headers.ts';
import { discardBody, securityHeaders, sendBody, sendEmpty } from '../../http/reply/reply.ts';
import type { SseStreams } from '../../http/reply/sse.ts';
import { presentError } from '../errors.ts';
import { type Call, type MeasuredAs, measuredKinds, type WatchKey } from './call.ts';
import { requirePreflight } from './csrf.ts';
import { type DocumentRequest, Documents } from './documents/documents.ts';
import { GraphiqlPage } from './graphiql.ts';
import { readMultipart } from './multipart.ts';
import { type Params, paramsOf, paramsOfUrl, searchOf } from './params.ts';
import { Quick } from './quick.ts';
import { sendErrors } from './reply.ts';
import { EventSource } from './streams/event-source.ts';
import { EventStreams } from './streams/event-streams.ts';
import { SingleConnections } from './streams/single-connection.ts';
import { YogaDoor } from './yoga.ts';

export interface GraphqlOptions {
  readonly schema: GraphQLSchema;
  readonly deps: Deps;
  readonly metrics: Metrics;
  readonly streams: SseStreams;
  /** Shared with the other API: they limit the process. */
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
 * The GraphQL face on HTTP: `/graphql` for queries, mutations, uploads and subscriptions as plain SSE, `/graphql/stream` for graphql-sse
 * in both modes, and GraphiQL for a browser. The door answers before a body is read.
 */
export function createGraphqlHandler(options: GraphqlOptions): GraphqlHandler {
  const face = new GraphqlFace(options);
  return {
    handle: (req, res, next) => {
      const target = req.url ?? '/';
      const end = target.indexOf('?');
      const path = end === -1 ? target : target.slice(0, end);
      if (path === '/graphql' || path === '/graphql/') void face.serve(req, res, false);
      else if (path === '/graphql/stream') void face.serve(req, res, true);
      else next();
    },
    stop: () => face.stop(),
  };
}

class GraphqlFace {
  readonly #deps: Deps;
  readonly #keyCheck: KeyCheck;
  readonly #watchRevocation: WatchKey;
  readonly #quick: Quick;
  readonly #streams: EventStreams;
  readonly #connections: SingleConnections;
  readonly #yoga: YogaDoor;
  readonly #documents: Documents;
  readonly #admissions: Admissions;
  readonly #page = new GraphiqlPage();
  readonly #meters: ReadonlyMap<MeasuredAs, RouteMeter>;

  constructor({ schema, deps, metrics, streams, admissions, keys }: GraphqlOptions) {
    this.#meters = new Map(measuredKinds.map((kind) => [kind, metrics.meter(meterNames[kind])]));
    this.#deps = deps;
    this.#admissions = admissions;
    this.#keyCheck = keyCheckOf(deps, admissions.failedKeys, keys?.authenticate);
    this.#documents = new Documents(schema, deps.settings);
    const watch: WatchKey = keys?.watch ?? ((caller, onEnd) => watchKey(deps, caller, onEnd));
    this.#watchRevocation = keys?.watch ?? ((caller, onEnd) => watchRevocation(deps, caller, onEnd));
    const source = new EventSource(schema);
    const parts = { deps, source, sse: streams, watchKey: watch, admissions };
    this.#quick = new Quick();
    this.#streams = new EventStreams(parts);
    this.#connections = new SingleConnections(parts);
    this.#yoga = new YogaDoor(schema);
  }

  async serve(req: IncomingMessage, res: ServerResponse, isStreamPath: boolean): Promise<void> {
    const startedMs = performance.now();
    const requestId = requestIdOf(req);
    let measuredAs: MeasuredAs = 'none';
    let call: Call | undefined;
    const errors = { requestId, logger: this.#deps.logger };
    try {
      if (req.method === 'OPTIONS') return sendEmpty(res, 204, requestId, ['allow', 'GET, POST, PUT, DELETE, OPTIONS']);
      if (!isStreamPath && asksForPage(req)) {
        measuredAs = 'page';
        return await this.#page.send(req, res);
      }
      const known = authenticate(req, this.#keyCheck);
      const caller: Caller = known instanceof Promise ? await known : known;
      countRequest(this.#deps.rates, caller, res, startedMs);
      call = { req, res, caller, requestId, errors, measuredAs };
      await (isStreamPath ? this.#stream(call) : this.#query(call));
    } catch (error) {
      this.#refuse(req, res, errors, error);
    } finally {
      this.#meters.get(call?.measuredAs ?? measuredAs)?.finished(toldStatus(res), startedMs);
    }
  }

  stop(): void {
    const reason = new DomainError('OVERLOADED', 'The service is stopping; connect again', { retryAfterSeconds: 1 });
    this.#streams.stop(reason);
    this.#connections.stopAll(JSON.stringify({ errors: [presentError(reason, { requestId: '', logger: this.#deps.logger })] }));
  }

  async #query(call: Call): Promise<void> {
    const { req } = call;
    const accept = req.headers.accept ?? '*/*';
    if (req.method === 'GET') return this.#answer(call, paramsOfUrl(searchOf(req)), accept);
    if (req.method !== 'POST') {
      call.res.setHeader('allow', 'GET, POST');
      throw new DomainError('METHOD_NOT_ALLOWED', 'GraphQL takes GET and POST');
    }
    if (isJson(req)) return this.#answer(call, paramsOf(await this.#readJson(req)), accept);
    requirePreflight(req);
    if (isMultipart(req)) return this.#upload(call, accept);
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json, or multipart/form-data with files');
  }

  async #answer(call: Call, params: Params, accept: string): Promise<void> {
    const document = this.#documents.request(params);
    const { kind } = document;
    call.measuredAs = kind ?? 'none';
    if (accept.includes('text/event-stream')) return this.#streams.answer(call, params, document);
    if (kind === 'subscription') {
      if (accept.includes('*/*')) return this.#streams.answer(call, params, document);
      throw new DomainError(
        'NOT_ACCEPTABLE',
        'A subscription is answered with a stream: send the header "Accept: text/event-stream"',
      );
    }
    const { caller } = call;
    const context = this.#contextOf(call);
    if (!document.holdsRun) {
      const reply = () => this.#reply(call, params, document, accept, context);
      return this.#admissions.requests.run(caller, () => context.signal, reply);
    }
    const stopWatching = this.#watchRevocation(caller, () => {
      context.abort(new DomainError('INVALID_API_KEY', 'The API key was revoked or has expired'));
    });
    this.#admissions.runs.enter(caller);
    try {
      await this.#reply(call, params, document, accept, context);
    } finally {
      this.#admissions.runs.leave(caller);
      stopWatching();
    }
  }

  async #reply(call: Call, params: Params, document: DocumentRequest, accept: string, context: CallContext): Promise<void> {
    const isAnswered = await this.#quick.answer(call, params, document, accept, context);
    if (!isAnswered) await this.#fallThrough(call, params, document, context);
  }

  #contextOf({ caller, requestId, res }: Call): CallContext {
    return new CallContext(this.#deps, caller, requestId, res);
  }

  async #upload(call: Call, accept: string): Promise<void> {
    const { settings } = this.#deps;
    const limits = {
      fileMaxBytes: settings.UPLOAD_MAX_BYTES,
      operationsMaxBytes: settings.BODY_MAX_BYTES,
      idleMs: settings.BODY_IDLE_TIMEOUT_MS,
    };
    const { uploads } = this.#admissions;
    uploads.enter(call.caller);
    try {
      const request = await readMultipart(call.req, limits);
      try {
        await this.#answer(call, request.params, accept);
      } finally {
        await request.dispose();
      }
    } finally {
      uploads.leave(call.caller);
    }
  }

  async #stream(call: Call): Promise<void> {
    const { req } = call;
    call.measuredAs = 'connection';
    const token = SingleConnections.tokenOf(req);
    const isStream = (req.headers.accept ?? '').includes('text/event-stream');
    if (req.method === 'PUT') return this.#connections.reserve(call);
    if (req.method === 'DELETE') return this.#connections.stop(call, token ?? '');
    if (req.method !== 'GET' && req.method !== 'POST') {
      call.res.setHeader('allow', 'GET, POST, PUT, DELETE');
      throw new DomainError('METHOD_NOT_ALLOWED', 'Event streams take GET, POST, PUT and DELETE');
    }
    if (req.method === 'GET' && token !== undefined && isStream) return this.#connections.open(call, token);
    const params = req.method === 'POST' ? paramsOf(await this.#readJson(req)) : paramsOfUrl(searchOf(req));
    const document = this.#documents.request(params);
    call.measuredAs = document.kind ?? 'none';
    if (token !== undefined && !isStream) return this.#connections.start(call, token, params, document);
    await this.#streams.answer(call, params, document);
  }

  async #readJson(req: IncomingMessage): Promise<unknown> {
    requireJsonType(req);
    return parseJsonBody(await readBytes(req, this.#deps.settings.BODY_MAX_BYTES, this.#deps.settings.BODY_IDLE_TIMEOUT_MS))
      .value;
  }

  async #fallThrough(call: Call, params: Params, document: DocumentRequest, context: CallContext): Promise<void> {
    const { req, res, requestId } = call;
    const { status, headers, text } = await this.#yoga.answer(req.method ?? 'POST', req.headers.accept, {
      call: context,
      params,
      document,
    });
    if (context.endedBy !== undefined) throw context.endedBy;
    const mayRefuse = document.kind !== 'mutation';
    sendBody(res, status, [...headers, 'x-request-id', requestId, ...securityHeaders], text, mayRefuse);
  }

  #refuse(req: IncomingMessage, res: ServerResponse, errors: Call['errors'], error: unknown): void {
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

const meterNames: Readonly<Record<MeasuredAs, string>> = {
  query: 'graphqlQuery',
  mutation: 'graphqlMutation',
  subscription: 'graphqlSubscription',
  connection: 'graphqlConnection',
  page: 'graphqlPage',
  none: 'graphqlNone',
};

/** A visit of a browser: it takes a page and has no key yet. A link may carry an operation, which the page then shows. */
function asksForPage(req: IncomingMessage): boolean {
  if (req.method !== 'GET' && req.method !== 'HEAD') return false;
  return (req.headers.accept ?? '').includes('text/html') && req.headers.authorization === undefined;
}

function isJson(req: IncomingMessage): boolean {
  return /^application\/([\w.-]+\+)?json\b/i.test(req.headers['content-type'] ?? '');
}

function isMultipart(req: IncomingMessage): boolean {
  return /^multipart\/form-data\b/i.test(req.headers['content-type'] ?? '');
}
