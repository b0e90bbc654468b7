import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorBody, type PublicError } from '../../entities/ground/errors.ts';
import { errorHeaders } from '../errors.ts';
import { jsonType, securityHeaders } from './reply.ts';

/** Answers where Node has made no reply: on the bare connection, which is closed behind it. */
export function refuseRaw(socket: Duplex, shownError: PublicError, requestId: string): void {
  const body = JSON.stringify(errorBody(shownError));
  const own = ['content-type', jsonType, 'content-length', String(Buffer.byteLength(body)), 'x-request-id', requestId];
  const headers = [...own, ...securityHeaders, ...Object.entries(errorHeaders(shownError)).flat(), 'connection', 'close'];
  const lines = Array.from({ length: headers.length / 2 }, (_, index) => `${headers[index * 2]}: ${headers[index * 2 + 1]}\r\n`);
  socket.end(`HTTP/1.1 ${shownError.status} ${STATUS_CODES[shownError.status]}\r\n${lines.join('')}\r\n${body}`);
}
