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
const methods = 'GET, POST, DELETE, OPTIONS';
const bodyMaxBytes = 4 * 1024 * 1024;
const sessionHeader = 'mcp-session-id';

/** The protocol over streamable HTTP, without sessions: the id that a client gets only tells its calls from those of other clients. */
export function createMcpEndpoint(parts: McpEndpointParts): McpEndpoint {
  const endpoint = new Endpoint(parts);
  const router = Router({ strict: true, caseSensitive: true }).all(path, endpoint.handle);
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
    if (req.method === 'POST') return this.#post(context, req.headers, res, (await this.#body(req)) ?? {});
    // No session is kept, so there is none to end.
    if (req.method === 'DELETE') return sendEmpty(res, 204, context.requestId);
    if (req.method === 'GET') return this.#listen(context, req.headers.accept, res);
    res.setHeader('allow', methods);
    throw new DomainError('METHOD_NOT_ALLOWED', `This path takes ${methods}, not ${req.method}`);
  };

  stop(): void {
    for (const context of this.#listening) context.abort();
    this.#calls.close();
  }

  async #body(req: Parameters<typeof readJsonBody>[0]): Promise<unknown> {
    const { BODY_MAX_BYTES, BODY_IDLE_TIMEOUT_MS } = this.#parts.deps.settings;
    return (await readJsonBody(req, Math.min(bodyMaxBytes, BODY_MAX_BYTES), BODY_IDLE_TIMEOUT_MS)).value;
  }

  async #listen(context: CallContext, accept: string | undefined, res: Reply): Promise<void> {
    if (accept?.includes('text/event-stream') !== true) {
      throw new DomainError('NOT_ACCEPTABLE', 'GET is for event streams: send Accept: text/event-stream');
    }
    const { admissions, streams } = this.#parts;
    admissions.subscriptions.enter(context.caller);
    this.#listening.add(context);
    try {
      await listen(context, res, streams);
    } finally {
      this.#listening.delete(context);
      admissions.subscriptions.leave(context.caller);
    }
  }

  async #post(context: CallContext, given: GivenHeaders, res: Reply, message: unknown): Promise<void> {
    if (Array.isArray(message))
      throw new DomainError('INVALID_VALUE', 'A request holds one message; batches are not part of the protocol any more');
    const { method } = isObject(message) ? message : {};
    const isNew = method === 'initialize';
    const session = isNew ? randomUUID() : sessionIn(given);
    if (method === 'notifications/cancelled') this.#cancel(context.caller, session, message);
    const isStream = method === 'tools/call';
    const { answerMessage } = await import('./server.ts');
    const stopWatching = watchRevocation(this.#parts.deps, context.caller, () => context.abort(keyEnded()));
    const { response, close } = await answerMessage(message, headersOf(given), isStream, this.#requestContext(context, session));
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
