// Raw SQL: Prisma knows no partitions. They are made, checked and dropped by statements of their own.
import { type IdKind, lowerBoundOfIds } from '../../../entities/ground/ids.ts';
import type { Database } from '../../ground/database.ts';
import { Store } from '../../ground/store.ts';
import { isKeptLog, mustFold } from './event-sweeps.ts';
import { listIdRanges, shortLockWait } from './id-ranges.ts';

/** Kinds of ids that stored runs have. Each has partitions of its own: ids of one kind sort by time. */
export const storedRunKinds = ['run', 'response'] as const satisfies readonly IdKind[];
export type StoredRunKind = (typeof storedRunKinds)[number];

/** The events of runs of one kind that were asked for in some days. */
export interface EventPartition {
  readonly name: string;
  readonly kind: StoredRunKind;
  /** The first possible id, and the first one behind it. */
  readonly from: string;
  readonly to: string;
}

const dayMs = 86_400_000;
/** A partition is made while it begins at least so many milliseconds later, so that no run of it has begun. */
const leadMs = 3_600_000;
/** Partitions are there for so many widths from now on, and made for one more. */
const widthsAhead = 2;
const table = 'run_event_batches';
const rest = 'run_event_batches_rest';
/** One process changes partitions at a time. */
const partitionLock = 7_215_584;
/** Up to this size, the rest is looked through under the lock that adds a partition. */
const smallRestBytes = 32 * 1024 * 1024;

export class EventPartitionStore extends Store {
  /** In the order of their ids. Events whose run is of no partition are in the rest. */
  list(): Promise<readonly EventPartition[]> {
    return listPartitions(this.db);
  }

  /**
   * Makes the partitions of the next days where they are missing. They begin tomorrow at the earliest: runs go on in the partition where they began.
   *
   * @param widthDays  days of a new partition.
   * @throws the database's error, also when a lock is not free within two seconds; the next call goes on.
   */
  async makeAhead(now: Date, widthDays: number): Promise<void> {
    const missing = missingPartitions(await this.list(), now, widthDays);
    if (missing.length === 0) return;
    const [size] = await this.db.query<{ readonly bytes: number }>(`select pg_relation_size('${rest}')::float8 as bytes`);
    const isLarge = (size?.bytes ?? 0) > smallRestBytes;
    if (isLarge) await proveAbsent(this.db, missing);
    try {
      await this.db.transaction(async (tx) => {
        await tx.execute(shortLockWait);
        await tx.query('select true from pg_advisory_xact_lock($1)', [partitionLock]);
        const existing = new Set((await listPartitions(tx)).map(({ name }) => name));
        for (const { name, from, to } of missing.filter((partition) => !existing.has(partition.name))) {
          await tx.execute(`create table ${name} (like ${table} including all)`);
          await tx.execute(`alter table ${table} attach partition ${name} for values from ('${from}') to ('${to}')`);
        }
      });
    } finally {
      if (isLarge) await withLock(this.db, `alter table ${rest} drop constraint if exists ${rest}_ahead`);
    }
  }

  /**
   * Drops a partition whose logs are all old enough to be deleted.
   *
   * @param days  of organizations that chose none.
   * @returns how many logs it had; undefined when some must stay.
   */
  dropIfOld({ name }: EventPartition, { now, days }: { readonly now: Date; readonly days: number }): Promise<number | undefined> {
    return this.db.transaction(async (tx) => {
      await tx.execute(shortLockWait);
      const [partitionState] = await tx.query<{ readonly isKept: boolean; readonly logs: number }>(
        `select coalesce(bool_or(${isKeptLog('log', '$1', '$2')} or ${mustFold}), false) as "isKept", count(distinct log."runId")::int as logs
           from ${name} log left join runs row on row.id = log."runId" left join data_retentions own on own."orgId" = row."orgId"`,
        [now.toISOString(), days],
      );
      if (partitionState === undefined || partitionState.isKept) return undefined;
      await tx.execute(`drop table ${name}`);
      return partitionState.logs;
    });
  }
}

async function listPartitions(db: Pick<Database, 'query'>): Promise<readonly EventPartition[]> {
  const ranges = await listIdRanges(db, table);
  const partitions = ranges.flatMap(({ name, from, to }): EventPartition[] => {
    if (from === undefined) return [];
    const kind = storedRunKinds.find((candidate) =>
      from.startsWith(lowerBoundOfIds(candidate, new Date(0)).slice(0, -timeChars)),
    );
    return kind === undefined ? [] : [{ name, kind, from, to }];
  });
  return partitions.sort((a, b) => (a.from < b.from ? -1 : 1));
}

/** Characters of the time of an id. */
const timeChars = 10;

function missingPartitions(existing: readonly EventPartition[], now: Date, widthDays: number): readonly EventPartition[] {
  const widthMs = widthDays * dayMs;
  return storedRunKinds.flatMap((kind) => {
    const end = existing.findLast((partition) => partition.kind === kind)?.to;
    const isAhead = end !== undefined && end >= lowerBoundOfIds(kind, new Date(now.getTime() + widthsAhead * widthMs));
    if (isAhead) return [];
    const missing: EventPartition[] = [];
    let fromMs = Math.ceil((now.getTime() + leadMs) / dayMs) * dayMs;
    const untilMs = fromMs + widthsAhead * widthMs;
    for (; fromMs <= untilMs; fromMs += dayMs) {
      const from = lowerBoundOfIds(kind, new Date(fromMs));
      if (end !== undefined && from < end) continue;
      const to = lowerBoundOfIds(kind, new Date(fromMs + widthMs));
      const day = new Date(fromMs).toISOString().slice(0, 10).replaceAll('-', '');
      missing.push({ name: `${table}_${kind}_${day}`, kind, from, to });
      fromMs += widthMs - dayMs;
    }
    return missing;
  });
}

/** Lets the database know that the rest has no row of new partitions, without a lock on it while it looks through the rows. */
async function proveAbsent(db: Database, missing: readonly EventPartition[]): Promise<void> {
  const conditions = missing.map(({ from, to }) => `("runId" < '${from}' or "runId" >= '${to}')`);
  await withLock(db, `alter table ${rest} drop constraint if exists ${rest}_ahead`);
  await withLock(db, `alter table ${rest} add constraint ${rest}_ahead check (${conditions.join(' and ')}) not valid`);
  await db.execute(`alter table ${rest} validate constraint ${rest}_ahead`);
}

async function withLock(db: Database, statement: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(shortLockWait);
    await tx.execute(statement);
  });
}
