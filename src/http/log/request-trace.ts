import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Span } from '@opentelemetry/api';
import { failSpan, type Tracing } from '../../engine/tracing/tracing.ts';
import { findBreakReason, reportedStatus } from '../connections/connection.ts';
import { findRequestId } from '../context.ts';
import { loggedPath } from './logged-path.ts';

/** Asked every few seconds by balancers and collectors: their traces would tell nothing. */
const untracedPaths = new Set(['/healthz', '/readyz', '/metrics']);
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'QUERY']);

/** What the span of a request learns while it is answered. */
export interface TracedRoute {
  /** The operation in the metrics. */
  readonly operation: string;
  /** The path with `{name}` in place of values; undefined for a path without a route. */
  readonly path: string | undefined;
}

/**
 * Begins the span of a request, by the semantic conventions for HTTP servers: the method, the path as the log shows it, the route and the
 * status; no query, header, address or body. Undefined for paths that are not traced.
 */
export function beginRequestSpan(tracing: Tracing, req: IncomingMessage, target: string): Span | undefined {
  const path = target.split('?', 1)[0] ?? '';
  if (untracedPaths.has(path)) return undefined;
  const method = readMethod(req);
  const attributes = {
    'http.request.method': method,
    'url.scheme': 'http',
    'url.path': loggedPath(target),
    'parley.request.id': findRequestId(req),
  };
  return tracing.beginRequest(method === '_OTHER' ? 'HTTP' : method, attributes, req.headers.traceparent);
}

/** Ends the span of a request whose reply is closed. */
export function endRequestSpan(span: Span, req: IncomingMessage, res: ServerResponse, route: TracedRoute | undefined): void {
  const status = reportedStatus(res);
  span.setAttribute('http.response.status_code', status);
  if (route !== undefined) span.setAttribute('parley.operation', route.operation);
  if (route?.path !== undefined) {
    const method = readMethod(req);
    span.updateName(`${method === '_OTHER' ? 'HTTP' : method} ${route.path}`).setAttribute('http.route', route.path);
  }
  const breakReason = findBreakReason(res);
  if (breakReason !== undefined) span.setAttribute('parley.request.aborted', breakReason);
  if (status >= 500) failSpan(span, String(status));
  span.end();
}

/** A caller can send any word as a method. */
function readMethod({ method = '' }: IncomingMessage): string {
  return knownMethods.has(method) ? method : '_OTHER';
}
