import { errors } from 'undici';
import type { ErrorCode } from '../../../entities/errors.ts';
import { membersOf, stringOf } from '../../../lib/json.ts';
import { storableText } from '../../../lib/text.ts';
import { ModelError } from '../port.ts';

const messageCharactersMax = 400;

/**
 * Maps a provider's refusal to an error for our caller. A rejected key is the operator's problem: an upstream error, never our 401.
 * A request that no retry can help (too long, filtered, a bad value) is the caller's.
 */
export function refusal(status: number, body: string, retryAfter: string | undefined): ModelError {
  const error = errorMember(body);
  const code = stringOf(error.code) ?? stringOf(error.type) ?? stringOf(error.status) ?? '';
  const said = stringOf(error.message) ?? '';
  const fault = faultOf(status, code, said);
  const seconds = status === 429 || status === 503 ? secondsOf(retryAfter) : undefined;
  return new ModelError(fault.code, `${fault.message}${fault.isQuoted ? quoted(said) : ''}`, fault.isRetryable, seconds);
}

/** The same for an error object inside a stream, which has no status. */
export function refusalInStream(value: unknown): ModelError {
  const error = typeof value === 'string' ? { message: value } : membersOf(value);
  const status = Number(error.status_code ?? error.code ?? error.status);
  return refusal(status >= 400 && status < 600 ? status : 500, JSON.stringify({ error }), undefined);
}

interface Fault {
  readonly code: ErrorCode;
  readonly message: string;
  readonly isRetryable: boolean;
  readonly isQuoted?: boolean;
}

function faultOf(status: number, code: string, said: string): Fault {
  const about = `${code} ${said}`;
  if (status === 401 || status === 403) {
    return {
      code: 'UPSTREAM_ERROR',
      message: 'The model provider does not accept the credentials of this service',
      isRetryable: false,
    };
  }
  if (status < 500 && status !== 429) {
    if (
      /context[_ ](length|window)|maximum context|too many tokens|prompt is too long|input is too long|exceeds? .{0,40}token/i.test(
        about,
      )
    ) {
      return { code: 'CONTEXT_LENGTH_EXCEEDED', message: 'The conversation is too long for this model', isRetryable: false };
    }
    if (/content[_ ](filter|policy)|safety|responsible ai/i.test(about)) {
      return { code: 'CONTENT_FILTER', message: 'The model provider refused the content of this request', isRetryable: false };
    }
  }
  if (status === 404)
    return { code: 'MODEL_NOT_FOUND', message: 'The model provider does not know this model', isRetryable: false };
  if (status === 408 || status === 504) {
    return { code: 'UPSTREAM_TIMEOUT', message: 'The model provider took too long', isRetryable: true };
  }
  if (status === 413)
    return { code: 'REQUEST_TOO_LARGE', message: 'The request is too large for the model provider', isRetryable: false };
  if (status === 429) {
    const isSpent = /insufficient_quota|billing/i.test(about);
    const message = isSpent ? 'The quota at the model provider is used up' : 'The model provider limits the rate of requests';
    return { code: 'RATE_LIMIT_EXCEEDED', message, isRetryable: !isSpent };
  }
  if (status >= 400 && status < 500) {
    return { code: 'INVALID_VALUE', message: 'The model provider refused the request', isRetryable: false, isQuoted: true };
  }
  return { code: 'UPSTREAM_ERROR', message: `The model provider failed (${status})`, isRetryable: true };
}

/**
 * For a broken connection, a timeout, or a stream that cannot be parsed.
 *
 * @param proxyName  the proxy between, which may be what failed.
 */
export function transportFailure(error: unknown, hasAnswered: boolean, proxyName?: string): ModelError {
  if (error instanceof ModelError) return error;
  if (error instanceof errors.ConnectTimeoutError) {
    return new ModelError('UPSTREAM_TIMEOUT', 'The model provider could not be reached in time', true);
  }
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError) {
    return new ModelError('UPSTREAM_TIMEOUT', 'The model provider fell silent', false);
  }
  const through = proxyName === undefined ? '' : ` through the proxy ${proxyName}`;
  const message = hasAnswered
    ? 'The connection to the model provider broke off'
    : `The model provider cannot be reached${through}`;
  return new ModelError('UPSTREAM_ERROR', message, true);
}

export function malformed(what: string): ModelError {
  return new ModelError('UPSTREAM_ERROR', `The model provider's answer is malformed: ${what}`, true);
}

function errorMember(body: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(body);
    const outer = membersOf(Array.isArray(parsed) ? parsed[0] : parsed);
    if (typeof outer.error === 'string') return { message: outer.error };
    return outer.error === undefined ? outer : membersOf(outer.error);
  } catch {
    return {};
  }
}

/** The provider's message, shortened, without anything that looks like a key. */
function quoted(said: string): string {
  if (said.trim() === '') return '';
  const clean = said
    .replace(/\b(sk|pk|key|Bearer)[-_ ][\w*.-]{6,}/gi, '[removed]')
    .replace(/\s+/g, ' ')
    .trim();
  return `: ${storableText(clean.slice(0, messageCharactersMax))}`;
}

/** `Retry-After` in seconds; it may be a date. */
function secondsOf(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(retryAfter.trim()) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : undefined;
}
