// Raw SQL: leases. One statement takes several items, and one makes their generations live.
import type { Database, Transaction } from '../../ground/database.ts';
import { leaseSql } from '../../ground/leases.ts';
import { addUsage, UsageBatch } from '../../ground/ledger/ledger.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { lockRows } from '../../ground/sql/locks.ts';
import type { ChunkStore } from '../passages/chunks.ts';
import type { IndexedContent, IndexLease, ItemLeft } from './lease.ts';
import { leaseColumns, liveSql, nobody, type TakenItem, takenSql, toLease, toUsage } from './leased-items.ts';

/** An item that was read, whose chunks are all still to be stored. */
export interface ReadItem {
  readonly lease: IndexLease;
  readonly content: IndexedContent;
}

/** Small new items, which take and end their leases together: what a statement costs beside its rows is most of what one of them would cost alone. */
export class ItemGroups {
  readonly #db: Database;
  readonly #signals: Signals;
  readonly #chunks: ChunkStore;

  constructor(db: Database, signals: Signals, chunks: ChunkStore) {
    this.#db = db;
    this.#signals = signals;
    this.#chunks = chunks;
  }

  /**
   * Takes those of the items that are queued, have their content here, and had none before. Others are left: those that another process begins at this
   * moment, and those whose holder died, which may have died of them.
   */
  async take(itemIds: readonly string[], owner: string, leaseMs: number): Promise<readonly IndexLease[]> {
    const items = await this.#db.query<TakenItem>(takeSql, [itemIds, owner, leaseMs]);
    this.#announce(items);
    return items.map((item) => toLease(item, owner, false));
  }

  /**
   * Stores the chunks of items, makes their generations live and ends their leases, in one transaction.
   *
   * @returns what is left to do for each, by its id. Those whose lease is lost are missing, and nothing of them is stored.
   */
  async complete(items: readonly ReadItem[]): Promise<ReadonlyMap<string, ItemLeft>> {
    const ended = await this.#db.transaction(async (tx) => {
      const sourceIds = [...new Set(items.map(({ lease }) => lease.dataSourceId))];
      // Before the items, as everything else that changes both locks them.
      await lockRows(tx, 'data_sources', sourceIds);
      const rows = await tx.query<ItemLeft & { readonly id: string }>(completeSql, [JSON.stringify(items.map(toRow))]);
      const left = new Map(rows.map(({ id, ...itemLeft }) => [id, itemLeft]));
      const live = items.filter(({ lease }) => left.has(lease.id));
      await tx.prisma.dataSource.updateMany({ where: { id: { in: sourceIds } }, data: { lastIndexedAt: new Date() } });
      await this.#addChunks(tx, live);
      const charges = live.map(({ lease, content }) => toUsage(lease, content));
      await addUsage(tx, UsageBatch.of(charges), nobody);
      return { left, live };
    });
    // The chunks are stored: what fails here is done by the next group, or by the task that repeats it and tells of a failure.
    await this.#chunks.settleIndex().catch(() => undefined);
    for (const orgId of new Set(ended.live.map(({ lease }) => lease.orgId))) this.#signals.publish('usage-changed', orgId);
    this.#announce(ended.live.map(({ lease }) => lease));
    return ended.left;
  }

  async #addChunks(tx: Transaction, items: readonly ReadItem[]): Promise<void> {
    const groups = Map.groupBy(items, ({ lease, content }) => `${lease.dataSourceId} ${content.config}`);
    for (const [, group] of [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const [first] = group;
      if (first === undefined) continue;
      const chunks = group.flatMap(({ lease: { id: itemId, fence: generation }, content }) =>
        content.lastChunks.map((chunk) => ({ ...chunk, itemId, generation })),
      );
      await this.#chunks.addGroup(tx, { dataSourceId: first.lease.dataSourceId, config: first.content.config, chunks });
    }
  }

  #announce(items: readonly { readonly dataSourceId: string }[]): void {
    for (const id of new Set(items.map(({ dataSourceId }) => dataSourceId))) this.#signals.publish('data-source-changed', id);
  }
}

function toRow({
  lease: { id: itemId, owner: holder, fence, listedKey: changeKey },
  content: { lastChunks: _chunks, ...given },
}: ReadItem) {
  return { ...given, itemId, holder, fence, changeKey };
}

const takeSql = `
update knowledge_items set ${leaseSql.taken('item', '$2', '$3')}, ${takenSql}
where id in (
  select item.id from knowledge_items as item join data_sources as source on source.id = item."dataSourceId"
  where item.id = any($1::text[]) and item."indexStatus" in ('INITIALIZED', 'QUEUED') and item."liveGeneration" is null
    and item."contentBlobKey" is not null and ${leaseSql.isFree('item', '$2')} and source."deletingAt" is null
  order by item.id for update of item skip locked
)
returning "lastGeneration" as fence, ${leaseColumns}`;

const completeSql = `
update knowledge_items set "updatedAt" = now(), ${liveSql({
  ...{ documentCount: 'given."documentCount"', tokenCount: 'given."tokenCount"', contentHash: 'given."contentHash"' },
  ...{ mimeType: 'given."mimeType"', title: 'given.title', omissions: 'given.omissions' },
  ...{ changeKey: 'given."changeKey"', needsCleaning: 'false' },
})}
from jsonb_to_recordset($1::jsonb) as given("itemId" text, holder text, fence int, "changeKey" text, "documentCount" int, "tokenCount" int,
  "contentHash" text, "mimeType" text, title text, omissions jsonb)
where id = given."itemId" and "leaseOwner" = given.holder and "lastGeneration" = given.fence
returning id, "isRunWanted", "needsCleaning"`;
