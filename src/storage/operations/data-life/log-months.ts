// Raw SQL: partitions. Prisma knows a table of months as one table.
import { lowerBoundOfIds, timeOfId, timeOfIdStart } from '../../../entities/ground/ids.ts';
import type { Database } from '../../ground/database.ts';
import { Store } from '../../ground/store.ts';
import { listIdRanges, shortLockWait } from './id-ranges.ts';

/** The tables of months, by the kind of data that they keep. Their ids hold their time, so the id alone says which month a row belongs to. */
export const logTables = {
  usage: { table: 'usage_entries', idKind: 'usageEntry' },
  audit: { table: 'audit_entries', idKind: 'auditEntry' },
} as const;
export type LogKind = keyof typeof logTables;

/** One part of a table, with the rows whose ids were made in a period. */
export interface LogMonth {
  /** The name of the part, quoted. */
  readonly name: string;
  /** Undefined: everything before `to`, which was written before the table had months. */
  readonly from: Date | undefined;
  readonly to: Date;
  readonly sizeBytes: number;
}

const monthsAhead = 3;
/** A month of more rows stays where it is: moving it would take too long. Its rows are deleted one by one. */
const movedRowsMax = 200_000;
/** Older than every Parley. */
const firstYear = new Date(Date.UTC(2020, 0));

export class LogMonths extends Store {
  /** The parts with bounds, oldest first. Rows that belong to none are in one more part, and this does not name it. */
  list(kind: LogKind): Promise<readonly LogMonth[]> {
    return listMonths(this.db, kind);
  }

  /** Makes the parts of this month and the next three, where they are missing, and those of older rows that have none: they came from another database. */
  async makeAhead(now: Date): Promise<void> {
    for (const kind of ['usage', 'audit'] as const) {
      const existing = await listMonths(this.db, kind);
      for (let ahead = 0; ahead <= monthsAhead; ahead += 1) {
        const [from, to] = [monthStart(now, ahead), monthStart(now, ahead + 1)];
        const isThere = existing.some((month) => month.to > from && (month.from === undefined || month.from < to));
        if (!isThere) await makeMonth(this.db, kind, from, to);
      }
      for (let oldest = await oldestOther(this.db, kind, firstYear, now); oldest !== undefined; ) {
        const [from, to] = [monthStart(oldest, 0), monthStart(oldest, 1)];
        if (await isSmall(this.db, kind, from, to)) await makeMonth(this.db, kind, from, to);
        oldest = await oldestOther(this.db, kind, to, now);
      }
    }
  }

  /** Drops a part. @returns about how many rows it had. @throws when the table is in use for more than two seconds. */
  drop(month: LogMonth): Promise<number> {
    return this.db.transaction(async (tx) => {
      await tx.execute(shortLockWait);
      const countSql = `select greatest(reltuples, 0)::float8 as count from pg_class where oid = $1::regclass`;
      const [row] = await tx.query<{ readonly count: number }>(countSql, [month.name]);
      await tx.execute(`drop table ${month.name}`);
      return row?.count ?? 0;
    });
  }
}

async function listMonths(db: Database, kind: LogKind): Promise<readonly LogMonth[]> {
  const ranges = await listIdRanges(db, logTables[kind].table);
  const months = ranges.map(({ from, to, ...month }) => ({
    ...month,
    from: from === undefined ? undefined : timeOfIdStart(from),
    to: timeOfIdStart(to),
  }));
  return months.sort((a, b) => a.to.getTime() - b.to.getTime());
}

/** When the oldest row was made that belongs to no month, of those made in a period. Cost: one look into an index. */
async function oldestOther(db: Database, kind: LogKind, from: Date, to: Date): Promise<Date | undefined> {
  const { table, idKind } = logTables[kind];
  const [row] = await db.query<{ readonly id: string | null }>(
    `select min(id) as id from ${table}_other where id >= $1 and id < $2`,
    [lowerBoundOfIds(idKind, from), lowerBoundOfIds(idKind, to)],
  );
  return row?.id === null || row === undefined ? undefined : timeOfId(row.id);
}

async function isSmall(db: Database, kind: LogKind, from: Date, to: Date): Promise<boolean> {
  const { table, idKind } = logTables[kind];
  const [row] = await db.query<{ readonly isLarge: boolean }>(
    `select exists (select from ${table}_other where id >= $1 and id < $2 offset ${movedRowsMax}) as "isLarge"`,
    [lowerBoundOfIds(idKind, from), lowerBoundOfIds(idKind, to)],
  );
  return row?.isLarge === false;
}

/** Rows that came before their month was there are moved into it. */
async function makeMonth(db: Database, kind: LogKind, from: Date, to: Date): Promise<void> {
  const { table, idKind } = logTables[kind];
  const name = `${table}_${from.toISOString().slice(0, 7).replace('-', '_')}`;
  const [lower, upper] = [lowerBoundOfIds(idKind, from), lowerBoundOfIds(idKind, to)];
  await db.transaction(async (tx) => {
    await tx.execute(shortLockWait);
    await tx.execute(`create table ${name} (like ${table} including defaults including generated including storage)`);
    await tx.execute(`lock table ${table}_other in access exclusive mode`);
    const [row] = await tx.query<{ readonly columns: string }>(
      `select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
      [table],
    );
    const columns = row?.columns ?? '';
    await tx.execute(
      `with moved as (delete from ${table}_other where id >= $1 and id < $2 returning ${columns})
       insert into ${name} (${columns}) select ${columns} from moved`,
      [lower, upper],
    );
    await tx.execute(`alter table ${table} attach partition ${name} for values from ('${lower}') to ('${upper}')`);
  });
}

function monthStart(now: Date, ahead: number): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead));
}
