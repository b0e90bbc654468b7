import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { DomainError, publicError } from '../../entities/ground/errors.ts';
import { makeId } from '../../entities/ground/ids.ts';
import { sendError } from '../errors.ts';
import { refuseRaw } from '../reply/raw.ts';
import { Connection } from './connection.ts';

/** A client has this long to read its refusal before the connection is cut. */
const refusalTimeoutMs = 2_000;

/** The errors of Node's parser that have an answer of their own; every other one is `malformed`. */
const refusals: Readonly<Record<string, DomainError>> = {
  HPE_HEADER_OVERFLOW: new DomainError('HEADERS_TOO_LARGE', 'The headers of the request are too large'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new DomainError('REQUEST_TOO_LARGE', 'The chunk extensions of the body are too large'),
  ERR_HTTP_REQUEST_TIMEOUT: new DomainError('REQUEST_TIMEOUT', 'The head of the request did not come in time'),
};
const malformedError = new DomainError('MALFORMED_REQUEST', 'This is no HTTP/1.1 request that can be read');

/**
 * For the server's `clientError`: answers an unreadable request with the common error object and closes the connection. Where a reply has
 * begun, the client would take more bytes for a part of it, so the connection is only cut.
 */
export function refuseUnreadable(error: Error & { readonly code?: string }, socket: Duplex, logger: Logger): void {
  // These bytes follow a refused request.
  if (socket.writableEnded) return;
  const { code = '' } = error;
  const isOfParser = code.startsWith('HPE_') || Object.hasOwn(refusals, code);
  if (!isOfParser || !socket.writable || Connection.of({ socket })?.hasBegunReply === true) {
    socket.destroy();
    return;
  }
  const requestId = makeId('request', Date.now());
  logger.debug({ requestId, code }, 'a request could not be read');
  refuseRaw(socket, publicError(refusals[code] ?? malformedError), requestId);
  const timer = setTimeout(() => socket.destroy(), refusalTimeoutMs).unref();
  socket.once('close', () => clearTimeout(timer));
}

/** Whether a request says which host it is for, as HTTP/1.1 wants it. */
export function hasHost({ headers, httpVersionMajor, httpVersionMinor }: IncomingMessage): boolean {
  return headers.host !== undefined || httpVersionMajor !== 1 || httpVersionMinor !== 1;
}

/** Refuses a request without the header Host. Requests behind it are not read. */
export function refuseWithoutHost(res: ServerResponse, requestId: string): void {
  const error = new DomainError('MALFORMED_REQUEST', 'An HTTP/1.1 request needs the header Host');
  sendError(res, publicError(error), requestId, ['connection', 'close']);
}
