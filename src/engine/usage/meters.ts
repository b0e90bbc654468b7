import type { Budget, BudgetSpan } from '../../entities/operations/budget.ts';
import type { CounterKind, UsageKind } from '../../entities/operations/usage.ts';
import type { UsageRow } from '../../storage/ground/ledger/ledger.ts';
import type { ModelPrice } from '../models/providers/provider.ts';

/** An upper bound of what a call uses. */
export interface TokenNeed {
  readonly input: number;
  /** Most tokens of its answer; the hold may grant fewer. */
  readonly outputMax: number;
  /** Images that it makes; default: none. */
  readonly images?: number;
  /** Searches of a reranker; default: none. */
  readonly searches?: number;
}

/** What a limit or a budget counts: tokens, or billionths of the currency. */
export interface Meter {
  readonly orgId: string;
  readonly kind: CounterKind;
  /** Undefined: the limit of an organization. */
  readonly budget: BudgetInForce | undefined;
  /** What a row of the ledger adds. */
  count(row: UsageRow): number;
}

export interface BudgetInForce extends BudgetSpan {
  readonly budget: Budget;
}

/** What a call takes of a meter: for itself, for each token that it sends, for each that it gets. */
export interface Rate {
  readonly call: number;
  readonly input: number;
  readonly output: number;
}

export const tokenRate: Rate = { call: 0, input: 1, output: 1 };

/** The meter of a limit of tokens. */
export function meterTokens(orgId: string, kind: UsageKind): Meter {
  return { orgId, kind, budget: undefined, count: (row) => (toUsageKind(row.purpose) === kind ? countTokens(row) : 0) };
}

/** The meter of a budget in one of its days or months. @param covers  whether a call counts for it. */
export function meterBudget(budget: Budget, span: BudgetSpan, covers: (row: UsageRow) => boolean): Meter {
  const { orgId, unit } = budget;
  const isWithin = ({ createdAt }: UsageRow) => createdAt >= span.startsAt && createdAt < span.endsAt;
  const measure = (row: UsageRow) => (unit === 'MONEY' ? (row.cost ?? 0) : countTokens(row));
  return {
    orgId,
    kind: span.counter as CounterKind,
    budget: { budget, ...span },
    count: (row) => (isWithin(row) && covers(row) ? measure(row) : 0),
  };
}

/** What the dearest of these prices takes of a budget in money. Null stands for a model without a price, which costs nothing. */
export function moneyRate(prices: readonly (ModelPrice | null)[], { images = 0, searches = 0 }: TokenNeed): Rate {
  let [call, input, output] = [0, 0, 0];
  for (const price of prices) {
    if (price === null) continue;
    const { perImage = 0, perThousandSearches = 0, cacheWritePerMillionTokens = 0 } = price;
    call = Math.max(call, (images * perImage + (searches * perThousandSearches) / 1_000) * 1e9);
    input = Math.max(input, Math.max(price.inputPerMillionTokens, cacheWritePerMillionTokens) * 1_000);
    output = Math.max(output, price.outputPerMillionTokens * 1_000);
  }
  return { call, input, output };
}

export function toUsageKind(purpose: UsageRow['purpose']): UsageKind {
  return purpose === 'run' ? 'api' : 'data';
}

function countTokens({ inputTokens, outputTokens }: UsageRow): number {
  return inputTokens + outputTokens;
}
