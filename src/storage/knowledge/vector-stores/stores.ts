// Raw SQL: a store comes with the states of its files in one statement, by a caller's rule.
import type { DataSourceFilter } from '../../../entities/accounts/access.ts';
import type {
  AttributeFilter,
  FileAttributes,
  Metadata,
  StoreFileStatus,
  StorePassage,
  VectorStore,
  VectorStoreFile,
} from '../../../entities/knowledge/vector-store.ts';
import type { Database, Transaction } from '../../database/database.ts';
import type { Signals } from '../../database/signals/signals.ts';
import { readPage } from '../../database/sql/bounded-rows.ts';
import { Parameters, selectRows } from '../../database/sql/where.ts';
import { dataSourceCondition } from '../source-filter-sql.ts';
import { addUploadRun } from '../syncing/upload-runs.ts';
import { attributeCondition } from './attributes.ts';
import {
  addItems,
  countColumns,
  fileColumns,
  filePageCondition,
  type IdPage,
  itemIdsOf,
  type NewStoreFile,
  pageCondition,
  type RowMatches,
  usedSql,
} from './rows.ts';

export interface NewVectorStore {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly ownerUserId: string;
  readonly name: string;
  readonly description: string;
  readonly metadata: Metadata;
  readonly expiresAfterDays: number | null;
  readonly expiresAt: Date | null;
}

export interface VectorStoreChanges {
  readonly name?: string;
  readonly metadata?: Metadata;
  readonly expiresAfterDays?: number | null;
}

/** What is queued in the transaction of a change. */
export type AlsoQueue = (tx: Transaction, itemIds: readonly string[]) => Promise<void>;

/** Stores under deletion, and files under deletion, are in none of these. */
export interface VectorStoreStore {
  create(store: NewVectorStore, files: readonly NewStoreFile[], also: AlsoQueue): Promise<void>;
  find(id: string, filter: DataSourceFilter): Promise<VectorStore | undefined>;
  /** By the time they were made; ids sort by it too. */
  list(filter: DataSourceFilter, page: IdPage): Promise<RowMatches<VectorStore>>;
  /** Sets the day of expiry anew: a change is a use. */
  update(id: string, changes: VectorStoreChanges): Promise<void>;
  /** Notes that a store was used, at most once a minute. */
  touch(id: string): Promise<void>;
  /** @returns false when the store has `filesMax` files, or the file already. */
  addFile(storeId: string, file: NewStoreFile, filesMax: number, also: AlsoQueue): Promise<boolean>;
  /** Has files that failed or were cancelled indexed from the beginning. @returns those of the items that it concerns. */
  beginAnew(itemIds: readonly string[], newRunId: () => string, also: AlsoQueue): Promise<readonly string[]>;
  findFile(storeId: string, fileId: string): Promise<VectorStoreFile | undefined>;
  /** Those of the files that the store has, in no order. */
  filesByIds(storeId: string, fileIds: readonly string[]): Promise<readonly VectorStoreFile[]>;
  /** The items of files that fit a filter by attributes. */
  itemsWith(storeId: string, filter: AttributeFilter): Promise<readonly string[]>;
  filesOfItems(itemIds: readonly string[]): Promise<readonly VectorStoreFile[]>;
  listFiles(storeId: string, status: StoreFileStatus | undefined, page: IdPage): Promise<RowMatches<VectorStoreFile>>;
  /** The passages of an item from a place on, in order; none before it is indexed. */
  passages(itemId: string, from: number, limit: number): Promise<RowMatches<StorePassage>>;
  setAttributes(itemId: string, attributes: FileAttributes): Promise<void>;
  /** Hides files from everybody. `of`: the files of a store, of which one or all, or one file in all stores of an organization. */
  detach(of: DetachedFiles, also: AlsoQueue): Promise<void>;
  /** Stores that expired and still have files. */
  expired(limit: number): Promise<readonly { readonly id: string; readonly orgId: string; readonly tenantId: string }[]>;
}
export type DetachedFiles =
  | { readonly storeId: string; readonly fileId?: string }
  | { readonly orgId: string; readonly fileId: string };

const storeColumns = `s.id, s."createdAt", s."orgId", s."ownerUserId", s."orgVisible", s.name, v.description, v.metadata, v."expiresAfterDays", v."lastActiveAt", v."expiresAt", counts.*`;
const counts = `cross join lateral (
  select coalesce(sum(i."sizeBytes"), 0)::float8 as "usageBytes",
    ${countColumns}
  from knowledge_items i where i."dataSourceId" = s.id and i."indexStatus" <> 'DELETING') as counts`;
const storeTables = 'data_sources s join vector_stores v on v."dataSourceId" = s.id';
export function createVectorStoreStore(db: Database, signals: Signals): VectorStoreStore {
  const announce = (id: string) => signals.publish('data-source-changed', id);
  const select = <Row extends object>(columns: string, rest: (given: Parameters) => string) =>
    selectRows<Row>(db, (given) => `select ${columns} ${rest(given)}`);
  return {
    async create({ description, metadata, expiresAfterDays, expiresAt, ...source }, files, also) {
      const { id: dataSourceId, createdAt } = source;
      await db.transaction(async (tx) => {
        await tx.prisma.dataSource.create({ data: { ...source, type: 'FILE_UPLOAD', updatedAt: createdAt } });
        const data = { dataSourceId, description, metadata, expiresAfterDays, expiresAt, lastActiveAt: createdAt };
        await tx.prisma.vectorStore.create({ data });
        await addItems(tx, dataSourceId, files);
        await also(tx, itemIdsOf(files));
      });
      announce(dataSourceId);
    },
    find: async (id, filter) =>
      (
        await select<VectorStore>(
          storeColumns,
          (given) =>
            `from ${storeTables} ${counts} where s.id = ${given.add(id)} and s."deletingAt" is null and ${dataSourceCondition(filter, given)}`,
        )
      )[0],
    list(filter, page) {
      const given = new Parameters();
      const text = `select ${storeColumns} from ${storeTables} ${counts}
        where s."deletingAt" is null and ${dataSourceCondition(filter, given)} and ${pageCondition('s.id', page, given)}`;
      return readPage<VectorStore>(db, { text, values: given.values }, ['name', 'description', 'metadata']);
    },
    async update(id, { name, metadata, expiresAfterDays }) {
      await db.transaction(async (tx) => {
        if (name !== undefined) await tx.prisma.dataSource.updateMany({ where: { id }, data: { name } });
        const changes = {
          ...(metadata === undefined ? {} : { metadata }),
          ...(expiresAfterDays === undefined ? {} : { expiresAfterDays }),
        };
        await tx.prisma.vectorStore.updateMany({ where: { dataSourceId: id }, data: changes });
        await tx.execute(usedSql, [id]);
      });
      announce(id);
    },
    async touch(id) {
      await db.execute(`${usedSql} and "lastActiveAt" < now() - interval '1 minute'`, [id]);
    },
    async addFile(storeId, file, filesMax, also) {
      const wasAdded = await db.transaction(async (tx) => {
        const rowCount = await tx.execute('select 1 from data_sources where id = $1 and "deletingAt" is null for update', [
          storeId,
        ]);
        const where = { dataSourceId: storeId, indexStatus: { not: 'DELETING' } };
        if (rowCount !== 1 || (await tx.prisma.knowledgeItem.count({ where })) >= filesMax) return false;
        if ((await tx.prisma.knowledgeItem.count({ where: { ...where, uniqueId: file.fileId } })) > 0) return false;
        await addItems(tx, storeId, [file]);
        await tx.execute(usedSql, [storeId]);
        await also(tx, [file.itemId]);
        return true;
      });
      if (wasAdded) announce(storeId);
      return wasAdded;
    },
    async beginAnew(itemIds, newRunId, also) {
      const rows = await db.transaction(async (tx) => {
        const begun = await tx.query<{ id: string; dataSourceId: string }>(
          `update knowledge_items set "updatedAt" = now(), "indexStatus" = 'QUEUED', "indexPercentage" = 0, attempt = 0, "isForced" = true,
             "errorCode" = null, "errorMessage" = null
           where id = any($1::text[]) and "indexStatus" in ('FAILED', 'SKIPPED', 'CANCELLED') returning id, "dataSourceId"`,
          [itemIds],
        );
        for (const [dataSourceId, items] of Map.groupBy(begun, (row) => row.dataSourceId)) {
          const run = { id: newRunId(), dataSourceId, trigger: 'REFRESH', isForced: true } as const;
          await addUploadRun(
            tx,
            run,
            items.map(({ id }) => id),
          );
        }
        await also(
          tx,
          begun.map(({ id }) => id),
        );
        return begun;
      });
      for (const id of new Set(rows.map(({ dataSourceId }) => dataSourceId))) announce(id);
      return rows.map(({ id }) => id);
    },
    findFile: async (storeId, fileId) =>
      (
        await select<VectorStoreFile>(
          fileColumns,
          (given) =>
            `from knowledge_items i where i."dataSourceId" = ${given.add(storeId)} and i."uniqueId" = ${given.add(fileId)} and i."indexStatus" <> 'DELETING'`,
        )
      )[0],
    filesByIds: (storeId, fileIds) =>
      select<VectorStoreFile>(
        fileColumns,
        (given) =>
          `from knowledge_items i where i."dataSourceId" = ${given.add(storeId)} and i."uniqueId" = any(${given.add(fileIds)}::text[]) and i."indexStatus" <> 'DELETING'`,
      ),
    itemsWith: async (storeId, filter) =>
      (
        await select<{ id: string }>(
          'i.id',
          (given) =>
            `from knowledge_items i where i."dataSourceId" = ${given.add(storeId)} and i."indexStatus" <> 'DELETING' and ${attributeCondition(filter, given)}`,
        )
      ).map(({ id }) => id),
    filesOfItems: (itemIds) =>
      select<VectorStoreFile>(
        fileColumns,
        (given) => `from knowledge_items i where i.id = any(${given.add(itemIds)}::text[]) and i."indexStatus" <> 'DELETING'`,
      ),
    listFiles(storeId, status, page) {
      const given = new Parameters();
      const text = `select f.* from (select ${fileColumns} from knowledge_items i
          where i."dataSourceId" = ${given.add(storeId)} and i."indexStatus" <> 'DELETING') f
        where ${status === undefined ? 'true' : `f.status = ${given.add(status)}`} and ${filePageCondition(storeId, page, given)}`;
      return readPage<VectorStoreFile>(db, { text, values: given.values }, ['filename', 'errorMessage', 'attributes']);
    },
    passages(itemId, from, limit) {
      const text = `select c.ordinal, t.text, t.gap_before as "gapBefore", t.char_start as "charStart", t.char_end as "charEnd" from knowledge_items i
        join chunks c on c.item_id = i.id and c.generation = i."liveGeneration" join chunk_texts t on t.chunk_id = c.id
        where i.id = $1 and c.ordinal >= $2 order by c.ordinal limit $3`;
      return readPage<StorePassage>(db, { text, values: [itemId, from, limit] }, ['text']);
    },
    async setAttributes(itemId, attributes) {
      const text = `update knowledge_items set metadata = metadata || jsonb_build_object('attributes', $2::jsonb) where id = $1`;
      await db.execute(text, [itemId, JSON.stringify(attributes)]);
    },
    async detach(of, also) {
      const ids = await db.transaction(async (tx) => {
        const given = new Parameters();
        // The id of the file is free for another attachment at once.
        const text = `update knowledge_items i set "indexStatus" = 'DELETING', "liveGeneration" = null, "uniqueId" = i.id, "leaseOwner" = null,
            "leaseUntil" = null, "lastGeneration" = "lastGeneration" + 1, "updatedAt" = now()
          from vector_stores v where v."dataSourceId" = i."dataSourceId" and i."indexStatus" <> 'DELETING'
            and ${'storeId' in of ? `i."dataSourceId" = ${given.add(of.storeId)}` : `i."orgId" = ${given.add(of.orgId)}`}
            ${of.fileId === undefined ? '' : `and i."uniqueId" = ${given.add(of.fileId)}`}
          returning i.id, i."dataSourceId"`;
        const rows = await tx.query<{ id: string; dataSourceId: string }>(text, given.values);
        if (rows.length > 0)
          await also(
            tx,
            rows.map(({ id }) => id),
          );
        return new Set(rows.map(({ dataSourceId }) => dataSourceId));
      });
      for (const id of ids) announce(id);
    },
    async expired(limit) {
      return db.query(
        `select s.id, s."orgId", o."tenantId" from ${storeTables} join organizations o on o.id = s."orgId"
         where v."expiresAt" <= now() and s."deletingAt" is null
           and exists (select 1 from knowledge_items i where i."dataSourceId" = s.id and i."indexStatus" <> 'DELETING') limit $1`,
        [limit],
      );
    },
  };
}
