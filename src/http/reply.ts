import type { IncomingMessage, ServerResponse } from 'node:http';
import { rateHeaders } from './rate-headers.ts';

/** On every reply of the REST face: nothing it sends is ever to be run, framed, guessed at or kept by a cache. */
export const securityHeaders = [
  'x-content-type-options',
  'nosniff',
  'cache-control',
  'no-store',
  'content-security-policy',
  "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy',
  'no-referrer',
] as const;

export const jsonType = 'application/json; charset=utf-8';

/** Sends one JSON text. Headers are a flat list of names and values, which Node writes without copying. */
export function sendJson(
  res: ServerResponse,
  status: number,
  text: string,
  requestId: string,
  extraHeaders: readonly string[] = [],
): void {
  if (res.headersSent || res.destroyed) return;
  res.writeHead(status, [
    'content-type',
    jsonType,
    'content-length',
    String(Buffer.byteLength(text)),
    'x-request-id',
    requestId,
    ...securityHeaders,
    ...rateHeaders(res),
    ...extraHeaders,
  ]);
  res.end(text);
}

/** Sends a status without a body. */
export function sendEmpty(res: ServerResponse, status: number, requestId: string, extraHeaders: readonly string[] = []): void {
  if (res.headersSent || res.destroyed) return;
  res.writeHead(status, ['x-request-id', requestId, ...securityHeaders, ...rateHeaders(res), ...extraHeaders]);
  res.end();
}

const discardMaxMs = 10_000;

/**
 * Lets the rest of a body that nobody reads run out, so that the client can read its refusal, but not without end: past `maxBytes` or
 * ten seconds the connection is cut.
 */
export function discardBody(req: IncomingMessage, maxBytes: number): void {
  // What came in one piece with its head is over in a moment, and needs nobody to watch it.
  if (!req.complete) queueMicrotask(() => discardRest(req, maxBytes));
}

function discardRest(req: IncomingMessage, maxBytes: number): void {
  if (req.complete || req.destroyed) return;
  let seenBytes = 0;
  const timer = setTimeout(() => req.destroy(), discardMaxMs);
  timer.unref();
  req.on('data', (chunk: Buffer) => {
    seenBytes += chunk.length;
    if (seenBytes > maxBytes) req.destroy();
  });
  req.on('error', () => req.destroy());
  req.on('close', () => clearTimeout(timer));
  req.resume();
}
