import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { DomainError, errorBody, type PublicError, publicError } from '../entities/errors.ts';
import { sendJson } from './reply/reply.ts';

/** The failure inside what graphql-js throws or returns: `GraphQLError` wraps what a resolver threw. */
export function unwrapError(error: unknown): unknown {
  let inner = error;
  for (let depth = 0; depth < 5; depth += 1) {
    if (inner instanceof DomainError) return inner;
    const original: unknown = inner instanceof Error && 'originalError' in inner ? inner.originalError : undefined;
    if (original === undefined || original === null) return inner;
    inner = original;
  }
  return inner;
}

/** Whether the failure is only that the caller left or a time-out of ours fired. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/**
 * What may be shown of any failure. What is not a DomainError is a bug and is logged whole; only the request id goes out.
 * What Node refuses itself never comes here.
 */
export function showError(error: unknown, logger: Logger, requestId: string): PublicError {
  const inner = unwrapError(error);
  if (inner instanceof DomainError) return publicError(inner);
  if (isAbort(inner)) return publicError(new DomainError('CLIENT_CLOSED_REQUEST', 'The client closed the request'));
  logger.error({ err: inner, requestId }, 'unexpected failure');
  return publicError(inner);
}

/** Sends the error object of the REST faces; `body` replaces the text where a face shows more. */
export function sendError(
  res: ServerResponse,
  shown: PublicError,
  requestId: string,
  extraHeaders: readonly string[] = [],
): void {
  sendJson(res, shown.status, JSON.stringify(errorText(shown)), requestId, [...errorHeaders(shown), ...extraHeaders]);
}

/** An error of the REST faces as it goes out, made once for all: what is refused by the thousand must cost next to nothing. */
export interface MadeError {
  readonly status: number;
  readonly text: string;
  readonly headers: readonly string[];
}

export function makeError(error: DomainError, form = (shown: PublicError) => shown): MadeError {
  const shown = form(publicError(error));
  return { status: shown.status, text: JSON.stringify(errorText(shown)), headers: errorHeaders(shown) };
}

/** The common error object; several faults of one body stand under `errors` as well. */
function errorText(shown: PublicError) {
  const body = errorBody(shown);
  const faults = shown.detail.faults;
  if (faults === undefined || faults.length < 2) return body;
  const errors = faults.map(({ code, message, param }) => ({ message, param, code: code.toLowerCase() }));
  return { error: { ...body.error, errors } };
}

/** What an error reply says besides its body, as a flat list of names and values. */
export function errorHeaders(shown: PublicError): string[] {
  const headers: string[] = [];
  const { retryAfterSeconds } = shown.detail;
  if (retryAfterSeconds !== undefined) headers.push('retry-after', String(Math.max(1, Math.ceil(retryAfterSeconds))));
  // Clients of the common format repeat a 409 on their own; most of ours would fail again. A first request still running will not.
  if (shown.status === 409 && shown.code !== 'IDEMPOTENCY_IN_PROGRESS') headers.push('x-should-retry', 'false');
  // What is used up is not there again in a moment.
  if (shown.code === 'INSUFFICIENT_QUOTA' && (retryAfterSeconds ?? 0) > 60) headers.push('x-should-retry', 'false');
  if (shown.status === 401) headers.push('www-authenticate', 'Bearer');
  return headers;
}
