// Raw SQL: Prisma knows no partitions.
import type { Database } from '../../ground/database.ts';

/** A partition of a table that is cut by ranges of ids: ids begin with their time, so a range is a period. */
export interface IdRange {
  /** The name of the partition, as SQL takes it. */
  readonly name: string;
  /** The first possible id; undefined: no partition is before it. */
  readonly from: string | undefined;
  /** The first id behind it. */
  readonly to: string;
  readonly sizeBytes: number;
}

/** SQL: what changes partitions waits for locks no longer than this, because readers and writers wait behind it. */
export const shortLockWait = `set local lock_timeout = '2s'`;

/** The partitions of a table but the one for all other rows, in any order. */
export async function listIdRanges(db: Pick<Database, 'query'>, table: string): Promise<readonly IdRange[]> {
  const rows = await db.query<{ readonly name: string; readonly bound: string; readonly sizeBytes: number }>(
    `select child.oid::regclass::text as name, pg_get_expr(child.relpartbound, child.oid) as bound,
       pg_relation_size(child.oid)::float8 as "sizeBytes"
     from pg_inherits join pg_class child on child.oid = inhrelid where inhparent = $1::regclass`,
    [table],
  );
  return rows.flatMap(({ bound: boundId, ...range }) => {
    const [, from, to] = /^FOR VALUES FROM \((?:MINVALUE|'([^']+)')\) TO \('([^']+)'\)$/.exec(boundId) ?? [];
    return to === undefined ? [] : [{ ...range, from, to }];
  });
}
