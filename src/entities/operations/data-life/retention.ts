/** What an organization keeps for a number of days. */
export const retainedKinds = ['chats', 'runs', 'events', 'usage', 'audit'] as const;
export type RetainedKind = (typeof retainedKinds)[number];
/** What sweeps delete: of `versions` of agents an organization chooses nothing. */
export type SweptKind = RetainedKind | 'versions';

/** What the choice of days for a kind is called, in inputs and in the table. */
export const retentionMembers = {
  chats: 'chatDays',
  runs: 'runDays',
  events: 'eventDays',
  usage: 'usageDays',
  audit: 'auditDays',
} as const satisfies Record<RetainedKind, string>;

/** The days that an organization may choose. Usage and audit entries are kept for a month at least: bills and incidents are looked into later. */
export const retentionDays = {
  chats: { min: 1, max: 36_500 },
  runs: { min: 1, max: 36_500 },
  events: { min: 1, max: 36_500 },
  usage: { min: 30, max: 36_500 },
  audit: { min: 30, max: 36_500 },
} as const satisfies Record<RetainedKind, { readonly min: number; readonly max: number }>;

/** The organization's own choice in days; null: as the installation does. */
export type OwnRetention = Readonly<Record<RetainedKind, number | null>>;

/** How long an organization keeps one kind. */
export interface RetentionPeriod {
  /** The organization's own choice; null: as the installation does. */
  readonly days: number | null;
  /** What applies; null: it is kept until somebody deletes it. */
  readonly effectiveDays: number | null;
}
export type Retention = { readonly orgId: string } & Readonly<Record<RetainedKind, RetentionPeriod>>;
