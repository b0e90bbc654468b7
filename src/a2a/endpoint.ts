import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { Deps } from '../domain/deps.ts';
import { keyEnded, watchRevocation } from '../domain/people/api-keys.ts';
import { DomainError } from '../entities/ground/errors.ts';
import { authenticate, type KeyCheck } from '../http/authenticate/authenticate.ts';
import { createKeyCheck } from '../http/authenticate/key-check.ts';
import { readJsonBody } from '../http/body/json.ts';
import { CallContext, findRequestId } from '../http/context.ts';
import { errorHeaders, type MadeError, showError } from '../http/errors.ts';
import type { Admissions } from '../http/limits.ts';
import type { Metrics } from '../http/log/metrics.ts';
import { countRequest } from '../http/reply/rate-headers.ts';
import { headersWithCaching, jsonType, sendBody, sendEmpty, sendJson } from '../http/reply/reply.ts';
import type { SseStreams } from '../http/reply/sse.ts';
import { makeTag, sendUnchanged } from '../http/reply/static.ts';
import { isObject } from '../lib/json/json.ts';
import { httpStatus, TaskError, toRpcError } from '../wire/a2a/errors.ts';
import { isMethod, type MethodName, methodParams, protocolVersion } from '../wire/a2a/params.ts';
import { findPublicAgent, toCard } from './card.ts';
import { extendedCard, type MethodCall, type MethodResult, methods, runMethods } from './methods.ts';

export interface A2aEndpointParts {
  readonly deps: Deps;
  readonly metrics: Metrics;
  readonly admissions: Admissions;
  readonly streams: SseStreams;
}

const path = '/a2a/:aiId';
const cardPath = '/a2a/:aiId/.well-known/agent-card.json';
/** How long a card is good, in seconds. */
const cardAge = 60;

/** The A2A protocol: the card of an agent, and JSON-RPC. */
export function createA2aEndpoint(parts: A2aEndpointParts): RequestHandler {
  const endpoint = new Endpoint(parts);
  return Router({ strict: true, caseSensitive: true })
    .all(cardPath, endpoint.card)
    .all([path, `${path}/`], endpoint.call);
}

/** A message of JSON-RPC that asks for something. */
interface RpcRequest {
  readonly id: string | number;
  readonly method: MethodName;
  readonly params: unknown;
}

class Endpoint {
  readonly #parts: A2aEndpointParts;
  readonly #keys: KeyCheck;

  constructor(parts: A2aEndpointParts) {
    this.#parts = parts;
    this.#keys = createKeyCheck(parts.deps, parts.admissions.failedKeys);
  }

  /** Without a key, only of agents that show themselves to everybody. */
  readonly card: RequestHandler = async (req, res) => {
    const { deps, metrics } = this.#parts;
    res.locals.meter = metrics.meter('a2a-card', cardPath);
    if (isAnswered(req, res, 'GET')) return;
    const agentId = String(req.params.aiId);
    const isOpen = req.headers.authorization === undefined && this.#keys.isNamed?.(req) !== true;
    const card = isOpen
      ? await toCard(deps, await findPublicAgent(deps, agentId), false)
      : await extendedCard(await this.#context(req, res), agentId);
    const text = JSON.stringify(card);
    const etag = makeTag(text);
    const safe = headersWithCaching(`${isOpen ? 'public' : 'private'}, max-age=${cardAge}`);
    const headers = ['x-request-id', findRequestId(req), ...safe, 'etag', etag, 'vary', 'authorization'];
    if (!sendUnchanged(req, res, etag, headers)) sendBody(res, 200, ['content-type', jsonType, ...headers], text);
  };

  readonly call: RequestHandler = async (req, res) => {
    const { deps, metrics } = this.#parts;
    res.locals.meter = metrics.meter('a2a', path);
    let id: string | number | null = null;
    res.locals.errorReply = (error) => toErrorReply(deps, req, error, id);
    if (isAnswered(req, res, 'POST')) return;
    const context = await this.#context(req, res);
    const { BODY_MAX_BYTES, BODY_IDLE_TIMEOUT_MS } = deps.settings;
    const { value } = await readJsonBody(req, BODY_MAX_BYTES, BODY_IDLE_TIMEOUT_MS);
    id = readId(value);
    requireVersion(req);
    const request = readRequest(value, id);
    const call = { context, agentId: String(req.params.aiId), requestId: request.id, params: request.params };
    await deps.storage.db.runFor(
      () => context.caller,
      () => this.#run(request.method, call, res),
    );
  };

  async #context(req: Request, res: Response): Promise<CallContext> {
    const { deps } = this.#parts;
    const caller = await authenticate(req, this.#keys);
    countRequest(deps, caller, res, res.locals.startedMs);
    return new CallContext(deps, caller, ['agent'], findRequestId(req), res);
  }

  async #run(method: MethodName, call: MethodCall, res: Response): Promise<void> {
    if (!runMethods.has(method)) return this.#send(await methods[method](call), call, res);
    const { runs } = this.#parts.admissions;
    const { deps, caller } = call.context;
    runs.enter(caller);
    const stopWatching = watchRevocation(deps, caller, () => call.context.abort(keyEnded()));
    try {
      await this.#send(await methods[method](call), call, res);
    } finally {
      stopWatching();
      runs.leave(caller);
    }
  }

  async #send(result: MethodResult, call: MethodCall, res: Response): Promise<void> {
    if ('encoder' in result) return this.#stream(result, call, res);
    const text = JSON.stringify({ jsonrpc: '2.0', id: call.requestId, result: result.result });
    sendJson(res, 200, text, call.context.requestId);
  }

  async #stream({ encoder, events }: Extract<MethodResult, { readonly encoder: unknown }>, call: MethodCall, res: Response) {
    const { context } = call;
    const stream = this.#parts.streams.start(res, context.requestId, []);
    try {
      await stream.write(encoder.first());
      for await (const batch of events) {
        if (stream.isClosed) return;
        const text = encoder.encode(batch);
        if (text !== '') await stream.write(text);
      }
      stream.end(context.endedBy === undefined ? '' : encoder.fail(context.endedBy));
    } catch (error) {
      stream.end(encoder.fail(context.endedBy ?? error));
      if (!context.signal.aborted) throw error;
    }
  }
}

/** @returns true when the request asked only which methods there are. @throws DomainError METHOD_NOT_ALLOWED. */
function isAnswered(req: Request, res: Response, method: 'GET' | 'POST'): boolean {
  if (req.method === method || (method === 'GET' && req.method === 'HEAD')) return false;
  const allowed = `${method}, OPTIONS`;
  if (req.method !== 'OPTIONS') {
    res.setHeader('allow', allowed);
    throw new DomainError('METHOD_NOT_ALLOWED', `This path takes ${method}, not ${req.method}`);
  }
  sendEmpty(res, 204, findRequestId(req), ['allow', allowed]);
  return true;
}

/** A request without a version is one of 0.3, as the protocol says. @throws TaskError VERSION_NOT_SUPPORTED. */
function requireVersion(req: Request): void {
  const named = req.headers['a2a-version'] ?? new URL(req.url, 'http://localhost').searchParams.get('A2A-Version') ?? '';
  const version = String(named).trim();
  if (version === protocolVersion || version.startsWith(`${protocolVersion}.`)) return;
  const wanted = version === '' ? 'A request without A2A-Version is of version 0.3, which' : `Version ${version.slice(0, 20)}`;
  throw new TaskError(
    'VERSION_NOT_SUPPORTED',
    `${wanted} is not spoken here: send A2A-Version: ${protocolVersion}`,
    'A2A-Version',
  );
}

function readId(body: unknown): string | number | null {
  const { id } = isObject(body) ? body : {};
  return typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id)) ? id : null;
}

/** @throws TaskError INVALID_REQUEST or METHOD_NOT_FOUND. */
function readRequest(body: unknown, id: string | number | null): RpcRequest {
  const refuse = (message: string, param: string) => new TaskError('INVALID_REQUEST', message, param);
  if (!isObject(body))
    throw new TaskError('INVALID_REQUEST', 'The body must be one request of JSON-RPC 2.0; batches are not taken');
  const { jsonrpc, method, params } = body;
  if (jsonrpc !== '2.0') throw refuse('jsonrpc must be "2.0"', 'jsonrpc');
  if (id === null) throw refuse('id must be a string or a number: every request is answered', 'id');
  if (typeof method !== 'string') throw refuse('method must be a string', 'method');
  if (!isMethod(method)) {
    const message = `method ${method.slice(0, 50)} is none of ${Object.keys(methodParams).join(', ')}`;
    throw new TaskError('METHOD_NOT_FOUND', message, 'method');
  }
  if (params !== undefined && params !== null && !isObject(params)) throw refuse('params must be an object', 'params');
  return { id, method, params };
}

function toErrorReply({ logger }: Deps, req: Request, error: unknown, id: string | number | null): MadeError {
  const shown = showError(error, logger, findRequestId(req));
  return {
    status: httpStatus(error, shown),
    text: JSON.stringify({ jsonrpc: '2.0', id, error: toRpcError(error, shown) }),
    headers: Object.entries(errorHeaders(shown)).flat(),
  };
}
