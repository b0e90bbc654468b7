// Raw SQL: values of a sequence, and rows that are deleted only in the version that was sent.
import { Store } from '../../ground/store.ts';

/** An item that is to be sent. */
export interface NotedChange {
  readonly itemId: string;
  readonly version: bigint;
}
export interface SearchIndexLag {
  /** Items of all organizations that wait; counted up to 100,000. */
  readonly items: number;
  /** Age of the oldest change that waits. */
  readonly seconds: number;
}

const countMax = 100_000;

/** What changed since it was last sent. Triggers write it, in the transaction of the change: see migration 91. */
export class SearchIndexChanges extends Store {
  /** The oldest changes. */
  async next(limit: number): Promise<readonly NotedChange[]> {
    const select = { itemId: true, version: true } as const;
    return this.db.prisma.searchIndexChange.findMany({ select, orderBy: { version: 'asc' }, take: limit });
  }

  /** Deletes changes, unless the item changed again. */
  async markSent(changes: readonly NotedChange[]): Promise<void> {
    await this.db.execute(
      `delete from search_index_changes as change using unnest($1::text[], $2::text[]) as sent(id, version)
         where change."itemId" = sent.id and change.version = sent.version::bigint`,
      [changes.map(({ itemId }) => itemId), changes.map(({ version }) => version.toString())],
    );
  }

  /** Items of some sources that wait, at most `limit`. */
  async waitingIn(dataSourceIds: readonly string[], limit: number): Promise<readonly string[]> {
    const where = { dataSourceId: { in: [...dataSourceIds] } };
    const rows = await this.db.prisma.searchIndexChange.findMany({ where, select: { itemId: true }, take: limit });
    return rows.map(({ itemId }) => itemId);
  }

  /** Notes items that a comparison found to differ. */
  async note(itemIds: readonly string[]): Promise<void> {
    if (itemIds.length === 0) return;
    await this.db.execute(
      `insert into search_index_changes ("itemId", "dataSourceId")
         select given.id, coalesce(item."dataSourceId", '') from unnest($1::text[]) as given(id) left join knowledge_items as item on item.id = given.id
         on conflict ("itemId") do update set version = excluded.version`,
      [itemIds],
    );
  }

  /** A version that is higher than those of all changes so far. */
  async newVersion(): Promise<bigint> {
    const [row] = await this.db.query<{ readonly version: string }>(
      `select nextval(pg_get_serial_sequence('search_index_changes', 'version'))::text as version`,
    );
    return BigInt(row?.version ?? 0);
  }

  async lag(): Promise<SearchIndexLag> {
    const [row] = await this.db.query<{ readonly items: number; readonly seconds: number }>(
      `select count(*)::int as items, coalesce(extract(epoch from now() - min("changedAt")), 0)::float8 as seconds
         from (select "changedAt" from search_index_changes limit ${countMax}) as waiting`,
    );
    return { items: row?.items ?? 0, seconds: Math.max(0, row?.seconds ?? 0) };
  }
}
