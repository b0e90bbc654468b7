import { randomUUID } from 'node:crypto';
import { type Response as Reply, type RequestHandler, Router } from 'express';
import { keyEnded, watchRevocation } from '../domain/accounts/api-keys.ts';
import type { Deps } from '../domain/deps.ts';
import type { Caller } from '../entities/accounts/caller.ts';
import { DomainError } from '../entities/errors.ts';
import { authenticate } from '../http/authenticate/authenticate.ts';
import { keyCheckOf } from '../http/authenticate/key-check.ts';
import { readJsonBody } from '../http/body/json.ts';
import { CallContext, requestIdOf } from '../http/context.ts';
import type { Admissions } from '../http/limits.ts';
import type { Metrics } from '../http/log/metrics.ts';
import { countRequest } from '../http/reply/rate-headers.ts';
import { sendEmpty, sendJson } from '../http/reply/reply.ts';
import type { SseStreams } from '../http/reply/sse.ts';
import { parseCorsOrigins } from '../lib/cors-origins.ts';
import { isObject } from '../lib/json.ts';
import { CallsUnderWay, callKey } from './calls.ts';
import { listen } from './listen.ts';
import type { McpRequestContext } from './server.ts';

export interface McpEndpointParts {
  readonly deps: Deps;
  readonly metrics: Metrics;
  readonly streams: SseStreams;
  readonly admissions: Admissions;
  readonly version: string;
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
 * The protocol over streamable HTTP. Nothing is kept for a session while it lives: its id tells the calls of a client from those of others. A session
 * that its client has ended is not served any more.
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

  constructor(parts: McpEndpointParts) {
    this.#parts = parts;
    this.#calls = new CallsUnderWay(parts.deps.storage.signals);
  }

  readonly handle: RequestHandler = async (req, res) => {
    const { deps, admissions, metrics } = this.#parts;
    res.locals.meter = metrics.meter('mcp', path);
    requireOrigin(req.headers.origin, req.headers.host, deps);
    if (req.method === 'OPTIONS') return sendEmpty(res, 204, requestIdOf(req), ['allow', methods]);
    const caller = await authenticate(req, keyCheckOf(deps, admissions.failedKeys));
    countRequest(deps.rates, caller, res, res.locals.startedMs);
    const context = new CallContext(deps, caller, requestIdOf(req), res);
    const session = sessionIn(req.headers);
    if (session !== '') await this.#requireLive(caller, session);
    if (req.method === 'POST') {
      const body = (await this.#body(req)) ?? {};
      return this.#post({ context, headers: req.headers, session, only: agentIn(req.params) }, res, body);
    }
    if (req.method === 'DELETE') return this.#endSession(context, session, res);
    if (req.method === 'GET') return this.#listen(context, session, req.headers.accept, res);
    res.setHeader('allow', methods);
    throw new DomainError('METHOD_NOT_ALLOWED', `This path takes ${methods}, not ${req.method}`);
  };

  stop(): void {
    for (const context of this.#listening) context.abort();
    this.#calls.close();
  }

  /** @throws DomainError NOT_FOUND: the client begins a new session then. Cost: one statement. */
  async #requireLive({ keyId }: Caller, session: string): Promise<void> {
    if (!(await this.#parts.deps.storage.endedSessions.has(sessionKey(keyId, session)))) return;
    throw new DomainError('NOT_FOUND', 'This session has ended; send initialize to begin another one');
  }

  async #endSession({ deps, caller, requestId }: CallContext, session: string, res: Reply): Promise<void> {
    if (session === '') throw new DomainError('INVALID_VALUE', 'DELETE ends the session that the header Mcp-Session-Id names');
    await deps.storage.endedSessions.add(sessionKey(caller.keyId, session));
    this.#calls.cancel(streamKey(caller.keyId, session));
    sendEmpty(res, 204, requestId);
  }

  async #body(req: Parameters<typeof readJsonBody>[0]): Promise<unknown> {
    const { BODY_MAX_BYTES, BODY_IDLE_TIMEOUT_MS } = this.#parts.deps.settings;
    return (await readJsonBody(req, Math.min(bodyMaxBytes, BODY_MAX_BYTES), BODY_IDLE_TIMEOUT_MS)).value;
  }

  async #listen(context: CallContext, session: string, accept: string | undefined, res: Reply): Promise<void> {
    if (accept?.includes('text/event-stream') !== true) {
      throw new DomainError('NOT_ACCEPTABLE', 'GET is for event streams: send Accept: text/event-stream');
    }
    const { admissions, streams } = this.#parts;
    admissions.subscriptions.enter(context.caller);
    this.#listening.add(context);
    const stream = this.#calls.begin(streamKey(context.caller.keyId, session));
    if (session !== '') stream.cancelled.addEventListener('abort', () => context.abort(), { once: true });
    try {
      await listen(context, res, streams);
    } finally {
      stream.end();
      this.#listening.delete(context);
      admissions.subscriptions.leave(context.caller);
    }
  }

  async #post({ context, headers, session: given, only }: Posted, res: Reply, message: unknown): Promise<void> {
    if (Array.isArray(message))
      throw new DomainError('INVALID_VALUE', 'A request holds one message; batches are not part of the protocol any more');
    const { method, id } = isObject(message) ? message : {};
    const isNew = method === 'initialize';
    const session = isNew ? randomUUID() : given;
    if (method === 'notifications/cancelled') this.#cancel(context.caller, session, message);
    const isStream = method === 'tools/call';
    const { answerMessage, unspokenVersion } = await import('./server.ts');
    const version = headers['mcp-protocol-version'];
    const refusal = typeof version === 'string' ? unspokenVersion(version, id) : undefined;
    if (refusal !== undefined) return sendJson(res, 400, JSON.stringify(refusal), context.requestId);
    const stopWatching = watchRevocation(this.#parts.deps, context.caller, () => context.abort(keyEnded()));
    const request = { ...this.#requestContext(context, session), ...(only === undefined ? {} : { only }) };
    const { response, close } = await answerMessage(message, headersOf(headers), isStream, request);
    try {
      await this.#send(context, res, response, isNew ? [sessionHeader, session] : []);
    } finally {
      stopWatching();
      await close();
    }
  }

  #requestContext(context: CallContext, session: string): McpRequestContext {
    const { version, admissions } = this.#parts;
    const { caller } = context;
    return {
      context,
      version,
      beginCall: (requestId) => this.#calls.begin(callKey(caller.keyId, session, requestId)),
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

  /** Without a session, nobody knows whose request the number is. */
  #cancel({ keyId }: Caller, session: string, message: unknown): void {
    const params = isObject(message) && isObject(message.params) ? message.params : {};
    const { requestId } = params;
    if (session === '' || (typeof requestId !== 'string' && typeof requestId !== 'number')) return;
    this.#calls.cancel(callKey(keyId, session, requestId));
  }

  async #send(context: CallContext, res: Reply, response: Response, headers: readonly string[]): Promise<void> {
    const { requestId } = context;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (response.body === null) return sendEmpty(res, response.status, requestId, headers);
    if (!isStream) return sendJson(res, response.status, await response.text(), requestId, headers);
    const stream = this.#parts.streams.start(res, requestId, headers);
    stream.flush();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const leave = () => void reader.cancel().catch(() => undefined);
    context.signal.addEventListener('abort', leave, { once: true });
    for (;;) {
      const { value, done } = await reader.read();
      if (done || stream.isClosed) break;
      await stream.write(value);
    }
    stream.end('');
  }
}

type GivenHeaders = Parameters<RequestHandler>[0]['headers'];

interface Posted {
  readonly context: CallContext;
  readonly headers: GivenHeaders;
  readonly session: string;
  /** The id of the one agent that the address names. */
  readonly only: string | undefined;
}

function agentIn({ id }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof id === 'string' ? id : undefined;
}

function sessionKey(keyId: string, session: string): string {
  return `mcp-session ${callKey(keyId, session, 'session')}`;
}

/** Of the event stream of a session. Numbers of calls are no such text. */
function streamKey(keyId: string, session: string): string {
  return callKey(keyId, session, 'event stream of the session');
}

function sessionIn(headers: GivenHeaders): string {
  const given = headers[sessionHeader];
  return typeof given === 'string' && given.length <= 128 ? given : '';
}

function headersOf(given: GivenHeaders): Headers {
  const headers = new Headers({ 'content-type': 'application/json' });
  for (const name of ['accept', 'mcp-protocol-version']) {
    const value = given[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  return headers;
}

/**
 * Refuses web pages of other origins, so that a page cannot reach a service on its visitor's machine by a name of its own.
 *
 * @throws DomainError FORBIDDEN
 */
function requireOrigin(origin: string | undefined, host: string | undefined, { settings, publicUrl }: Deps): void {
  if (origin === undefined) return;
  const allowed = parseCorsOrigins(settings.CORS_ORIGINS);
  if (allowed === '*' || allowed?.has(origin) === true) return;
  const originHost = URL.parse(origin)?.host ?? '';
  if (origin === URL.parse(publicUrl())?.origin || (originHost === host && isLocal(originHost))) return;
  throw new DomainError('FORBIDDEN', 'Pages of this origin may not call the service; CORS_ORIGINS allows others');
}

function isLocal(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(host);
}
