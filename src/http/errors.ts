import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Deps } from '../domain/deps.ts';
import { DomainError, errorBody, isWithoutKey, type PublicError, publicError } from '../entities/ground/errors.ts';
import { breakOff } from './connections/connection.ts';
import { findRequestId } from './context.ts';
import { discardBody, sendJson } from './reply/reply.ts';

/** The error middleware of the application: answers every failure of a request, in the form of its route or of its API. */
export function createErrorHandler({
  audit,
  logger,
  settings,
}: Pick<Deps, 'audit' | 'logger' | 'settings'>): ErrorRequestHandler {
  // Express knows an error handler by its four parameters.
  return (error: unknown, req, res, _next) => {
    if (isWithoutKey(error)) audit.refusals.noteWithoutKey();
    const requestId = findRequestId(req);
    const { errorForm, errorReply, requestIdHeader } = res.locals;
    const { status, text, headers } = errorReply?.(error) ?? replyFor(showError(error, logger, requestId), errorForm, requestId);
    if (res.headersSent) {
      if (!res.writableEnded) breakOff(res);
      return;
    }
    const own = requestIdHeader === undefined ? headers : [...headers, requestIdHeader, requestId];
    sendJson(res, status, text, requestId, own);
    discardBody(req, settings.UPLOAD_MAX_BYTES);
  };
}

/** Answers what no route has taken. */
export const refuseUnknownPath: RequestHandler = (req) => {
  throw unknownPath(req);
};

/** Says which method and path nothing answers: often the base address of a client has one segment too many or too few. */
export function unknownPath({ method = '', url = '' }: Pick<IncomingMessage, 'method' | 'url'>): DomainError {
  const path = url.split('?')[0] ?? '';
  const shownPath = path.length > pathCharactersMax ? `${path.slice(0, pathCharactersMax)}…` : path;
  return new DomainError('NOT_FOUND', `There is nothing at ${method} ${shownPath}`);
}

const pathCharactersMax = 300;

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

/** Whether the failure is only that the caller left or that a time-out fired. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/**
 * What a client may see of any failure. An error that is no DomainError is a bug: it is logged whole, and the client gets the request id.
 */
export function showError(error: unknown, logger: Logger, requestId: string): PublicError {
  const inner = unwrapError(error);
  if (inner instanceof DomainError) return publicError(inner);
  if (isAbort(inner)) return publicError(new DomainError('CLIENT_CLOSED_REQUEST', 'The client closed the request'));
  logger.error({ err: inner, requestId }, 'unexpected failure');
  return publicError(inner);
}

/** Sends the error object of the REST API. */
export function sendError(
  res: ServerResponse,
  shownError: PublicError,
  requestId: string,
  extraHeaders: readonly string[] = [],
): void {
  const { status, text, headers } = replyFor(shownError);
  sendJson(res, status, text, requestId, [...headers, ...extraHeaders]);
}

/** An error as it is sent. */
export interface MadeError {
  readonly status: number;
  readonly text: string;
  /** A flat list of names and values. */
  readonly headers: readonly string[];
}

/** An error of the REST API, made once: under overload thousands of requests are refused, and each must cost little. */
export function makeError(error: DomainError, form?: (shownError: PublicError) => PublicError): MadeError {
  return replyFor(publicError(error), form);
}

function replyFor(
  error: PublicError,
  form = (shownError: PublicError) => shownError,
  requestId: string | null = null,
): MadeError {
  const formedError = form(error);
  return {
    status: formedError.status,
    text: JSON.stringify(formedError.toBody?.(formedError, requestId) ?? errorText(formedError)),
    headers: Object.entries(errorHeaders(formedError)).flat(),
  };
}

/** The common error object; several faults of one body stand under `errors` as well. */
function errorText(shownError: PublicError) {
  const body = errorBody(shownError);
  const faults = shownError.detail.faults;
  if (faults === undefined || faults.length < 2) return body;
  const errors = faults.map(({ code, message, param }) => ({ message, param, code: code.toLowerCase() }));
  return { error: { ...body.error, errors } };
}

/** Clients of the completions format wait for a `Retry-After` up to this. */
const clientWaitSecondsMax = 60;

/** What an error reply says besides its body. */
export function errorHeaders(shownError: PublicError): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  const { retryAfterSeconds } = shownError.detail;
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterSeconds)));
  // Clients of the common format retry a 409 by themselves. Most would fail again, but not one whose first request is still running.
  if (shownError.status === 409 && shownError.code !== 'IDEMPOTENCY_IN_PROGRESS') headers['x-should-retry'] = 'false';
  // Stock clients read a longer wait in opposite ways: openai 7.59 tries again after half a second, @anthropic-ai/sdk 1.14 sleeps through it
  // within the pending call (findings/retry-after-a-minute.sh). With this header both give the refusal to the program at once.
  if ((retryAfterSeconds ?? 0) > clientWaitSecondsMax) headers['x-should-retry'] = 'false';
  if (shownError.status === 401) headers['www-authenticate'] = shownError.detail.challenge ?? 'Bearer';
  return headers;
}
