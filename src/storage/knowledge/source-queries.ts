// Raw SQL: one statement reads a page with the states of its items by a caller's rule, and lists are bounded in bytes.
import type { AgentFilter, DataSourceFilter } from '../../entities/accounts/access.ts';
import type { DataSource, DataSourceType } from '../../entities/knowledge/data-source.ts';
import { type Members, reads } from '../../entities/members.ts';
import { type PageRequest, pageOf, type SortKey } from '../../entities/page.ts';
import { agentCondition } from '../agents/filter-sql.ts';
import type { Database } from '../database/database.ts';
import { readPage, readWhole, requireWholePage } from '../database/sql/bounded-rows.ts';
import { byOwner, type Linked, linksSql } from '../database/sql/links.ts';
import { containing, countRows, Parameters, selectRows } from '../database/sql/where.ts';
import { columnsOf, counts, type DataSourceRow, dataSourceOf, usageSql } from './source-columns.ts';
import { dataSourceCondition } from './source-filter-sql.ts';

export const dataSourceOrders = ['createdAt', 'lastIndexedAt', 'usageCount'] as const;
export interface DataSourceListQuery {
  readonly search: string;
  readonly type: DataSourceType | undefined;
  readonly orderBy: (typeof dataSourceOrders)[number];
  readonly isDescending: boolean;
  /** Rows to skip, where pages are requested by number; undefined: by cursor. */
  readonly offset: number | undefined;
}

/** An agent in the list of a source's users. */
export interface UsingAgent {
  readonly dataSourceId: string;
  readonly id: string;
  readonly name: string;
  readonly src: string;
}

/** A source that was never indexed sorts as the oldest. */
const lastIndexedSql = `coalesce(s."lastIndexedAt", 'epoch'::timestamptz)`;
const orderSql = { createdAt: 's."createdAt"', lastIndexedAt: lastIndexedSql, usageCount: usageSql };
const orderType = { createdAt: 'timestamptz', lastIndexedAt: 'timestamptz', usageCount: 'int' };

const columns = columnsOf(undefined);
const longColumns = ['name', 'data', 'errorMessage'] as const;
const attachments = {
  table: 'agent_data_sources',
  owner: 'agentId',
  thing: 'dataSourceId',
  order: 'x."createdAt" desc, x."dataSourceId" desc',
};

/** The queries of DataSourceStore. */
export function createSourceQueries(db: Database) {
  async function findMany(ids: readonly string[], filter: DataSourceFilter): Promise<readonly DataSource[]> {
    const rows = await selectRows<DataSourceRow>(
      db,
      (given) => `select ${columns} from data_sources s ${counts}
        where s.id = any(${given.add(ids)}::text[]) and s."deletingAt" is null and ${dataSourceCondition(filter, given)}`,
    );
    return rows.map(dataSourceOf);
  }

  return {
    findMany,
    find: async (id: string, filter: DataSourceFilter) => (await findMany([id], filter))[0],
    async ofAgents(agentIds: readonly string[], filter: DataSourceFilter, members?: Members<DataSource>) {
      const parameters = new Parameters();
      const text = `select ${columnsOf(members)}, given.links from ${linksSql(attachments, parameters.add(agentIds))} given
        join data_sources s on s.id = given.id and s."deletingAt" is null ${reads(members, 'counts') ? counts : ''}
        where ${dataSourceCondition(filter, parameters)}`;
      const long = ['links', ...longColumns.filter((name) => reads(members, name))];
      const rows = await readWhole<DataSourceRow & Linked>(db, { text, values: parameters.values }, long);
      return byOwner(rows, dataSourceOf);
    },
    async list(filter: DataSourceFilter, query: DataSourceListQuery, page: PageRequest) {
      const parameters = new Parameters();
      const narrowed = narrowing(filter, query, parameters);
      const key = orderSql[query.orderBy];
      const [comparison, direction] = query.isDescending ? ['<', 'desc'] : ['>', 'asc'];
      const [afterValue, afterId] = page.after ?? [];
      const after =
        page.after === undefined
          ? ''
          : `and (${key}, s.id) ${comparison} (${parameters.add(afterValue)}::${orderType[query.orderBy]}, ${parameters.add(afterId)})`;
      // The page is found first, by ids alone, so that states and counts are read for its rows only.
      const text = `select ${columns} from (
          select s.id from data_sources s where ${narrowed} ${after}
          order by ${key} ${direction}, s.id ${direction} limit ${parameters.add(page.limit + 1)} offset ${parameters.add(query.offset ?? 0)}
        ) found join data_sources s using (id) ${counts} order by ${key} ${direction}, s.id ${direction}`;
      const read = await readPage<DataSourceRow>(db, { text, values: parameters.values }, longColumns);
      if (query.offset !== undefined) requireWholePage(db, read, page.limit);
      const countAll = () => countRows(db, (counted) => `from data_sources s where ${narrowing(filter, query, counted)}`);
      return pageOf(read.rows.map(dataSourceOf), page, (source) => keyOf(source, query.orderBy), countAll, read.foundCount);
    },
    async agentsOf(dataSourceIds: readonly string[], filter: AgentFilter) {
      const parameters = new Parameters();
      const text = `select x."dataSourceId", a.id, a.name, a.src from agent_data_sources x join agents a on a.id = x."agentId"
        where x."dataSourceId" = any(${parameters.add(dataSourceIds)}::text[]) and not a."isDeleted" and ${agentCondition(filter, parameters)}
        order by a.name, a.id`;
      return readWhole<UsingAgent>(db, { text, values: parameters.values }, ['src']);
    },
  };
}

function narrowing(filter: DataSourceFilter, { search, type }: DataSourceListQuery, parameters: Parameters): string {
  return [
    's."deletingAt" is null',
    dataSourceCondition(filter, parameters),
    ...(type === undefined ? [] : [`s.type = ${parameters.add(type)}`]),
    ...(search === '' ? [] : [`s.name ilike ${parameters.add(containing(search))}`]),
  ].join(' and ');
}

function keyOf(source: DataSource, orderBy: DataSourceListQuery['orderBy']): SortKey {
  if (orderBy === 'usageCount') return [source.usageCount, source.id];
  const time = orderBy === 'createdAt' ? source.createdAt : (source.lastIndexedAt ?? new Date(0));
  return [time.toISOString(), source.id];
}
