import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { Connection } from '../connections/connection.ts';
import { rateHeaders } from './rate-headers.ts';

/** On every reply of the REST API: browsers never run, frame or guess the type of a reply, and caches never keep it. */
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

/** The same with another rule for caches, as the header `Cache-Control` has it. */
export function headersWithCaching(rule: string): readonly string[] {
  return securityHeaders.map((text) => (text === 'no-store' ? rule : text));
}

export const jsonType = 'application/json; charset=utf-8';

/**
 * Sends a body that is in memory, with its length. Every such body is sent here, so the bytes that wait for slow readers are counted.
 * Headers are a flat list of names and values, which Node writes without copying.
 *
 * @param mayRefuse  whether the caller can ask again without doing anything twice.
 * @throws DomainError OVERLOADED where it may refuse and too many bytes wait already; nothing is sent then.
 */
export function sendBody(
  res: ServerResponse,
  status: number,
  headers: readonly string[],
  body: string | Buffer,
  mayRefuse = res.req.method === 'GET',
): void {
  if (res.headersSent || res.destroyed) return;
  const sizeBytes = Buffer.byteLength(body);
  if (res.req.method !== 'HEAD') Connection.of(res.req)?.count(sizeBytes, mayRefuse);
  // The rest of a request that came too slowly is not read.
  const closing = status === 408 ? closesConnection : noHeaders;
  res.writeHead(status, ['content-length', String(sizeBytes), ...headers, ...closing, ...rateHeaders(res)]);
  if (sizeBytes <= pieceBytes || res.req.method === 'HEAD') {
    res.end(body);
    return;
  }
  // The pipeline adds seven listeners to those of the request: more than Node takes without a warning.
  res.setMaxListeners(20);
  pipeline(Readable.from(splitPieces(Buffer.from(body))), res, () => undefined);
}

/** A piece is written when the one before it is taken: so the progress of a slow reader shows (connections/connection.ts). */
const pieceBytes = 64 * 1024;

function* splitPieces(body: Buffer): Generator<Buffer> {
  for (let start = 0; start < body.length; start += pieceBytes) yield body.subarray(start, start + pieceBytes);
}

/** Sends one JSON text. `headers` are a flat list of names and values. @throws DomainError as `sendBody`. */
export function sendJson(
  res: ServerResponse,
  status: number,
  text: string,
  requestId: string,
  extraHeaders: readonly string[] = [],
): void {
  const headers = ['content-type', jsonType, 'x-request-id', requestId, ...securityHeaders, ...extraHeaders];
  sendBody(res, status, headers, text);
}

const noHeaders: readonly string[] = [];

const closesConnection = ['connection', 'close'] as const;

/** Sends a status without a body. */
export function sendEmpty(res: ServerResponse, status: number, requestId: string, extraHeaders: readonly string[] = []): void {
  if (res.headersSent || res.destroyed) return;
  res.writeHead(status, ['x-request-id', requestId, ...securityHeaders, ...rateHeaders(res), ...extraHeaders]);
  res.end();
}

const discardMaxMs = 10_000;

/** Reads and drops the rest of a refused body, so that the client reads the refusal. Past `maxBytes` or ten seconds the connection is cut. */
export function discardBody(req: IncomingMessage, maxBytes: number): void {
  // A body that came in one piece with its head is complete within this tick.
  if (!req.complete) queueMicrotask(() => discardRest(req, maxBytes));
}

function discardRest(req: IncomingMessage, maxBytes: number): void {
  if (req.complete || req.destroyed) return;
  let seenBytes = 0;
  const { socket } = req;
  const timer = setTimeout(() => req.destroy(), discardMaxMs).unref();
  const stop = () => {
    clearTimeout(timer);
    socket.off('close', stop);
  };
  req.on('data', (chunk: Buffer) => {
    seenBytes += chunk.length;
    if (seenBytes > maxBytes) req.destroy();
  });
  req.on('error', () => req.destroy());
  req.on('close', stop);
  // After its reply is sent, a request emits no 'close'.
  socket.on('close', stop);
  req.resume();
}
