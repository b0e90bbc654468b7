/** What an entry records: a change, a read of other people's data, or a refused call. */
export const auditKinds = ['CHANGE', 'READ', 'REFUSAL'] as const;
export type AuditKind = (typeof auditKinds)[number];

/** FAILED: the call ended with an error after it had committed a change. */
export const auditOutcomes = ['SUCCEEDED', 'FAILED', 'REFUSED'] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

/** One call: who did what to what, when, and from where. */
export interface AuditEntry {
  readonly id: string;
  readonly createdAt: Date;
  /** Where it happened. */
  readonly orgId: string;
  readonly actorUserId: string;
  /** At the time of the call. */
  readonly actorEmail: string;
  readonly actorKeyId: string;
  /** The root field: `createAgent`, `chat`. Of reads, all root fields of the request: `agents, chats`. */
  readonly action: string;
  readonly kind: AuditKind;
  readonly outcome: AuditOutcome;
  /** Number of calls; more than one only for summed-up refusals. */
  readonly count: number;
  /** `agent`, `chat`, …; null when the call has no single target. */
  readonly targetKind: string | null;
  readonly targetId: string | null;
  /** Every id that the call named, made or showed, the target first; at most `auditTargetsMax`. */
  readonly targetIds: readonly string[];
  readonly changes: readonly AuditChange[];
  readonly requestId: string;
  /** The network address of the client; null when it is not known. */
  readonly address: string | null;
}

export const auditTargetsMax = 100;

/** A member of the input. Its value is recorded when it is neither secret nor free text. */
export interface AuditChange {
  readonly member: string;
  readonly value?: AuditValue;
  /** The value before. Absent where it is not known: of a new thing, and in entries of versions that did not record it. */
  readonly before?: AuditValue;
}
export type AuditValue = string | number | boolean | null | readonly (string | number | boolean | null)[];

const valueCharsMax = 200;
const valuesMax = 50;

/** A value as an entry records it: cut where it is long; undefined for an object. */
export function toAuditValue(value: unknown): AuditValue | undefined {
  if (Array.isArray(value)) {
    return value.slice(0, valuesMax).flatMap((item) => {
      const itemValue = toAuditValue(item);
      return itemValue === undefined || typeof itemValue === 'object' ? [] : [itemValue];
    });
  }
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'string') return value.slice(0, valueCharsMax).toWellFormed();
  return value === null || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

/** A request of which reads become entries. */
export interface AuditedRequest {
  /** Its root fields: `agents`, or `agents, chats`. */
  readonly action: string;
  readonly requestId: string;
  readonly address: string | undefined;
  /** Ids that the entries of its mutations name: reads of these things need no entry besides. */
  readonly changedIds: Set<string>;
}

/** What a mutation is about to do. Its caller carries it, so that the function that makes the change can write the entry. */
export interface AuditedCall {
  readonly entryId: string;
  readonly createdAt: Date;
  /** The root field: `createAgent`. */
  readonly action: string;
  /** Ids among the arguments, the most important first. */
  readonly ids: readonly string[];
  /** The organization that the arguments name. */
  readonly orgId: string | undefined;
  readonly changes: readonly AuditChange[];
  /** The thing that the mutation names as the one that it changes, by the argument `id`; undefined without one. */
  readonly changedId: string | undefined;
  /** Members of `changes` whose values may be recorded. */
  readonly shownMembers: ReadonlySet<string>;
  readonly requestId: string;
  readonly address: string | undefined;
  /** Made over REST, whose changes of agents are published at once. */
  readonly isRest?: boolean | undefined;
  /** Whether the entry has been written with a change. */
  isWritten: boolean;
}

/** Conditions of a list of entries; an absent member matches all. */
export interface AuditFilter {
  readonly orgId: string;
  readonly actorUserId?: string | undefined;
  readonly targetId?: string | undefined;
  readonly action?: string | undefined;
  readonly kind?: AuditKind | undefined;
  /** Inclusive. */
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly to?: Date | undefined;
}
