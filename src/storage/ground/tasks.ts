// Raw SQL: leases. One statement takes all tasks that are due, by the time of the database.
import { type Lease, leaseSql, milliseconds, writeLeased } from './leases.ts';
import { isAhead } from './sql/clock.ts';
import { Store } from './store.ts';

/** Tasks that one of all processes repeats. */
export class TaskStore extends Store {
  /** Makes the rows of tasks that are new: they are due at once. */
  async prepare(ids: readonly string[]): Promise<void> {
    await this.db.prisma.repeatedTask.createMany({ data: ids.map((id) => ({ id })), skipDuplicates: true });
  }

  /** The tasks of these that are due and that nobody has; also those that ended before the clock was set back. Cost: one statement. */
  async takeDue(ids: readonly string[], owner: string, leaseMs: number): Promise<readonly Lease[]> {
    const taken = await this.db.query<{ readonly id: string; readonly fence: number }>(
      `update repeated_tasks set ${leaseSql.taken('task', '$2', '$3')}
         where id = any($1::text[]) and ("nextAt" <= now() or ${isAhead('"endedAt"')}) and ${leaseSql.isFree('task', '$2')} returning id, fence`,
      [ids, owner, leaseMs],
    );
    return taken.map((lease) => ({ ...lease, owner }));
  }

  /** The task has ended, well or not: it is due again after a while. @throws LeaseLostError */
  async end(lease: Lease, everyMs: number): Promise<void> {
    const next = `"nextAt" = now() + ${milliseconds('$4')}, "endedAt" = now()`;
    await writeLeased(this.db, 'task', lease, `${next}, ${leaseSql.ended('task')}`, [everyMs]);
  }

  /** Undefined before the first end. */
  async endedAt(id: string): Promise<Date | undefined> {
    return (await this.db.prisma.repeatedTask.findUnique({ where: { id } }))?.endedAt ?? undefined;
  }
}
