import express, { type NextFunction, type Request, type RequestHandler, type Response, Router } from 'express';
import type { Deps } from '../domain/deps.ts';
import { DomainError, isWithoutKey, type PublicError } from '../entities/ground/errors.ts';
import type { Caller } from '../entities/people/caller.ts';
import { authenticate } from '../http/authenticate/authenticate.ts';
import { createKeyCheck } from '../http/authenticate/key-check.ts';
import { readJsonBody } from '../http/body/json.ts';
import { findRequestId, toOrigin } from '../http/context.ts';
import { errorHeaders, showError } from '../http/errors.ts';
import type { Admissions } from '../http/limits.ts';
import type { Metrics } from '../http/log/metrics.ts';
import { countRequest, rateHeaders } from '../http/reply/rate-headers.ts';
import { discardBody, securityHeaders, sendBody } from '../http/reply/reply.ts';
import { hasMembers } from '../lib/json/json.ts';
import { normalizeBody } from './normalize.ts';
import type { ScimContext } from './resources.ts';

export interface ScimEndpointParts {
  readonly deps: Deps;
  readonly metrics: Metrics;
  readonly admissions: Admissions;
}

const path = '/scim/v2';
const scimJson = 'application/scim+json; charset=utf-8';
const bodyMaxBytes = 1024 * 1024;
const queryMaxLength = 2_000;
const operationsMax = 1_000;
const valuesMax = 1_000;
const allValuesMax = 5_000;
const pathLengthMax = 1_000;

declare global {
  namespace Express {
    interface Locals {
      /** Who calls SCIM, and with which service. */
      scim?: ScimContext;
    }
  }
}

/**
 * SCIM 2.0 (RFC 7643, RFC 7644) for identity providers. The key, its scope, rates and the size of the body are checked here, before the library's routers
 * see a request.
 */
export function createScimEndpoint({ deps, metrics, admissions }: ScimEndpointParts): RequestHandler {
  const keys = createKeyCheck(deps, admissions.failedKeys);
  let routers: Promise<RequestHandler> | undefined;
  const handle: RequestHandler = async (req, res, next) => {
    res.locals.meter = metrics.meter('scim', path);
    try {
      await answer(req, res, next);
    } catch (error) {
      sendFailure(deps, req, res, error);
    }
  };
  async function answer(req: Request, res: Response, next: NextFunction): Promise<void> {
    const caller = await authenticate(req, keys);
    countRequest(deps, caller, res, res.locals.startedMs);
    requireScim(deps, caller, toOrigin(deps, req));
    if (req.url.length > queryMaxLength)
      throw new DomainError('INVALID_VALUE', `An address has at most ${queryMaxLength} characters`);
    const hasBody = req.method === 'POST' || req.method === 'PUT' || req.method === 'PATCH';
    const limit = Math.min(bodyMaxBytes, deps.settings.BODY_MAX_BYTES);
    const body = hasBody ? (await readJsonBody(req, limit, deps.settings.BODY_IDLE_TIMEOUT_MS)).value : undefined;
    requireFewOperations(body);
    const query = Object.fromEntries(new URL(req.url, 'http://localhost').searchParams);
    routers ??= loadRouters(deps);
    const serve = await routers;
    const headers = ['x-request-id', findRequestId(req), ...securityHeaders, ...rateHeaders(res)];
    for (let at = 0; at < headers.length; at += 2) res.setHeader(headers[at] ?? '', headers[at + 1] ?? '');
    res.locals.scim = { deps, caller, ...toOrigin(deps, req) };
    // Express reads both anew at each look otherwise; the routers write numbers into the query.
    Object.defineProperty(req, 'query', { value: query, configurable: true });
    // The body has been read: without a length the reader of the routers waits for none.
    delete req.headers['content-length'];
    delete req.headers['transfer-encoding'];
    const normal = normalizeBody(req.method, /^\/Groups(?:[/?]|$)/.test(req.url) ? 'Group' : 'User', body);
    Object.defineProperty(req, 'body', { value: normal.body, configurable: true, writable: true });
    // Success, as the standard has it: the whole resource, which is as it was.
    if (normal.isWithoutEffect) req.method = 'GET';
    const then = (error: unknown) => (error === undefined ? next() : sendFailure(deps, req, res, error));
    deps.storage.db.runFor(
      () => caller,
      () => serve(req, res, then),
    );
  }
  return Router({ strict: true, caseSensitive: true }).use(path, handle);
}

/** Loads the library with the first request. */
async function loadRouters(deps: Deps): Promise<RequestHandler> {
  const [{ SCIMMYRouters }, { configure, declareResources, listResources }] = await Promise.all([
    import('scimmy-routers'),
    import('./resources.ts'),
  ]);
  declareResources();
  const routers = new SCIMMYRouters({
    type: 'bearer',
    // Every request has been authenticated.
    handler: () => '',
    context: (req) => req.res?.locals.scim,
    baseUri: () => deps.publicUrl(),
  });
  configure('https://datatracker.ietf.org/doc/html/rfc7644');
  const app = express().disable('x-powered-by').disable('etag');
  const list =
    (kind: 'Users' | 'Groups'): RequestHandler =>
    async (req, res, next) => {
      try {
        const context = res.locals.scim;
        if (context === undefined) throw new Error('a request of SCIM has no caller');
        res.setHeader('content-type', scimJson);
        res.send(await listResources(kind, req.query, context));
      } catch (error) {
        next(error);
      }
    };
  const refuse: RequestHandler = () => {
    throw new DomainError('NOT_FOUND', 'This service has no such endpoint of SCIM');
  };
  app.get('/Users', list('Users')).get('/Groups', list('Groups'));
  app.use(['/.search', '/Users/.search', '/Groups/.search', '/Bulk', '/Me'], refuse);
  app.use(routers);
  return (req, res, next) => app(req, res, next);
}

/** @throws DomainError INSUFFICIENT_SCOPE, FORBIDDEN: the person whom the key acts as must be an ADMIN at each request. Both are entries of the audit log. */
function requireScim(deps: Deps, caller: Caller, origin: ReturnType<typeof toOrigin>): void {
  const refuse = (error: DomainError): never => {
    deps.audit.refusals.note(caller, 'Scim', error, [], origin);
    throw error;
  };
  if (!caller.scopes.has('SCIM:WRITE'))
    refuse(new DomainError('INSUFFICIENT_SCOPE', 'SCIM needs a key with the scope SCIM:WRITE'));
  if (caller.role !== 'ADMIN') {
    refuse(
      new DomainError(
        'FORBIDDEN',
        'The person whom this SCIM key acts as is no ADMIN any more: make a key of another administrator',
      ),
    );
  }
}

/** The library compares the values of a removal pair by pair, so their number is bounded beside the size of the body. */
function requireFewOperations(body: unknown): void {
  const operations: unknown = hasMembers(body) ? body.Operations : undefined;
  if (!Array.isArray(operations)) return;
  const members = operations.filter(hasMembers);
  const counts = members.map(({ value }) => (Array.isArray(value) ? value.length : 1));
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (operations.length > operationsMax || Math.max(0, ...counts) > valuesMax || total > allValuesMax) {
    const bounds = `${operationsMax} operations, ${valuesMax} values in one and ${allValuesMax} in all`;
    throw new DomainError('INVALID_VALUE', `A PATCH has at most ${bounds}`);
  }
  if (members.some(({ path: place }) => typeof place === 'string' && place.length > pathLengthMax)) {
    throw new DomainError('INVALID_VALUE', `A path has at most ${pathLengthMax} characters`);
  }
}

/** Answers with the error object of RFC 7644, section 3.12. */
function sendFailure(deps: Deps, req: Request, res: Response, error: unknown): void {
  if (isWithoutKey(error)) deps.audit.refusals.noteWithoutKey();
  const requestId = findRequestId(req);
  const shownError = isScimError(error) ? undefined : showError(error, deps.logger, requestId);
  const { status, message } = shownError ?? (error as ScimFailure);
  const scimType = shownError === undefined ? (error as ScimFailure).scimType : toScimType(shownError);
  const body = {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    ...(scimType === undefined || scimType === '' ? {} : { scimType }),
    detail: message,
  };
  const headers = Object.entries(shownError === undefined ? {} : errorHeaders(shownError)).flat();
  const fixedHeaders = ['content-type', scimJson, 'x-request-id', requestId, ...securityHeaders];
  sendBody(res, status, [...fixedHeaders, ...headers], JSON.stringify(body), false);
  discardBody(req, deps.settings.UPLOAD_MAX_BYTES);
}

function toScimType({ status, code }: PublicError): string | undefined {
  if (code === 'INVALID_JSON') return 'invalidSyntax';
  return status === 400 ? 'invalidValue' : undefined;
}

interface ScimFailure {
  readonly status: number;
  readonly message: string;
  readonly scimType?: string;
}

function isScimError(error: unknown): error is ScimFailure & Error {
  return error instanceof Error && error.name === 'SCIMError';
}
