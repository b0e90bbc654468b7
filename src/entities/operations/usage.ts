import type { Budget } from './budget.ts';

/** `api`: model runs. `data`: embedding and indexing. Each has its own limit. */
export const usageKinds = ['api', 'data'] as const;
export type UsageKind = (typeof usageKinds)[number];

/** Counters of what an organization used: of all its tokens of a kind, or of one budget in one day or month. */
export type CounterKind = UsageKind | `bud_${string}`;

/** Tokens, where null is no limit, and budgets. */
export interface OrganizationLimits extends Readonly<Record<UsageKind, number | null>> {
  /** By its clock days and months begin. */
  readonly timeZone: string;
  /** By the ids of the organization, people, keys and agents that they bound; those of a group by its members. Undefined: none. */
  readonly budgets: ReadonlyMap<string, readonly Budget[]> | undefined;
}

/** The limits of an organization, and the tokens of each kind that it ever used. */
export type TokenLimits = Readonly<Record<UsageKind, TokenLimit>>;
export interface TokenLimit {
  /** Null is no limit. */
  readonly limit: number | null;
  readonly used: number;
}

/** Tokens used, by embedding and indexing, and by runs, and what they cost. */
export interface UsageSums {
  readonly dataTokensUsed: number;
  readonly apiTokensUsed: number;
  /** What the calls cost whose cost is known, in billionths of the currency. */
  readonly costBillionths: number;
}

export const noTokensUsed: UsageSums = { dataTokensUsed: 0, apiTokensUsed: 0, costBillionths: 0 };

/** From the first moment to before the second; undefined means no bound. */
export interface UsagePeriod {
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  /** By whose clock days were counted; absent: UTC. */
  readonly timeZone?: string;
}

/** The tokens that an organization used in a period: the sum of the ledger. */
export interface UsageReport extends UsageSums {
  readonly orgId: string;
  readonly period: UsagePeriod;
  /** Whether the caller administers the organization, and so sees the use of everybody. */
  readonly isAdministered: boolean;
  readonly dataUsageTokenLimit: number | null;
  readonly apiUsageTokenLimit: number | null;
}

/** Use without an agent is in totals only. */
export interface AgentUsage extends UsageSums {
  readonly agentId: string;
}

/** What the ledger is summed up by, beside agents and days. */
export const usageSubjects = ['user', 'key', 'model'] as const;
export type UsageSubject = (typeof usageSubjects)[number];

/** What one user, key or model used. */
export interface SubjectUsage extends UsageSums {
  /** The id of the user, of the key or of the model. */
  readonly id: string;
}

/** One day of the organization's time zone. */
export interface UsageDay extends UsageSums {
  /** `2026-01-31` */
  readonly day: string;
}

/** Upstreams may report anything: a number that the database refuses would block all rows that are written with it. */
export function countable(tokens: number): number {
  return Number.isFinite(tokens) ? Math.min(Math.max(0, Math.trunc(tokens)), 2_147_483_647) : 0;
}
