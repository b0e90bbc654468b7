import type { ServerResponse } from 'node:http';
import { securityHeaders, sendBody, sendJson } from '../../http/reply/reply.ts';
import { type ErrorContext, presentError } from '../errors.ts';

/** Answers a request that was not run. */
export function sendErrors(res: ServerResponse, status: number, errors: readonly unknown[], context: ErrorContext): void {
  const body = JSON.stringify({ errors: errors.map((error) => presentError(error, context)) });
  sendJson(res, status, body, context.requestId);
}

export function sendText(res: ServerResponse, status: number, text: string, requestId: string): void {
  sendBody(res, status, ['content-type', 'text/plain; charset=utf-8', 'x-request-id', requestId, ...securityHeaders], text);
}
