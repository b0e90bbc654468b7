import { DomainError } from '../../entities/ground/errors.ts';
import type { Budget } from '../../entities/operations/budget.ts';
import { moneyUnits } from '../../entities/operations/budget.ts';
import type { TokenGrant } from '../../storage/operations/usage/limits.ts';
import type { BudgetInForce, Meter } from './meters.ts';

/** How soon to retry: what other calls hold may be released shortly, what is used is not. */
const retrySoonSeconds = 1;
const retryLateSeconds = 3_600;

/** What a call used is counted some moments after its end, and held until then. */
const held = 'what is left is held by calls that run now or have just ended';

type Refusal = Extract<TokenGrant, { kind: 'refused' }>;

/** The error of a call that a limit or a budget does not admit. @param least  what it takes at least. */
export function refuseCall({ kind, budget }: Meter, grant: Refusal, least: number, currency: string, at: Date): DomainError {
  if (budget !== undefined) return refuseByBudget(budget, grant, least, currency, at);
  const { used: usedTokens, limit } = grant;
  const what = kind === 'api' ? 'runs' : 'embedding and indexing';
  const isUsedUp = limit - usedTokens < least;
  const state = isUsedUp ? `${usedTokens} are used${whatItTakes(limit - usedTokens, `${least}`)}` : held;
  return new DomainError('INSUFFICIENT_QUOTA', `The organization may use ${limit} tokens for ${what}, and ${state}`, {
    retryAfterSeconds: isUsedUp ? retryLateSeconds : retrySoonSeconds,
  });
}

function refuseByBudget(
  { budget, endsAt }: BudgetInForce,
  { used: usedAmount, limit }: Refusal,
  least: number,
  currency: string,
  at: Date,
): DomainError {
  const isUsedUp = limit - usedAmount < least;
  const toText = (amount: number) => (budget.unit === 'MONEY' ? `${toMoney(amount)} ${currency}` : `${amount} tokens`);
  const state = isUsedUp
    ? `${toText(usedAmount)} are used; it begins again at ${endsAt.toISOString()}${whatItTakes(limit - usedAmount, toText(least))}`
    : held;
  const seconds = Math.max(1, Math.ceil((endsAt.getTime() - at.getTime()) / 1_000));
  return new DomainError('INSUFFICIENT_QUOTA', `${describeBudget(budget)} allows ${toText(limit)}, and ${state}`, {
    retryAfterSeconds: isUsedUp ? seconds : retrySoonSeconds,
    budgetId: budget.id,
  });
}

/** Where something is left, people ask why it does not do. */
function whatItTakes(left: number, least: string): string {
  return left <= 0 ? '' : `. This call takes at least ${least}`;
}

/** The error of a model that a budget in money cannot count. */
export function refuseUnpriced(modelId: string, budget: Budget): DomainError {
  const name = describeBudget(budget);
  return new DomainError(
    'FORBIDDEN',
    `The model ${modelId} has no price, so it cannot be used here: ${name.charAt(0).toLowerCase()}${name.slice(1)} is in money. An administrator may give it a price in MODELS_FILE, or let the budget allow models without one`,
  );
}

/** Money of a budget as a decimal number. */
export function toMoney(amount: number): number {
  return amount / moneyUnits;
}

const subjectNames = { GROUP: 'group', USER: 'person', KEY: 'key', AGENT: 'agent' } as const;

function describeBudget({ id, subject, subjectId, period }: Budget): string {
  const what = subject === 'ORGANIZATION' ? 'the organization' : `the ${subjectNames[subject]} ${subjectId}`;
  return `The budget ${id} of ${what} for a ${period === 'DAY' ? 'day' : 'month'}`;
}
