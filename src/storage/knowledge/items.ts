import type { DataSourceFilter } from '../../entities/accounts/access.ts';
import type { KnowledgeItem } from '../../entities/knowledge/data-source.ts';
import { type Page, type PageRequest, pageOf, timeKey } from '../../entities/page.ts';
import type { Database } from '../database/database.ts';
import { requireWholePage } from '../database/sql/bounded-rows.ts';
import { findItem, readItems } from './item-queries.ts';

/** The documents of sources. Items of a source under deletion are never returned. */
export interface KnowledgeItemStore {
  /** An item whose source matches. */
  find(id: string, filter: DataSourceFilter): Promise<KnowledgeItem | undefined>;
  /** Oldest first. The domain has decided that the caller may see the source. */
  list(dataSourceId: string, page: PageRequest, offset: number | undefined): Promise<Page<KnowledgeItem>>;
  setCite(id: string, cite: boolean): Promise<void>;
}

export function createKnowledgeItemStore(db: Database): KnowledgeItemStore {
  return {
    find: (id, filter) => findItem(db, id, filter),
    async list(dataSourceId, page, offset) {
      const read = await readItems(db, dataSourceId, page, offset);
      if (offset !== undefined) requireWholePage(db, read, page.limit);
      const where = { dataSourceId, indexStatus: { not: 'DELETING' } };
      return pageOf(read.rows, page, timeKey, () => db.prisma.knowledgeItem.count({ where }), read.foundCount);
    },
    async setCite(id, cite) {
      await db.prisma.knowledgeItem.updateMany({ where: { id }, data: { cite } });
    },
  };
}
