import type { ServerResponse } from 'node:http';
import type { RateLimits, RateSubject, RateVerdict } from '../../engine/sharing/rate-limits.ts';
import { DomainError } from '../../entities/ground/errors.ts';

const headersOfReply = Symbol('rateHeaders');

interface LimitedReply extends ServerResponse {
  [headersOfReply]?: readonly string[];
}

/**
 * Counts a request, before anything of its body is read. Its reply says what is left, whatever it will be.
 *
 * @throws DomainError RATE_LIMIT_EXCEEDED with the seconds to wait.
 */
export function countRequest(rates: RateLimits, subject: RateSubject, res: ServerResponse, nowMs: number): void {
  const verdict = rates.take(subject, nowMs);
  if (verdict === undefined) return;
  (res as LimitedReply)[headersOfReply] = headersFor(verdict);
  if (!verdict.isAllowed) throw rateLimitError(verdict);
}

/**
 * Counts an operation as so many further requests, before it runs. The reply says what is left then.
 *
 * @throws DomainError RATE_LIMIT_EXCEEDED with the seconds to wait.
 */
export function countFurther(rates: RateLimits, subject: RateSubject, res: ServerResponse, count: number): void {
  if (count <= 0) return;
  const verdict = rates.take(subject, performance.now(), count);
  if (verdict === undefined) return;
  (res as LimitedReply)[headersOfReply] = headersFor(verdict);
  if (verdict.isAllowed) return;
  const { message, detail } = rateLimitError(verdict);
  throw new DomainError('RATE_LIMIT_EXCEEDED', `${message}: the operation counts as ${count + 1} requests by its cost`, detail);
}

export function rateLimitError({ owner, limit, retryAfterSeconds }: RateVerdict): DomainError {
  const whose = owner === 'key' ? 'This key' : 'This organization';
  return new DomainError('RATE_LIMIT_EXCEEDED', `${whose} may make ${limit} requests a minute; wait ${retryAfterSeconds} s`, {
    retryAfterSeconds,
  });
}

/** What a reply says of its limits, as a flat list; nothing where there are none. */
export function rateHeaders(res: LimitedReply): readonly string[] {
  return res[headersOfReply] ?? none;
}

const none: readonly string[] = [];

/** In seconds, and by the names that clients of the completions format know, which have a unit. */
function headersFor({ limit, remaining, resetSeconds }: RateVerdict): readonly string[] {
  const limitText = String(limit);
  const remainingText = String(remaining);
  const resetText = String(resetSeconds);
  return [
    'x-ratelimit-limit',
    limitText,
    'x-ratelimit-remaining',
    remainingText,
    'x-ratelimit-reset',
    resetText,
    'x-ratelimit-limit-requests',
    limitText,
    'x-ratelimit-remaining-requests',
    remainingText,
    'x-ratelimit-reset-requests',
    `${resetText}s`,
  ];
}
