import type { DataSourceFilter } from '../../entities/accounts/access.ts';
import type { KnowledgeItem } from '../../entities/knowledge/data-source.ts';
import { type Page, type PageRequest, pageOf, timeKey } from '../../entities/page.ts';
import type { Database } from '../database/database.ts';
import { readPage, requireWholePage } from '../database/sql/bounded-rows.ts';
import { Parameters, prepared } from '../database/sql/where.ts';
import { dataSourceCondition } from './source-filter.ts';

/** The documents of sources. Those under deletion are gone for everybody. */
export interface KnowledgeItemStore {
  /** An item whose source matches. */
  find(id: string, filter: DataSourceFilter): Promise<KnowledgeItem | undefined>;
  /** Oldest first; who may see the source is decided before. */
  list(dataSourceId: string, page: PageRequest, offset: number | undefined): Promise<Page<KnowledgeItem>>;
  setCite(id: string, cite: boolean): Promise<void>;
}

export function createKnowledgeItemStore(db: Database): KnowledgeItemStore {
  const { pool } = db;
  return {
    async find(id, filter) {
      const parameters = new Parameters();
      const text = `select i.* from knowledge_items i join data_sources s on s.id = i."dataSourceId"
        where i.id = ${parameters.add(id)} and s."deletingAt" is null and ${dataSourceCondition(filter, parameters)}`;
      const { rows } = await pool.query<KnowledgeItemRow>(prepared(text, parameters.values));
      return rows.map(knowledgeItemOf)[0];
    },
    async list(dataSourceId, page, offset) {
      const [time, id] = page.after ?? ['-infinity', ''];
      const text = `select * from knowledge_items
        where "dataSourceId" = $1 and "indexStatus" <> 'DELETING' and ("createdAt", id) > ($2::timestamptz, $3)
        order by "createdAt", id limit $4 offset $5`;
      const values = [dataSourceId, time, id, page.limit + 1, offset ?? 0];
      const read = await readPage<KnowledgeItemRow>(db, { text, values }, longColumns);
      if (offset !== undefined) requireWholePage(db, read, page.limit);
      const countAll = async () => {
        const found = await pool.query<{ total: number }>(
          `select count(*)::int as total from knowledge_items where "dataSourceId" = $1 and "indexStatus" <> 'DELETING'`,
          [dataSourceId],
        );
        return found.rows[0]?.total ?? 0;
      };
      return pageOf(read.rows.map(knowledgeItemOf), page, timeKey, countAll, read.foundCount);
    },
    async setCite(id, cite) {
      await pool.query('update knowledge_items set cite = $2, "updatedAt" = now() where id = $1', [id, cite]);
    },
  };
}

const longColumns = ['name', 'uniqueId', 'parentUniqueId', 'filename', 'contentUrl', 'metadata', 'errorMessage'];

type KnowledgeItemRow = Omit<KnowledgeItem, 'sizeBytes'> & {
  /** bigint travels as text. */
  readonly sizeBytes: string | null;
};

function knowledgeItemOf(row: KnowledgeItemRow): KnowledgeItem {
  return { ...row, sizeBytes: row.sizeBytes === null ? null : Number(row.sizeBytes) };
}
