/** `api`: model runs. `data`: embedding and indexing. Each has its own limit. */
export const usageKinds = ['api', 'data'] as const;
export type UsageKind = (typeof usageKinds)[number];

/** Tokens; null is no limit. */
export type OrganizationLimits = Readonly<Record<UsageKind, number | null>>;

/** The tokens that an organization used: the sum of the ledger. */
export interface UsageReport {
  readonly orgId: string;
  readonly dataTokensUsed: number;
  readonly apiTokensUsed: number;
  readonly dataUsageTokenLimit: number | null;
  readonly apiUsageTokenLimit: number | null;
  /** Most tokens first; use without an agent is only in the totals. */
  readonly agents: readonly AgentUsage[];
}

export interface AgentUsage {
  readonly agentId: string;
  readonly dataTokensUsed: number;
  readonly apiTokensUsed: number;
}

/** One UTC day. */
export interface UsageDay {
  /** `2026-01-31` */
  readonly day: string;
  readonly dataTokensUsed: number;
  readonly apiTokensUsed: number;
}

/** Upstreams may report anything: a number that the database refuses would block all rows that are written with it. */
export function countable(tokens: number): number {
  return Number.isFinite(tokens) ? Math.min(Math.max(0, Math.trunc(tokens)), 2_147_483_647) : 0;
}
