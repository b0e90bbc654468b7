// Raw SQL: a lease, and statements that number and count rows in the database.
import type { AuditEntry } from '../../../entities/operations/audit.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import { type Lease, milliseconds, takeLeased, writeLeased } from '../../ground/leases.ts';
import { isAhead } from '../../ground/sql/clock.ts';
import { Store } from '../../ground/store.ts';

/** Entries that are sent in one request. */
export interface AuditSinkBatch {
  /** The same for each attempt. */
  readonly id: string;
  readonly entries: readonly AuditEntry[];
  /** Attempts that failed. */
  readonly failures: number;
}
export interface AuditSinkBatchMax {
  readonly entries: number;
  /** About; an entry that is larger is sent alone. */
  readonly bytes: number;
}
export interface AuditSinkProgress {
  /** When the receiver last took entries. */
  readonly lastSentAt: Date | null;
  /** Entries that wait; counted up to 100,000 and those of one batch. */
  readonly waitingCount: number;
  /** The time of the oldest of them. */
  readonly oldestWaitingAt: Date | null;
  /** Since when every attempt has failed; null after one that succeeded. */
  readonly failingSince: Date | null;
  readonly lastError: string | null;
  readonly nextAttemptAt: Date | null;
}

const rowId = 'audit';
const countMax = 100_000;
/** Ids, names, times and the words of JSON of one entry. */
const entryBytes = 700;
const targetBytes = 40;
/** Attempts are at most five minutes apart: a later one was meant before the clock was set back. */
const isDue = `("nextAttemptAt" is null or "nextAttemptAt" <= now() or ${isAhead('"nextAttemptAt"', "interval '6 minutes'")})`;

/**
 * What the receiver of AUDIT_SINK_URL has got. An entry is given its position by the holder of the lease, after the commit of the entry: a transaction
 * that commits late gets a later position, and is not skipped. An entry that changes loses its position, and is sent once more.
 */
export class AuditSinkStore extends Store {
  /** Whether entries wait, and an attempt is due. Cost: one statement. */
  async isDue(): Promise<boolean> {
    const [row] = await this.db.query<{ readonly isDue: boolean }>(
      `select ${isDue} and (numbered > sent or exists (select from audit_entries where "sinkPosition" is null)) as "isDue" from audit_sinks`,
    );
    return row?.isDue === true;
  }

  /** The right to send. @returns undefined while another process has it, or no attempt is due. */
  async take(owner: string, leaseMs: number): Promise<Lease | undefined> {
    const sinkLease = { id: rowId, owner, leaseMs };
    const taken = await takeLeased<{ readonly fence: number }>(this.db, 'auditSink', sinkLease, {
      set: 'id = id',
      where: isDue,
      returning: 'id',
    });
    return taken === undefined ? undefined : { id: rowId, owner, fence: taken.fence };
  }

  /**
   * The batch that was begun, or a new one.
   *
   * @param newId  the id of a new batch.
   * @returns undefined when nothing waits.
   * @throws LeaseLostError
   */
  nextBatch(lease: Lease, newId: string, max: AuditSinkBatchMax): Promise<AuditSinkBatch | undefined> {
    return this.db.transaction((tx) => nextBatch(tx, lease, newId, max));
  }

  /** The receiver took the batch. @throws LeaseLostError */
  async markSent(lease: Lease): Promise<void> {
    const clean = 'failures = 0, "failingSince" = null, "lastError" = null, "nextAttemptAt" = null';
    await writeLeased(this.db, 'auditSink', lease, `sent = numbered, "lastSentAt" = now(), ${clean}`);
  }

  /** The receiver did not; it is asked again after `delayMs`. @throws LeaseLostError */
  async markFailed(lease: Lease, error: string, delayMs: number): Promise<void> {
    const next = `"nextAttemptAt" = now() + ${milliseconds('$5')}`;
    const set = `failures = failures + 1, "failingSince" = coalesce("failingSince", now()), "lastError" = $4, ${next}`;
    await writeLeased(this.db, 'auditSink', lease, set, [error, delayMs]);
  }

  progress(): Promise<AuditSinkProgress> {
    return progress(this.db);
  }
}

interface Place {
  readonly numbered: number;
  readonly sent: number;
  readonly batchId: string | null;
  readonly failures: number;
}

async function nextBatch(
  tx: Transaction,
  lease: Lease,
  newId: string,
  max: AuditSinkBatchMax,
): Promise<AuditSinkBatch | undefined> {
  const place = 'numbered::float8 as numbered, sent::float8 as sent, "batchId", failures';
  const { sent: sentPosition, ...batchState } = await writeLeased<Place>(tx, 'auditSink', lease, 'id = id', [], place);
  const read = async (after: number, last: number) =>
    (await tx.prisma.auditEntry.findMany({
      where: { sinkPosition: { gt: after, lte: last } },
      orderBy: { sinkPosition: 'asc' },
    })) as unknown as readonly AuditEntry[];
  const rest = batchState.numbered === sentPosition ? [] : await read(sentPosition, batchState.numbered);
  if (rest.length > 0) return { id: batchState.batchId ?? newId, entries: rest, failures: batchState.failures };
  // Nothing is left of a batch whose entries have all changed or been deleted since it was begun.
  const count = await number(tx, batchState.numbered, max);
  const next = [batchState.numbered, batchState.numbered + count, newId];
  await tx.execute('update audit_sinks set sent = $1, numbered = $2, "batchId" = $3', next);
  if (count === 0) return undefined;
  return { id: newId, entries: await read(batchState.numbered, batchState.numbered + count), failures: batchState.failures };
}

interface WaitingEntry {
  readonly id: string;
  readonly bytes: number;
  /** The least and the greatest id of all: only the months between them are opened. */
  readonly lower: string;
  readonly upper: string;
}

/** Gives the oldest waiting entries the positions after `from`. An entry that another transaction changes is left for the next batch. @returns how many. */
async function number(tx: Transaction, from: number, max: AuditSinkBatchMax): Promise<number> {
  const waiting = await tx.query<WaitingEntry>(
    `select id, bytes, min(id) over () as lower, max(id) over () as upper from (
       select id, "createdAt", "rowBytes" + octet_length(action) + cardinality("targetIds") * ${targetBytes} + ${entryBytes} as bytes
       from audit_entries where "sinkPosition" is null order by "createdAt", id limit $1 for update skip locked
     ) waiting order by "createdAt", id`,
    [max.entries],
  );
  const [first] = waiting;
  if (first === undefined) return 0;
  const ids: string[] = [];
  let sum = 0;
  for (const { id, bytes } of waiting) {
    sum += bytes;
    if (ids.length > 0 && sum > max.bytes) break;
    ids.push(id);
  }
  return tx.execute(
    `update audit_entries set "sinkPosition" = $1::bigint + array_position($2::text[], id)
     where id = any($2::text[]) and id >= $3 and id <= $4`,
    [from, ids, first.lower, first.upper],
  );
}

async function progress(db: Database): Promise<AuditSinkProgress> {
  const waiting = 'select "createdAt" from audit_entries where "sinkPosition" is null';
  const pendingEntriesSql = 'from audit_entries where "sinkPosition" > sent';
  const [row] = await db.query<AuditSinkProgress>(
    `select "lastSentAt", "failingSince", "lastError", "nextAttemptAt",
       ((select count(*) from (${waiting} limit ${countMax}) counted) + (select count(*) ${pendingEntriesSql}))::int as "waitingCount",
       least((${waiting} order by "createdAt" limit 1), (select min("createdAt") ${pendingEntriesSql})) as "oldestWaitingAt"
     from audit_sinks`,
  );
  if (row === undefined) throw new Error('the row of audit_sinks is missing');
  return row;
}
