// Raw SQL: a caller's rule is an SQL condition, and pages are bounded in bytes.
import type { DataSourceFilter } from '../../entities/accounts/access.ts';
import type { KnowledgeItem } from '../../entities/knowledge/data-source.ts';
import type { PageRequest } from '../../entities/page.ts';
import type { Database } from '../database/database.ts';
import { type BoundedRows, readPage } from '../database/sql/bounded-rows.ts';
import { selectRows } from '../database/sql/where.ts';
import { dataSourceCondition } from './source-filter-sql.ts';

const longColumns = ['name', 'uniqueId', 'parentUniqueId', 'filename', 'contentUrl', 'metadata', 'errorMessage'];

/** An item whose source matches. */
export async function findItem(db: Database, id: string, filter: DataSourceFilter): Promise<KnowledgeItem | undefined> {
  const rows = await selectRows<KnowledgeItemRow>(
    db,
    (given) => `select i.* from knowledge_items i join data_sources s on s.id = i."dataSourceId"
      where i.id = ${given.add(id)} and s."deletingAt" is null and ${dataSourceCondition(filter, given)}`,
  );
  return rows.map(knowledgeItemOf)[0];
}

/** Items of a source, oldest first. */
export async function readItems(
  db: Database,
  dataSourceId: string,
  page: PageRequest,
  offset: number | undefined,
): Promise<BoundedRows<KnowledgeItem>> {
  const [time, id] = page.after ?? ['-infinity', ''];
  const text = `select * from knowledge_items
    where "dataSourceId" = $1 and "indexStatus" <> 'DELETING' and ("createdAt", id) > ($2::timestamptz, $3)
    order by "createdAt", id limit $4 offset $5`;
  const values = [dataSourceId, time, id, page.limit + 1, offset ?? 0];
  const { rows, foundCount } = await readPage<KnowledgeItemRow>(db, { text, values }, longColumns);
  return { rows: rows.map(knowledgeItemOf), foundCount };
}

type KnowledgeItemRow = Omit<KnowledgeItem, 'sizeBytes'> & {
  /** bigint travels as text. */
  readonly sizeBytes: string | null;
};

function knowledgeItemOf(row: KnowledgeItemRow): KnowledgeItem {
  return { ...row, sizeBytes: row.sizeBytes === null ? null : Number(row.sizeBytes) };
}
