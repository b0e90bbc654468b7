// Raw SQL: a lease, sums and counts of many rows, and what each start asks, which does not wait for Prisma (130 ms of processor time).
import { type Lease, takeLeased, writeLeased } from '../../ground/leases.ts';
import { Store } from '../../ground/store.ts';

/** Which index answers searches, and which is being built. */
export interface SearchIndexState {
  readonly serving: string | null;
  readonly servingVersion: number | null;
  readonly building: string | null;
  readonly buildingVersion: number | null;
  readonly buildCursor: string;
  readonly itemsDone: number;
  /** About: counted when the building began. */
  readonly itemsTotal: number;
  readonly passagesDone: number;
  readonly builtAt: Date | null;
  readonly checkCursor: string;
  readonly orphanCursor: string;
  readonly checkedAt: Date | null;
}

const rowId = 'passages';

/** The state of the copy, in one row: all processes see the same. Writes need the lease. */
export class SearchIndexStates extends Store {
  /** @returns undefined while no copy is kept. */
  async read(): Promise<SearchIndexState | undefined> {
    const row = await this.db.prisma.searchIndex.findUnique({ where: { id: rowId } });
    return row === null ? undefined : { ...row, passagesDone: Number(row.passagesDone) };
  }

  /** Begins to keep a copy: from now on changes are noted. */
  async enable(): Promise<void> {
    // A start on a full disk finds what it needs without a write.
    if (await this.#isThere()) return;
    await this.db.execute('insert into search_indexes (id) values ($1) on conflict do nothing', [rowId]);
  }

  /** Ends it: an index that is there misses what changes from now on. @returns whether there was one. */
  async disable(): Promise<boolean> {
    if (!(await this.#isThere())) return false;
    const { count } = await this.db.prisma.searchIndex.deleteMany({ where: { id: rowId } });
    if (count > 0) await this.db.prisma.searchIndexChange.deleteMany({});
    return count > 0;
  }

  async #isThere(): Promise<boolean> {
    return (await this.db.execute('select from search_indexes where id = $1', [rowId])) > 0;
  }

  /** The right to write to the indexes. @returns undefined while another process has it, or no copy is kept. */
  async take(owner: string, leaseMs: number): Promise<Lease | undefined> {
    const how = { set: 'id = id', where: 'true', returning: 'id' };
    const taken = await takeLeased<{ readonly fence: number }>(this.db, 'searchIndex', { id: rowId, owner, leaseMs }, how);
    return taken === undefined ? undefined : { id: rowId, owner, fence: taken.fence };
  }

  /** @throws LeaseLostError, as all below. */
  begin(lease: Lease, index: string, version: number): Promise<void> {
    return this.#write(
      lease,
      `building = $4, "buildingVersion" = $5, "buildCursor" = '', "itemsDone" = 0, "passagesDone" = 0, "buildStartedAt" = now(),
         "itemsTotal" = (select count(*) from knowledge_items where "liveGeneration" is not null)`,
      [index, version],
    );
  }

  advance(
    lease: Lease,
    { cursor, items, passages }: { readonly cursor: string; readonly items: number; readonly passages: number },
  ): Promise<void> {
    return this.#write(lease, `"buildCursor" = $4, "itemsDone" = "itemsDone" + $5, "passagesDone" = "passagesDone" + $6`, [
      cursor,
      items,
      passages,
    ]);
  }

  /** The index that was built answers from now on. */
  finish(lease: Lease): Promise<void> {
    return this.#write(
      lease,
      `serving = building, "servingVersion" = "buildingVersion", building = null, "buildingVersion" = null, "builtAt" = now(),
         "checkCursor" = '', "orphanCursor" = '', "checkedAt" = now()`,
    );
  }

  /** An index is gone, or its building is given up. */
  forget(lease: Lease, which: 'serving' | 'building'): Promise<void> {
    return this.#write(lease, `${which} = null, "${which}Version" = null`);
  }

  /** How far the comparison is. @param isDone  a whole round ended. */
  compared(lease: Lease, { check, orphan }: { readonly check: string; readonly orphan: string }, isDone: boolean): Promise<void> {
    return this.#write(lease, `"checkCursor" = $4, "orphanCursor" = $5${isDone ? ', "checkedAt" = now()' : ''}`, [check, orphan]);
  }

  async #write(lease: Lease, set: string, values: readonly unknown[] = []) {
    await writeLeased(this.db, 'searchIndex', lease, set, values);
  }
}
