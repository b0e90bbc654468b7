import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import type { Deps } from '../domain/deps.ts';
import { type PublicError, publicError } from '../entities/ground/errors.ts';
import { parseCorsOrigins } from '../lib/settings/cors-origins.ts';
import { hasHost, refuseWithoutHost } from './connections/unreadable.ts';
import { findRequestId } from './context.ts';
import { createCors } from './cors.ts';
import { createErrorHandler, type MadeError, refuseUnknownPath, sendError, unknownPath } from './errors.ts';
import type { AccessLog } from './log/access-log.ts';
import type { RouteMeter } from './log/metrics.ts';

declare global {
  namespace Express {
    /** What the middleware of a request tells the one that ends it (`res.locals`). */
    interface Locals {
      /** `performance.now()` at the beginning. */
      readonly startedMs: number;
      /** Counts the request, once its reply is closed. */
      meter?: RouteMeter;
      /** How the format of the route shows a failure; default: the common error object. */
      errorForm?: (shownError: PublicError) => PublicError;
      /** The header that tells a client of another format the id of its request. */
      requestIdHeader?: string;
      /** How an API without that object answers what was thrown. */
      errorReply?: (error: unknown) => MadeError;
    }
  }
}

export interface HttpAppParts {
  readonly deps: Pick<Deps, 'audit' | 'logger' | 'settings'>;
  readonly log: AccessLog;
  /** In the order in which they are asked. Each passes on what is not its own. */
  readonly handlers: readonly (RequestHandler | ErrorRequestHandler)[];
}

/**
 * The Express application: the access log, the handlers, 404, and the one error middleware. Queries are read by the handlers, and replies
 * have no ETag: what is served belongs to its caller and changes all the time. Requests and replies keep Node's prototypes, so they have no
 * helpers of Express (`res.json`): setting others on every request costs more than the routing.
 */
export function createHttpApp({ deps, log, handlers }: HttpAppParts): RequestListener {
  const app = express().disable('etag').disable('x-powered-by').set('query parser', false);
  app.enable('strict routing').enable('case sensitive routing');
  Object.assign(app, { request: IncomingMessage.prototype, response: ServerResponse.prototype });
  const refuse = createErrorHandler(deps);
  const origins = parseCorsOrigins(deps.settings.CORS_ORIGINS);
  const cors = origins === undefined ? undefined : createCors(origins);
  app.use(beginWith(log), ...(cors === undefined ? [] : [cors.handle]), ...handlers, refuseUnknownPath, refuse);
  const answer: (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void = app;
  // Called for an address that Express cannot parse: such a request meets no middleware.
  return (req, res) =>
    answer(req, res, () => {
      cors?.mark(req, res);
      sendError(res, publicError(unknownPath(req)), findRequestId(req));
    });
}

/** One middleware for what begins every request: each costs it another closure and another look at its path. */
function beginWith(log: AccessLog): RequestHandler {
  return (req, res, next) =>
    log.begin(req, res, () => {
      if (hasHost(req)) next();
      else refuseWithoutHost(res, findRequestId(req));
    });
}
