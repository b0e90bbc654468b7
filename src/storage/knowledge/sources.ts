import type { PoolClient } from 'pg';
import type { AgentFilter, DataSourceFilter } from '../../entities/accounts/access.ts';
import type { DataSource, DataSourceType, RefreshPeriod } from '../../entities/knowledge/data-source.ts';
import { type Members, reads } from '../../entities/members.ts';
import { type Page, type PageRequest, pageOf, type SortKey } from '../../entities/page.ts';
import { agentCondition } from '../agents/filter.ts';
import type { Database } from '../database/database.ts';
import type { Signals } from '../database/signals/signals.ts';
import { readPage, readWhole, requireWholePage } from '../database/sql/bounded-rows.ts';
import { byOwner, type Linked, linksSql } from '../database/sql/links.ts';
import { containing, Parameters, prepared } from '../database/sql/where.ts';
import { columnsOf, counts, type DataSourceRow, dataSourceOf, usageSql } from './source-columns.ts';
import { dataSourceCondition } from './source-filter.ts';

export interface NewDataSource {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly ownerUserId: string;
  readonly agentId: string;
  readonly name: string;
  readonly type: DataSourceType;
  readonly data: Readonly<Record<string, unknown>>;
  /** Its one document. */
  readonly item: {
    readonly id: string;
    readonly contentBlobKey: string;
    readonly filename: string;
    readonly mimeType: string;
    readonly sizeBytes: number;
  };
}

export const dataSourceOrders = ['createdAt', 'lastIndexedAt', 'usageCount'] as const;
export interface DataSourceListQuery {
  readonly search: string;
  readonly type: DataSourceType | undefined;
  readonly orderBy: (typeof dataSourceOrders)[number];
  readonly isDescending: boolean;
  /** Rows passed over before the first, where pages are asked for by number; undefined: by cursor. */
  readonly offset: number | undefined;
}

/** An agent as a list of sources shows it. */
export interface UsingAgent {
  readonly dataSourceId: string;
  readonly id: string;
  readonly name: string;
  readonly src: string;
}

/** Sources under deletion are in none of these: they are gone for everybody. */
export interface DataSourceStore {
  find(id: string, filter: DataSourceFilter): Promise<DataSource | undefined>;
  /** Those of the ids that exist and match, in no order. */
  findMany(ids: readonly string[], filter: DataSourceFilter): Promise<readonly DataSource[]>;
  /** The sources of many agents in one statement, newest attached first. `members`: what will be read of them besides their ids. */
  ofAgents(
    agentIds: readonly string[],
    filter: DataSourceFilter,
    members?: Members<DataSource>,
  ): Promise<ReadonlyMap<string, readonly DataSource[]>>;
  list(filter: DataSourceFilter, query: DataSourceListQuery, page: PageRequest): Promise<Page<DataSource>>;
  /** The agents that match and have the sources attached, by name. */
  agentsOf(dataSourceIds: readonly string[], filter: AgentFilter): Promise<readonly UsingAgent[]>;
  /** Writes source, item and attachment together with whatever `also` does in the same transaction. */
  create(source: NewDataSource, also: (client: PoolClient) => Promise<void>): Promise<void>;
  /** How many sources an agent has attached. */
  countOf(agentId: string): Promise<number>;
  attach(agentId: string, dataSourceId: string): Promise<void>;
  update(id: string, changes: DataSourceChanges): Promise<void>;
  /** Hides the sources from everybody and detaches them, together with whatever `also` does. @returns the ids that were not hidden before. */
  markDeleting(
    ids: readonly string[],
    at: Date,
    also: (client: PoolClient, ids: readonly string[]) => Promise<void>,
  ): Promise<readonly string[]>;
}
export interface DataSourceChanges {
  readonly refreshPeriod?: RefreshPeriod;
  readonly cite?: boolean;
  readonly orgVisible?: boolean;
  readonly attach?: readonly string[];
  readonly detach?: readonly string[];
}

/** Null stands before every time: what was never indexed is the oldest. */
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

export function createDataSourceStore(db: Database, signals: Signals): DataSourceStore {
  const { pool } = db;

  async function findMany(ids: readonly string[], filter: DataSourceFilter): Promise<readonly DataSource[]> {
    const parameters = new Parameters();
    const text = `select ${columns} from data_sources s ${counts}
      where s.id = any(${parameters.add(ids)}::text[]) and s."deletingAt" is null and ${dataSourceCondition(filter, parameters)}`;
    const { rows } = await pool.query<DataSourceRow>(prepared(text, parameters.values));
    return rows.map(dataSourceOf);
  }

  function announce(id: string, agentIds: readonly string[]): void {
    signals.publish('data-source-changed', id);
    for (const agentId of agentIds) signals.publish('agent-changed', agentId);
  }

  return {
    findMany,
    find: async (id, filter) => (await findMany([id], filter))[0],
    async ofAgents(agentIds, filter, members) {
      const parameters = new Parameters();
      const text = `select ${columnsOf(members)}, given.links from ${linksSql(attachments, parameters.add(agentIds))} given
        join data_sources s on s.id = given.id and s."deletingAt" is null ${reads(members, 'counts') ? counts : ''}
        where ${dataSourceCondition(filter, parameters)}`;
      const long = ['links', ...longColumns.filter((name) => reads(members, name))];
      const rows = await readWhole<DataSourceRow & Linked>(db, { text, values: parameters.values }, long);
      return byOwner(rows, dataSourceOf);
    },
    async list(filter, query, page) {
      const parameters = new Parameters();
      const narrowed = narrowing(filter, query, parameters);
      const countValues = [...parameters.values];
      const key = orderSql[query.orderBy];
      const [comparison, direction] = query.isDescending ? ['<', 'desc'] : ['>', 'asc'];
      const [afterValue, afterId] = page.after ?? [];
      const after =
        page.after === undefined
          ? ''
          : `and (${key}, s.id) ${comparison} (${parameters.add(afterValue)}::${orderType[query.orderBy]}, ${parameters.add(afterId)})`;
      // The page is found first, by ids alone: states and counts are read for its rows only.
      const text = `select ${columns} from (
          select s.id from data_sources s where ${narrowed} ${after}
          order by ${key} ${direction}, s.id ${direction} limit ${parameters.add(page.limit + 1)} offset ${parameters.add(query.offset ?? 0)}
        ) found join data_sources s using (id) ${counts} order by ${key} ${direction}, s.id ${direction}`;
      const read = await readPage<DataSourceRow>(db, { text, values: parameters.values }, longColumns);
      if (query.offset !== undefined) requireWholePage(db, read, page.limit);
      const countAll = async () => {
        const found = await pool.query<{ total: number }>(
          prepared(`select count(*)::int as total from data_sources s where ${narrowed}`, countValues),
        );
        return found.rows[0]?.total ?? 0;
      };
      return pageOf(read.rows.map(dataSourceOf), page, (source) => keyOf(source, query.orderBy), countAll, read.foundCount);
    },
    async agentsOf(dataSourceIds, filter) {
      const parameters = new Parameters();
      const text = `select x."dataSourceId", a.id, a.name, a.src from agent_data_sources x join agents a on a.id = x."agentId"
        where x."dataSourceId" = any(${parameters.add(dataSourceIds)}::text[]) and not a."isDeleted" and ${agentCondition(filter, parameters)}
        order by a.name, a.id`;
      return readWhole(db, { text, values: parameters.values }, ['src']);
    },
    async create({ agentId, item, ...source }, also) {
      await db.transaction(async (client) => {
        await client.query(
          `insert into data_sources (id, "createdAt", "updatedAt", "orgId", "ownerUserId", name, type, data)
           values ($1, $2, $2, $3, $4, $5, $6, $7)`,
          [source.id, source.createdAt, source.orgId, source.ownerUserId, source.name, source.type, JSON.stringify(source.data)],
        );
        await client.query(
          `insert into knowledge_items (id, "createdAt", "updatedAt", "orgId", "dataSourceId", name, "uniqueId", type, "indexStatus",
             "contentBlobKey", filename, "mimeType", "sizeBytes")
           values ($1, $2, $2, $3, $4, $5, $1, $6, 'QUEUED', $7, $8, $9, $10)`,
          [
            item.id,
            source.createdAt,
            source.orgId,
            source.id,
            source.name,
            source.type,
            item.contentBlobKey,
            item.filename,
            item.mimeType,
            item.sizeBytes,
          ],
        );
        await client.query('insert into agent_data_sources ("agentId", "dataSourceId", "createdAt") values ($1, $2, $3)', [
          agentId,
          source.id,
          source.createdAt,
        ]);
        await also(client);
      });
      announce(source.id, [agentId]);
    },
    async countOf(agentId) {
      const { rows } = await pool.query<{ total: number }>(
        'select count(*)::int as total from agent_data_sources where "agentId" = $1',
        [agentId],
      );
      return rows[0]?.total ?? 0;
    },
    async attach(agentId, dataSourceId) {
      await pool.query('insert into agent_data_sources ("agentId", "dataSourceId") values ($1, $2) on conflict do nothing', [
        agentId,
        dataSourceId,
      ]);
      announce(dataSourceId, [agentId]);
    },
    async update(id, { refreshPeriod, cite, orgVisible, attach = [], detach = [] }) {
      await db.transaction(async (client) => {
        await client.query(
          `update data_sources set "updatedAt" = now(), "refreshPeriod" = coalesce($2, "refreshPeriod"),
             cite = coalesce($3, cite), "orgVisible" = coalesce($4, "orgVisible") where id = $1`,
          [id, refreshPeriod, cite, orgVisible],
        );
        await client.query('delete from agent_data_sources where "dataSourceId" = $1 and "agentId" = any($2::text[])', [
          id,
          detach,
        ]);
        await client.query(
          'insert into agent_data_sources ("agentId", "dataSourceId") select agent, $1 from unnest($2::text[]) agent on conflict do nothing',
          [id, attach],
        );
      });
      announce(id, [...attach, ...detach]);
    },
    async markDeleting(ids, at, also) {
      const { marked, agentIds } = await db.transaction(async (client) => {
        const sources = await client.query<{ id: string }>(
          'update data_sources set "deletingAt" = $2 where id = any($1::text[]) and "deletingAt" is null returning id',
          [ids, at],
        );
        const attached = await client.query<{ agentId: string }>(
          'delete from agent_data_sources where "dataSourceId" = any($1::text[]) returning "agentId"',
          [ids],
        );
        const hidden = sources.rows.map(({ id }) => id);
        await also(client, hidden);
        return { marked: hidden, agentIds: attached.rows.map(({ agentId }) => agentId) };
      });
      for (const id of marked) announce(id, []);
      for (const agentId of new Set(agentIds)) signals.publish('agent-changed', agentId);
      return marked;
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
