import { randomUUID } from 'node:crypto';
import { type Response as Reply, type Request, type RequestHandler, Router } from 'express';
import type { Deps } from '../domain/deps.ts';
import { keyEnded, watchKey, watchRevocation } from '../domain/people/api-keys.ts';
import { authenticateApp, isFamiliarApp } from '../domain/people/apps.ts';
import { DomainError, type PublicError } from '../entities/ground/errors.ts';
import type { Caller } from '../entities/people/caller.ts';
import { authenticate } from '../http/authenticate/authenticate.ts';
import { challenge } from '../http/authenticate/challenge.ts';
import { createKeyCheck } from '../http/authenticate/key-check.ts';
import { readJsonBody } from '../http/body/json.ts';
import { CallContext, findRequestId } from '../http/context.ts';
import { errorHeaders, type MadeError, showError } from '../http/errors.ts';
import type { Admissions } from '../http/limits.ts';
import type { Metrics } from '../http/log/metrics.ts';
import { countRequest, rateHeaders } from '../http/reply/rate-headers.ts';
import { securityHeaders, sendEmpty } from '../http/reply/reply.ts';
import { isObject } from '../lib/json/json.ts';
import { parseCorsOrigins } from '../lib/settings/cors-origins.ts';
import { CallsUnderWay, callKey } from './calls.ts';
import type { SavedDocuments } from './documents.ts';
import type { ProtocolEras } from './eras.ts';
import type { McpCall } from './server.ts';

export interface McpEndpointParts {
  readonly deps: Deps;
  readonly metrics: Metrics;
  readonly admissions: Admissions;
  readonly version: string;
  /** What organizations have saved. */
  readonly documents: SavedDocuments;
}

export interface McpEndpoint {
  readonly handle: RequestHandler;
  /** Ends the streams that wait for changes. */
  stop(): void;
}

const path = '/mcp';
/** Serves the one agent that the address names. */
const agentPath = '/mcp/agents/:id';
const methods = 'GET, POST, DELETE, OPTIONS';
const bodyMaxBytes = 4 * 1024 * 1024;
const sessionHeader = 'mcp-session-id';

/**
 * The protocol over streamable HTTP, in both eras. Nothing is kept for a session while it lives: its id tells the calls of a client from those of
 * others. A session that its client has ended is not served any more.
 */
export function createMcpEndpoint(parts: McpEndpointParts): McpEndpoint {
  const endpoint = new Endpoint(parts);
  const router = Router({ strict: true, caseSensitive: true }).all([path, agentPath], endpoint.handle);
  return { handle: router, stop: () => endpoint.stop() };
}

class Endpoint {
  readonly #parts: McpEndpointParts;
  readonly #calls: CallsUnderWay;
  readonly #listening = new Set<CallContext>();
  #eras: Promise<ProtocolEras> | undefined;

  constructor(parts: McpEndpointParts) {
    this.#parts = parts;
    this.#calls = new CallsUnderWay(parts.deps.storage.signals);
  }

  readonly handle: RequestHandler = async (req, res) => {
    const { deps, metrics } = this.#parts;
    res.locals.meter = metrics.meter('mcp', path);
    if (req.method === 'POST') res.locals.errorReply = (error) => toErrorReply(deps, req, error);
    requireOrigin(req.headers.origin, req.headers.host, deps);
    if (req.method === 'OPTIONS') return sendEmpty(res, 204, findRequestId(req), ['allow', methods]);
    const caller = await this.#authenticate(req);
    countRequest(deps, caller, res, res.locals.startedMs);
    const context = new CallContext(deps, caller, ['agents'], findRequestId(req), res);
    const session = sessionIn(req.headers);
    if (session !== '') await this.#requireLive(caller, session);
    if (req.method === 'POST') return this.#post(context, req, res, session, (await this.#body(req)) ?? {});
    if (req.method === 'DELETE') return this.#endSession(context, session, res);
    if (req.method === 'GET') {
      if (req.headers.accept?.includes('text/event-stream') === true) return this.#listen(context, req, res, session, undefined);
      throw new DomainError('NOT_ACCEPTABLE', 'GET is for event streams: send Accept: text/event-stream');
    }
    res.setHeader('allow', methods);
    throw new DomainError('METHOD_NOT_ALLOWED', `This path takes ${methods}, not ${req.method}`);
  };

  /** By a key, or by a token of OAuth for this address. Who has neither is told where to get one. */
  async #authenticate(req: Request): Promise<Caller> {
    const { deps, admissions } = this.#parts;
    const [ownPath = ''] = req.url.split('?');
    const keys = createKeyCheck(deps, admissions.failedKeys);
    const check = {
      ...keys,
      lookUp: (secret: string) => authenticateApp(deps, secret, `${deps.publicUrl()}${ownPath}`),
      isFamiliar: (secret: string) => isFamiliarApp(deps, secret),
    };
    try {
      return await authenticate(req, check);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'INVALID_API_KEY') throw error;
      const hasToken = req.headers.authorization !== undefined;
      throw new DomainError(error.code, error.message, { challenge: challenge(deps.publicUrl(), ownPath, hasToken) });
    }
  }

  stop(): void {
    for (const context of this.#listening) context.abort();
    this.#calls.close();
    void this.#eras?.then((eras) => eras.stop());
  }

  /** @throws DomainError NOT_FOUND: the client begins a new session then. Cost: one statement. */
  async #requireLive({ keyId }: Caller, session: string): Promise<void> {
    if (!(await this.#parts.deps.storage.people.endedSessions.has(sessionKey(keyId, session)))) return;
    throw new DomainError('NOT_FOUND', 'This session has ended; send initialize to begin another one');
  }

  async #endSession({ deps, caller, requestId }: CallContext, session: string, res: Reply): Promise<void> {
    if (session === '') throw new DomainError('INVALID_VALUE', 'DELETE ends the session that the header Mcp-Session-Id names');
    await deps.storage.people.endedSessions.add(sessionKey(caller.keyId, session));
    this.#calls.cancel(streamKey(caller.keyId, session));
    sendEmpty(res, 204, requestId);
  }

  async #body(req: Request): Promise<unknown> {
    const { BODY_MAX_BYTES, BODY_IDLE_TIMEOUT_MS } = this.#parts.deps.settings;
    return (await readJsonBody(req, Math.min(bodyMaxBytes, BODY_MAX_BYTES), BODY_IDLE_TIMEOUT_MS)).value;
  }

  async #post(context: CallContext, req: Request, res: Reply, session: string, message: unknown): Promise<void> {
    if (Array.isArray(message))
      throw new DomainError('INVALID_VALUE', 'A request holds one message; batches are not part of the protocol any more');
    const { method } = isObject(message) ? message : {};
    if (method === 'subscriptions/listen') return this.#listen(context, req, res, session, message);
    if (method === 'notifications/cancelled') this.#cancel(context.caller, session, message);
    const stopWatching = watchRevocation(context.deps, context.caller, () => context.abort(keyEnded()));
    try {
      await this.#answer(context, req, res, method === 'initialize' ? randomUUID() : session, message);
    } finally {
      stopWatching();
    }
  }

  /** Keeps a stream open on which the client is told of changes: that of a session, or of a request. It ends with the key. */
  async #listen(context: CallContext, req: Request, res: Reply, session: string, message: unknown): Promise<void> {
    const { admissions } = this.#parts;
    const { deps, caller } = context;
    admissions.subscriptions.enter(caller);
    this.#listening.add(context);
    const stream = this.#calls.begin(streamKey(caller.keyId, session));
    if (session !== '') stream.cancelled.addEventListener('abort', () => context.abort(), { once: true });
    const stopWatching = watchKey(deps, caller, () => context.abort(keyEnded()));
    try {
      await this.#answer(context, req, res, session, message);
    } finally {
      stopWatching();
      stream.end();
      this.#listening.delete(context);
      admissions.subscriptions.leave(caller);
    }
  }

  async #answer(context: CallContext, req: Request, res: Reply, session: string, message: unknown): Promise<void> {
    const { requestId } = context;
    const call = this.#call(context, req, session, message, res);
    const isNew = call.method === 'initialize';
    const headers = [
      ...securityHeaders,
      ...rateHeaders(res),
      'x-request-id',
      requestId,
      ...(isNew ? [sessionHeader, session] : []),
    ];
    for (let index = 0; index < headers.length; index += 2) res.setHeader(headers[index] ?? '', headers[index + 1] ?? '');
    const eras = await this.#loadEras();
    await context.deps.storage.db.runFor(
      () => context.caller,
      () => eras.serve(req, res, message, call),
    );
  }

  #call(context: CallContext, req: Request, session: string, message: unknown, res: Reply): McpCall {
    const { version, admissions, documents } = this.#parts;
    const agentId = req.params.id;
    const { caller } = context;
    const { method, id } = isObject(message) ? message : {};
    const requestId = isRequestId(id) ? id : null;
    return {
      context,
      version,
      method: typeof method === 'string' ? method : undefined,
      id: requestId,
      documents: {
        list: () => documents.list(caller),
        has: (name) => documents.has(caller, name),
        run: (name, variables) => documents.run({ caller, res, name, variables }),
      },
      only: typeof agentId === 'string' ? agentId : undefined,
      begin: () => this.#calls.begin(callKey(caller.keyId, session, requestId ?? '')),
      async whileRunning(work) {
        admissions.runs.enter(caller);
        try {
          return await work();
        } finally {
          admissions.runs.leave(caller);
        }
      },
    };
  }

  /** The SDK is loaded with the first request. */
  #loadEras(): Promise<ProtocolEras> {
    const { storage, settings } = this.#parts.deps;
    this.#eras ??= import('./eras.ts').then((module) => new module.ProtocolEras(storage.signals, settings.SSE_HEARTBEAT_MS));
    return this.#eras;
  }

  /** Without a session, nobody knows whose request the number is. */
  #cancel({ keyId }: Caller, session: string, message: unknown): void {
    const params = isObject(message) && isObject(message.params) ? message.params : {};
    const { requestId } = params;
    if (session === '' || !isRequestId(requestId)) return;
    this.#calls.cancel(callKey(keyId, session, requestId));
  }
}

/** A request that is refused before its method is known: an error of JSON-RPC, with the code and the status that the other APIs have. */
function toErrorReply({ logger }: Deps, req: Request, error: unknown): MadeError {
  const shown = showError(error, logger, findRequestId(req));
  const data = { code: shown.code.toLowerCase() };
  return {
    status: shown.status,
    text: JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: toRpcCode(shown), message: shown.message, data } }),
    headers: Object.entries(errorHeaders(shown)).flat(),
  };
}

/** What the protocol has no code for, such as a key or a limit, has one of the codes that JSON-RPC leaves to servers. */
function toRpcCode({ code, status }: PublicError): number {
  if (code === 'INVALID_JSON') return -32700;
  if (status === 400 || status === 413 || status === 415) return -32600;
  return status < 500 || status === 503 ? -32000 : -32603;
}

function isRequestId(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

function sessionKey(keyId: string, session: string): string {
  return `mcp-session ${callKey(keyId, session, 'session')}`;
}

/** Of the event stream of a session. Numbers of calls are no such text. */
function streamKey(keyId: string, session: string): string {
  return callKey(keyId, session, 'event stream of the session');
}

function sessionIn(headers: Request['headers']): string {
  const id = headers[sessionHeader];
  return typeof id === 'string' && id.length <= 128 ? id : '';
}

/**
 * Refuses web pages of other origins, so that a page cannot reach a service on its visitor's machine by a name of its own.
 *
 * @throws DomainError FORBIDDEN
 */
function requireOrigin(origin: string | undefined, host: string | undefined, { settings, publicUrl }: Deps): void {
  if (origin === undefined) return;
  const allowedOrigins = parseCorsOrigins(settings.CORS_ORIGINS);
  if (allowedOrigins === '*' || allowedOrigins?.has(origin) === true) return;
  const originHost = URL.parse(origin)?.host ?? '';
  if (origin === URL.parse(publicUrl())?.origin || (originHost === host && isLocal(originHost))) return;
  throw new DomainError('FORBIDDEN', 'Pages of this origin may not call the service; CORS_ORIGINS allows others');
}

function isLocal(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(host);
}
