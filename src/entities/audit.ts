/** One change: who did what to what, and when. */
export interface AuditEntry {
  readonly id: string;
  readonly createdAt: Date;
  /** Where it happened. */
  readonly orgId: string;
  readonly actorUserId: string;
  /** As it was then. */
  readonly actorEmail: string;
  readonly actorKeyId: string;
  /** The mutation: `createAgent`. */
  readonly action: string;
  /** `agent`, `chat`, …; null when the change has no single target. */
  readonly targetKind: string | null;
  readonly targetId: string | null;
  readonly changes: readonly AuditChange[];
  readonly requestId: string;
}

/** A member that was given. Its value stands here when it is neither a secret nor text that people write. */
export interface AuditChange {
  readonly member: string;
  readonly value?: AuditValue;
}
export type AuditValue = string | number | boolean | null | readonly (string | number | boolean | null)[];

/** What a list of changes is narrowed to; absent is any. */
export interface AuditFilter {
  readonly orgId: string;
  readonly actorUserId?: string | undefined;
  readonly targetId?: string | undefined;
  readonly action?: string | undefined;
  /** From this moment on. */
  readonly from?: Date | undefined;
  /** Before this moment. */
  readonly to?: Date | undefined;
}
