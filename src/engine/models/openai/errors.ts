import { errors } from 'undici';
import type { ErrorCode } from '../../../entities/ground/errors.ts';
import { membersOf, readString } from '../../../lib/json/json.ts';
import { storableText } from '../../../lib/text/text.ts';
import { ModelError } from '../port.ts';

const messageCharactersMax = 400;

/**
 * Maps a provider's refusal to an error for our caller. A rejected key is the operator's problem: an upstream error, never our 401.
 * A request that no retry can help (too long, filtered, a bad value) is the caller's.
 */
export function refusal(status: number, body: string, retryAfter: string | undefined): ModelError {
  const error = errorMember(body);
  const code = readString(error.code) ?? readString(error.type) ?? readString(error.status) ?? '';
  const upstreamMessage = readString(error.message) ?? '';
  // 500 is what adapters and gateways say of anything: a name says more.
  const meantStatus = status === 500 ? (statusNamed([error.code, error.type, error.status]) ?? status) : status;
  const fault = toFault(meantStatus, code, upstreamMessage);
  const seconds = status === 429 || status === 503 ? parseSeconds(retryAfter) : undefined;
  return new ModelError(
    fault.code,
    `${fault.message}${fault.isQuoted ? quoted(upstreamMessage) : ''}`,
    fault.isRetryable,
    seconds,
  );
}

/** The same for an error object inside a stream: the reply had a status before, so only the object says what is wrong. */
export function refusalInStream(value: unknown): ModelError {
  const error = typeof value === 'string' ? { message: value } : membersOf(value);
  const names = [error.status_code, error.statusCode, error.code, error.status, error.type];
  const numbers = names.map(Number).filter((number) => number >= 400 && number < 600);
  const status = numbers.find((number) => number !== 500) ?? statusNamed(names) ?? numbers[0] ?? 0;
  return refusal(status, JSON.stringify({ error }), undefined);
}

/** The status that names of errors stand for. Providers of every wire use these words. */
const statusByName: readonly (readonly [RegExp, number])[] = [
  [/rate_?limit|resource_exhausted|quota|too_many_requests/i, 429],
  [/overloaded|unavailable/i, 503],
  [/time_?out|deadline_exceeded/i, 504],
  [/authentication|unauthenticated|permission|invalid_api_key/i, 403],
  [/not_found/i, 404],
  [/too_large/i, 413],
  [/invalid_(?:request|argument|prompt)|bad_request|context_length|content_(?:filter|policy)|failed_precondition/i, 400],
];

function statusNamed(names: readonly unknown[]): number | undefined {
  const codeText = names.filter((name) => typeof name === 'string').join(' ');
  return statusByName.find(([pattern]) => pattern.test(codeText))?.[1];
}

interface Fault {
  readonly code: ErrorCode;
  readonly message: string;
  readonly isRetryable: boolean;
  readonly isQuoted?: boolean;
}

function toFault(status: number, code: string, errorText: string): Fault {
  const about = `${code} ${errorText}`;
  if (status === 401 || status === 403) {
    return {
      code: 'UPSTREAM_ERROR',
      message: 'The model provider does not accept the credentials of this service',
      isRetryable: false,
    };
  }
  if (status >= 400 && status < 500 && status !== 429) {
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
  const statusText = status === 0 ? '' : ` (${status})`;
  return { code: 'UPSTREAM_ERROR', message: `The model provider failed${statusText}`, isRetryable: true };
}

/**
 * For a broken connection or a timeout. What our own side threw is returned as it is: it says nothing of the provider.
 *
 * @param proxyName  the proxy between, which may be what failed.
 */
export function transportFailure(error: unknown, hasAnswered: boolean, proxyName?: string): unknown {
  if (error instanceof ModelError || !isOfTransport(error)) return error;
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

const causesMax = 5;
/** Of undici: the request itself was wrong, or its client was closed here. */
const ownCodes: ReadonlySet<string> = new Set([
  ...['UND_ERR_INVALID_ARG', 'UND_ERR_INVALID_RETURN_VALUE', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'],
  ...['UND_ERR_DESTROYED', 'UND_ERR_CLOSED'],
]);
/** Of the system, of its resolver, of TLS, of HTTP parsers, and of undici. */
const transportCode =
  /^(?:E[A-Z]+$|EAI_|UND_ERR_|HPE_|ERR_SSL|ERR_TLS|ERR_HTTP2|ERR_STREAM_PREMATURE_CLOSE$|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/;

/** Whether an error, or what caused it, is of the network between here and a provider. */
export function isOfTransport(error: unknown): boolean {
  let cause = error;
  for (let depth = 0; depth < causesMax && cause instanceof Error; depth += 1) {
    const code: unknown = 'code' in cause ? cause.code : undefined;
    if (typeof code === 'string' && ownCodes.has(code)) return false;
    if (typeof code === 'string' && transportCode.test(code)) return true;
    // Of fetch, which gives no code to an answer that was cut.
    if (cause instanceof TypeError && cause.message === 'terminated') return true;
    cause = cause.cause;
  }
  return false;
}

export function malformed(what: string): ModelError {
  return new ModelError('UPSTREAM_ERROR', `The model provider's answer is malformed: ${what}`, true);
}

function errorMember(body: string): Readonly<Record<string, unknown>> {
  try {
    const errorBody: unknown = JSON.parse(body);
    const outer = membersOf(Array.isArray(errorBody) ? errorBody[0] : errorBody);
    if (typeof outer.error === 'string') return { message: outer.error };
    return outer.error === undefined ? outer : membersOf(outer.error);
  } catch {
    return {};
  }
}

/** The provider's message, shortened, without anything that looks like a key. */
function quoted(errorText: string): string {
  if (errorText.trim() === '') return '';
  const clean = errorText
    .replace(/\b(sk|pk|key|Bearer)[-_ ][\w*.-]{6,}/gi, '[removed]')
    .replace(/\s+/g, ' ')
    .trim();
  return `: ${storableText(clean.slice(0, messageCharactersMax))}`;
}

/** `Retry-After` in seconds; it may be a date. */
function parseSeconds(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(retryAfter.trim()) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : undefined;
}
