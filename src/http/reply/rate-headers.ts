import type { ServerResponse } from 'node:http';
import type { RateLimits, RateSubject, RateVerdict } from '../../engine/sharing/rate-limits.ts';
import type { BudgetLeft, Payer, UsageLimits } from '../../engine/usage/limits.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import { type BudgetUnit, moneyUnits } from '../../entities/operations/budget.ts';

const headersOfReply = Symbol('rateHeaders');
const budgetsOfReply = Symbol('budgets');

interface LimitedReply extends ServerResponse {
  [headersOfReply]?: readonly string[];
  [budgetsOfReply]?: () => readonly string[];
}

/** What requests are counted by, and what budgets are known by. */
export interface LimitDeps {
  readonly rates: RateLimits;
  readonly limits: Pick<UsageLimits, 'left'>;
}

/**
 * Counts a request, before anything of its body is read. Its reply says what is left, whatever it will be.
 *
 * @throws DomainError RATE_LIMIT_EXCEEDED with the seconds to wait.
 */
export function countRequest(
  { rates, limits }: LimitDeps,
  subject: RateSubject & Payer,
  res: ServerResponse,
  nowMs: number,
): void {
  (res as LimitedReply)[budgetsOfReply] = () => budgetHeaders(limits, subject);
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
  const rate = res[headersOfReply] ?? none;
  const budgets = res[budgetsOfReply]?.() ?? none;
  return budgets.length === 0 ? rate : [...rate, ...budgets];
}

/**
 * The budgets of tokens and of money that have least left, as far as this process knows without a statement: those that a call needed lately. When the
 * head of a reply is written, that of its own call is among them.
 */
function budgetHeaders(limits: Pick<UsageLimits, 'left'>, payer: Payer): readonly string[] {
  const knownBudgets = limits.left(payer);
  if (knownBudgets.length === 0) return none;
  const least = new Map<BudgetUnit, BudgetLeft>();
  for (const budgetLeft of knownBudgets) {
    const { unit } = budgetLeft.budget;
    const other = least.get(unit);
    if (other === undefined || budgetLeft.left < other.left) least.set(unit, budgetLeft);
  }
  const nowMs = Date.now();
  return [...least].flatMap(([unit, { budget, endsAt, left: leftAmount }]) => {
    const name = unit === 'MONEY' ? 'cost' : 'tokens';
    const toText = (amount: number) => String(unit === 'MONEY' ? amount / moneyUnits : amount);
    return [
      ...[`x-ratelimit-limit-${name}`, toText(budget.amount)],
      ...[`x-ratelimit-remaining-${name}`, toText(leftAmount)],
      ...[`x-ratelimit-reset-${name}`, `${Math.max(0, Math.ceil((endsAt.getTime() - nowMs) / 1_000))}s`],
    ];
  });
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
