/** Whose use a budget bounds. */
export const budgetSubjects = ['ORGANIZATION', 'GROUP', 'USER', 'KEY', 'AGENT'] as const;
export type BudgetSubject = (typeof budgetSubjects)[number];

export const budgetPeriods = ['DAY', 'MONTH'] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

export const budgetUnits = ['TOKENS', 'MONEY'] as const;
export type BudgetUnit = (typeof budgetUnits)[number];

/** Money is counted in billionths of the currency. */
export const moneyUnits = 1_000_000_000;

/** What somebody may use in each day or month, by the clock of the organization. */
export interface Budget {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  readonly subject: BudgetSubject;
  /** The id of the organization, or of one thing of it. */
  readonly subjectId: string;
  readonly period: BudgetPeriod;
  readonly unit: BudgetUnit;
  /** Tokens, or billionths of the currency. */
  readonly amount: number;
  /** Whether models without a price may be used, which then cost nothing of it. */
  readonly allowsUnpricedModels: boolean;
}

/** A day or month of a budget. */
export interface BudgetSpan {
  /** The counter of the database: `bud_… 2026-01-31`, `bud_… 2026-01`. */
  readonly counter: string;
  readonly startsAt: Date;
  /** When the next one begins. */
  readonly endsAt: Date;
}

/** A budget with what is used of it now. */
export interface BudgetState extends BudgetSpan {
  readonly budget: Budget;
  /** Tokens, or billionths of the currency. */
  readonly used: number;
}
