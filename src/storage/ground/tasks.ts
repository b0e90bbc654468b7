// Raw SQL: leases. One statement takes all tasks that are due, by the time of the database.
import type { Database } from './database.ts';
import { type Lease, leaseSql, milliseconds, writeLeased } from './leases.ts';

/** Tasks that one of all processes repeats. */
export interface TaskStore {
  /** Makes the rows of tasks that are new: they are due at once. */
  prepare(ids: readonly string[]): Promise<void>;
  /** The tasks of these that are due and that nobody has. Cost: one statement. */
  takeDue(ids: readonly string[], owner: string, leaseMs: number): Promise<readonly Lease[]>;
  /** The task has ended, well or not: it is due again after a while. @throws LeaseLostError */
  end(lease: Lease, everyMs: number): Promise<void>;
  /** Undefined before the first end. */
  endedAt(id: string): Promise<Date | undefined>;
}

export function createTaskStore(db: Database): TaskStore {
  return {
    async prepare(ids) {
      await db.prisma.repeatedTask.createMany({ data: ids.map((id) => ({ id })), skipDuplicates: true });
    },
    async takeDue(ids, owner, leaseMs) {
      const taken = await db.query<{ readonly id: string; readonly fence: number }>(
        `update repeated_tasks set ${leaseSql.taken('task', '$2', '$3')}
         where id = any($1::text[]) and "nextAt" <= now() and ${leaseSql.isFree('task', '$2')} returning id, fence`,
        [ids, owner, leaseMs],
      );
      return taken.map((lease) => ({ ...lease, owner }));
    },
    async end(lease, everyMs) {
      const next = `"nextAt" = now() + ${milliseconds('$4')}, "endedAt" = now()`;
      await writeLeased(db, 'task', lease, `${next}, ${leaseSql.ended('task')}`, [everyMs]);
    },
    async endedAt(id) {
      return (await db.prisma.repeatedTask.findUnique({ where: { id } }))?.endedAt ?? undefined;
    },
  };
}
