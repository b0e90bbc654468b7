/** What an entry tells: a change, a look at what other people have, or a call that was refused. */
export const auditKinds = ['CHANGE', 'READ', 'REFUSAL'] as const;
export type AuditKind = (typeof auditKinds)[number];

/** FAILED: the call ended with an error after it had changed something. */
export const auditOutcomes = ['SUCCEEDED', 'FAILED', 'REFUSED'] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

/** One call: who did what to what, when, and from where. */
export interface AuditEntry {
  readonly id: string;
  readonly createdAt: Date;
  /** Where it happened. */
  readonly orgId: string;
  readonly actorUserId: string;
  /** As it was then. */
  readonly actorEmail: string;
  readonly actorKeyId: string;
  /** The root field: `createAgent`, `chat`. */
  readonly action: string;
  readonly kind: AuditKind;
  readonly outcome: AuditOutcome;
  /** Calls that the entry stands for. More than one only where refusals are summed up. */
  readonly count: number;
  /** `agent`, `chat`, …; null when the call has no single target. */
  readonly targetKind: string | null;
  readonly targetId: string | null;
  /** Every thing that the call named, made or showed, the target first; at most `auditTargetsMax`. */
  readonly targetIds: readonly string[];
  readonly changes: readonly AuditChange[];
  readonly requestId: string;
  /** The network address of the client; null when it is not known. */
  readonly address: string | null;
}

export const auditTargetsMax = 100;

/** A member that was given. Its value stands here when it is neither a secret nor text that people write. */
export interface AuditChange {
  readonly member: string;
  readonly value?: AuditValue;
}
export type AuditValue = string | number | boolean | null | readonly (string | number | boolean | null)[];

/** What a list of entries is narrowed to; absent is any. */
export interface AuditFilter {
  readonly orgId: string;
  readonly actorUserId?: string | undefined;
  readonly targetId?: string | undefined;
  readonly action?: string | undefined;
  readonly kind?: AuditKind | undefined;
  /** From this moment on. */
  readonly from?: Date | undefined;
  /** Before this moment. */
  readonly to?: Date | undefined;
}
