import { type Members, reads } from '../../../entities/ground/members.ts';
import { type Page, type PageRequest, type SortKey, toPage } from '../../../entities/ground/page.ts';
import type { DataSource } from '../../../entities/knowledge/data-source.ts';
import type { AgentFilter, DataSourceFilter } from '../../../entities/people/access.ts';
import { agentWhere } from '../../agents/filter.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database } from '../../ground/database.ts';
import { byOwner } from '../../ground/links.ts';
import { type Place, readPage, requireShortList, requireWholePage } from '../../ground/lists/paging.ts';
import { containing } from '../../ground/lists/where.ts';
import { Store } from '../../ground/store.ts';
import { openStates } from '../items/states.ts';
import { visibleWhere } from './filter.ts';
import { type DataSourceListQuery, type DataSourceState, findSourcePlaces, neverIndexed } from './places.ts';
import { isPlain, longMembers, readSources, toSelect, toSource } from './rows.ts';

/** An agent in the list of a source's users. */
export interface UsingAgent {
  readonly dataSourceId: string;
  readonly id: string;
  readonly name: string;
  readonly src: string;
}

/** The queries of DataSourceStore. */
export class SourceQueries extends Store {
  /** The sources with one of the ids that exist and match, in no order. */
  async findMany(ids: readonly string[], filter: DataSourceFilter): Promise<readonly DataSource[]> {
    return readSources(this.db, ids, undefined, filter);
  }

  async find(id: string, filter: DataSourceFilter): Promise<DataSource | undefined> {
    return (await this.findMany([id], filter))[0];
  }

  /** The sources of many agents, newest attached first. `members`: the members to read besides the ids. */
  async ofAgents(
    agentIds: readonly string[],
    filter: DataSourceFilter,
    members?: Members<DataSource>,
  ): Promise<ReadonlyMap<string, readonly DataSource[]>> {
    const { agentDataSource } = this.db.prisma;
    const where = { agentId: { in: [...agentIds] }, dataSource: visibleWhere(filter) };
    const orderBy = [{ createdAt: 'desc' as const }, { dataSourceId: 'desc' as const }];
    if (isPlain(members)) {
      const select = { agentId: true, dataSource: { select: toSelect(members) } };
      const rows = await agentDataSource.findMany({ where, orderBy, select });
      return byOwner(rows.map(({ agentId, dataSource }) => ({ ownerId: agentId, thing: toSource(dataSource) })));
    }
    const select = { agentId: true, dataSource: { select: { id: true, rowBytes: true } } };
    const links = await agentDataSource.findMany({ where, orderBy, select });
    const sizes = new Map(links.map(({ dataSource }) => [dataSource.id, dataSource.rowBytes]));
    if (reads(members, ...longMembers)) {
      requireShortList(
        this.db,
        [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0),
      );
    }
    const sources = new Map((await readSources(this.db, [...sizes.keys()], members)).map((source) => [source.id, source]));
    return byOwner(
      links.flatMap(({ agentId: ownerId, dataSource }) => {
        const thing = sources.get(dataSource.id);
        return thing === undefined ? [] : { ownerId, thing };
      }),
    );
  }

  async list(filter: DataSourceFilter, query: DataSourceListQuery, page: PageRequest): Promise<Page<DataSource>> {
    const where = listWhere(filter, query);
    const places = await findSourcePlaces(this.db, where, { ...query, page });
    const read = await readPage(this.db, places, (ids) => readSources(this.db, ids));
    if (query.offset !== undefined) requireWholePage(this.db, read, page.limit);
    const countAll = (take: number) => this.db.prisma.dataSource.count({ where, take });
    return toPage(read.rows, page, (source) => toKey(source, query.orderBy), countAll, read.foundCount);
  }

  /** The agents that match and have the sources attached, by name. */
  async agentsOf(dataSourceIds: readonly string[], filter: AgentFilter): Promise<readonly UsingAgent[]> {
    const links = await this.db.prisma.agentDataSource.findMany({
      where: { dataSourceId: { in: [...dataSourceIds] }, agent: { AND: [{ isDeleted: false }, agentWhere(filter)] } },
      orderBy: [{ agent: { name: 'asc' } }, { agentId: 'asc' }],
      select: { dataSourceId: true, agent: { select: { id: true, name: true, rowBytes: true } } },
    });
    const images = await readImages(
      this.db,
      links.map(({ agent }) => agent),
    );
    return links.map(({ dataSourceId, agent: { id, name } }) => ({ dataSourceId, id, name, src: images.get(id) ?? '' }));
  }
}

function listWhere(filter: DataSourceFilter, { search, type, state }: DataSourceListQuery): Prisma.DataSourceWhereInput {
  return {
    AND: [
      visibleWhere(filter),
      ...(type === undefined ? [] : [{ type }]),
      ...(state === undefined ? [] : [stateWhere(state)]),
      ...(search === '' ? [] : [{ name: containing(search) }]),
    ],
  };
}

function stateWhere(state: DataSourceState): Prisma.DataSourceWhereInput {
  const reading = { OR: [{ runs: { some: { endedAt: null } } }, { items: { some: { indexStatus: { in: [...openStates] } } } }] };
  const failing = { OR: [{ errorCode: { not: null } }, { items: { some: { indexStatus: { in: ['FAILED', 'CANCELLED'] } } } }] };
  if (state === 'reading') return reading;
  return state === 'failing' ? failing : { NOT: { OR: [reading, failing] } };
}

function toKey(source: DataSource, orderBy: DataSourceListQuery['orderBy']): SortKey {
  if (orderBy === 'usageCount') return [source.usageCount, source.id];
  const time = orderBy === 'createdAt' ? source.createdAt : (source.lastIndexedAt ?? neverIndexed);
  return [time.toISOString(), source.id];
}

/**
 * The images of agents. They are read in portions: what else agents have may take more bytes than a list may, but an image never takes more than its row.
 *
 * @throws DomainError REPLY_TOO_LARGE
 */
async function readImages(db: Database, agents: readonly Required<Place>[]): Promise<ReadonlyMap<string, string>> {
  const images = new Map<string, string>();
  const unread = new Map(agents.map((agent) => [agent.id, agent]));
  let bytes = 0;
  while (unread.size > 0) {
    const { rows } = await readPage(db, [...unread.values()], (ids) => {
      for (const id of ids) unread.delete(id);
      return db.prisma.agent.findMany({ where: { id: { in: ids } }, select: { id: true, src: true } });
    });
    for (const { id, src } of rows) {
      images.set(id, src);
      bytes += Buffer.byteLength(src);
    }
    requireShortList(db, bytes);
  }
  return images;
}
