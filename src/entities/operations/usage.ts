/** `api`: model runs. `data`: embedding and indexing. Each has its own limit. */
export const usageKinds = ['api', 'data'] as const;
export type UsageKind = (typeof usageKinds)[number];

/** Tokens; null is no limit. */
export type OrganizationLimits = Readonly<Record<UsageKind, number | null>>;

/** The limits of an organization, and the tokens of each kind that it ever used. */
export type TokenLimits = Readonly<Record<UsageKind, TokenLimit>>;
export interface TokenLimit {
  /** Null is no limit. */
  readonly limit: number | null;
  readonly used: number;
}

/** Tokens used: by embedding and indexing, and by runs. */
export interface UsageSums {
  readonly dataTokensUsed: number;
  readonly apiTokensUsed: number;
}

export const noTokensUsed: UsageSums = { dataTokensUsed: 0, apiTokensUsed: 0 };

/** From the first moment to before the second; undefined means no bound. */
export interface UsagePeriod {
  readonly from: Date | undefined;
  readonly to: Date | undefined;
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

/** One UTC day. */
export interface UsageDay extends UsageSums {
  /** `2026-01-31` */
  readonly day: string;
}

/** Upstreams may report anything: a number that the database refuses would block all rows that are written with it. */
export function countable(tokens: number): number {
  return Number.isFinite(tokens) ? Math.min(Math.max(0, Math.trunc(tokens)), 2_147_483_647) : 0;
}
