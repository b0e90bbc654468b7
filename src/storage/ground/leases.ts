// Raw SQL: leases. One statement checks a row and takes, extends or ends its lease, by the time of the database: clocks of processes need not agree.
import type { Sql } from './database.ts';
import { Store } from './store.ts';

/**
 * What is leased: stored runs, the reading of a source, the indexing of an item, the renewal of a connection's token, the sink of the audit log, the search
 * index, a task that one of all instances repeats.
 */
export type LeaseKind = 'run' | 'sourceRun' | 'item' | 'renewal' | 'auditSink' | 'searchIndex' | 'task';

/** The right of one holder to work on a row, for a limited time. Each write of the holder names it, and fails once another has the row. */
export interface Lease {
  readonly id: string;
  /** Takes the row again without waiting for the end of its lease. For jobs: the job, so that its next attempt goes on at once. */
  readonly owner: string;
  /** Grows with every lease, and when a lease is ended from outside. */
  readonly fence: number;
}

/** Another process has the row, or what it stands for was deleted or cancelled: stop without logging an error. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

const columns = {
  run: { table: 'runs', owner: '"leaseOwner"', until: '"leaseUntil"', fence: 'fence' },
  sourceRun: { table: 'source_runs', owner: '"leaseOwner"', until: '"leaseUntil"', fence: 'fence' },
  // Also the number of the generation that the holder builds.
  item: { table: 'knowledge_items', owner: '"leaseOwner"', until: '"leaseUntil"', fence: '"lastGeneration"' },
  auditSink: { table: 'audit_sinks', owner: '"leaseOwner"', until: '"leaseUntil"', fence: 'fence' },
  searchIndex: { table: 'search_indexes', owner: '"leaseOwner"', until: '"leaseUntil"', fence: 'fence' },
  task: { table: 'repeated_tasks', owner: '"leaseOwner"', until: '"leaseUntil"', fence: 'fence' },
  // Each renewal has an owner of its own, which is fence enough.
  renewal: { table: 'connections', owner: '"renewalOwner"', until: '"renewalUntil"', fence: '0' },
} as const satisfies Record<LeaseKind, object>;

export const milliseconds = (parameter: string) => `${parameter}::double precision * interval '1 millisecond'`;

/** The SQL of leases, for statements that change more than the lease. Arguments are parameters such as `$2`. */
export const leaseSql = {
  /** SET: until when the lease runs. */
  until: (kind: LeaseKind, ms: string) => `${columns[kind].until} = now() + ${milliseconds(ms)}`,
  /** SET: a new holder. */
  taken: (kind: Exclude<LeaseKind, 'renewal'>, owner: string, ms: string) =>
    `${columns[kind].owner} = ${owner}, ${leaseSql.until(kind, ms)}, ${columns[kind].fence} = ${columns[kind].fence} + 1`,
  /** SET: no holder. */
  ended: (kind: LeaseKind) => `${columns[kind].owner} = null, ${columns[kind].until} = null`,
  /** WHERE: nobody holds the row, or `owner` does. */
  isFree: (kind: LeaseKind, owner: string) =>
    `(${columns[kind].owner} is null or ${columns[kind].owner} = ${owner} or ${columns[kind].until} < now())`,
} as const;

/** A lease whose fence is enough to know it. */
type HeldLease = Pick<Lease, 'id' | 'fence'> & Partial<Lease>;

export class Leases extends Store {
  /** Takes the right to renew the token of a connection. `owner` is a new one. @returns undefined while another process has it. */
  async takeRenewal(id: string, owner: string, leaseMs: number): Promise<Lease | undefined> {
    const { table, owner: ownerColumn } = columns.renewal;
    const taken = await this.db.execute(
      `update ${table} set ${ownerColumn} = $2, ${leaseSql.until('renewal', '$3')} where id = $1 and ${leaseSql.isFree('renewal', '$2')}`,
      [id, owner, leaseMs],
    );
    return taken === 1 ? { id, owner, fence: 0 } : undefined;
  }

  /** @throws LeaseLostError */
  async renew(kind: LeaseKind, lease: Lease, leaseMs: number): Promise<void> {
    await writeLeased(this.db, kind, lease, leaseSql.until(kind, '$4'), [leaseMs]);
  }

  /** Another may take the row at once. Does nothing when the lease is lost. */
  async release(kind: LeaseKind, lease: HeldLease): Promise<void> {
    const { owner, until } = columns[kind];
    await updateLeased(this.db, kind, lease, `${owner} = null, ${until} = now() - interval '1 second'`);
  }
}

/** Whose lease of a row is the newest, as Prisma's `where`. Nothing is written for any other holder. */
export function heldBy({ id, owner, fence }: Lease) {
  return { id, leaseOwner: owner, fence };
}

/**
 * Takes a row that nobody holds, whose lease ran out, or was one of `owner`.
 *
 * @param where  SQL: what else must be true of the row; its parameters begin at `$4`. `set` is written with the lease.
 * @returns undefined when it cannot be taken.
 */
export async function takeLeased<Row>(
  tx: Sql,
  kind: Exclude<LeaseKind, 'renewal'>,
  { id, owner, leaseMs }: { readonly id: string; readonly owner: string; readonly leaseMs: number },
  { set, where, returning }: { readonly set: string; readonly where: string; readonly returning: string },
  values: readonly unknown[] = [],
): Promise<Row | undefined> {
  const { table, fence } = columns[kind];
  const [row] = await tx.query<Row>(
    `update ${table} set ${leaseSql.taken(kind, '$2', '$3')}, ${set} where id = $1 and ${where} and ${leaseSql.isFree(kind, '$2')}
     returning ${fence} as fence, ${returning}`,
    [id, owner, leaseMs, ...values],
  );
  return row;
}

/**
 * Writes to a leased row on condition that the lease is still the newest. Inside a transaction, the row stays locked until its end.
 *
 * @param set  SQL; its parameters begin at `$4`.
 * @throws LeaseLostError
 */
export async function writeLeased<Row = object>(
  tx: Sql,
  kind: LeaseKind,
  lease: Lease,
  set: string,
  values: readonly unknown[] = [],
  returning = 'id',
): Promise<Row> {
  const row = await updateLeased<Row>(tx, kind, lease, set, values, returning);
  if (row === undefined) throw new LeaseLostError(`the lease of ${lease.id} is lost`);
  return row;
}

async function updateLeased<Row = object>(
  tx: Sql,
  kind: LeaseKind,
  { id, owner, fence }: HeldLease,
  set: string,
  values: readonly unknown[] = [],
  returning = 'id',
): Promise<Row | undefined> {
  const { table, owner: ownerColumn, fence: fenceColumn } = columns[kind];
  const [row] = await tx.query<Row>(
    `update ${table} set ${set} where id = $1 and ($2::text is null or ${ownerColumn} = $2) and ${fenceColumn} = $3 returning ${returning}`,
    [id, owner ?? null, fence, ...values],
  );
  return row;
}
