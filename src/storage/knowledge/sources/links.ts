import { type Members, reads } from '../../../entities/ground/members.ts';
import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { Connection } from '../../../entities/knowledge/connection.ts';
import type { DataSource } from '../../../entities/knowledge/data-source.ts';
import type { AgentFilter, DataSourceFilter } from '../../../entities/people/access.ts';
import { agentWhere } from '../../agents/filter.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database } from '../../ground/database.ts';
import { readChildPages } from '../../ground/lists/child-pages.ts';
import { byTime, readingOrder, requireShortList } from '../../ground/lists/paging.ts';
import { Store } from '../../ground/store.ts';
import { visibleWhere } from './filter.ts';
import { isPlain, longMembers, readSources, toSelect, toSource } from './rows.ts';

/** A connection, as sources name it. */
export type ConnectionName = Pick<Connection, 'id' | 'orgId' | 'ownerUserId' | 'installationId'>;

/** What leads from sources to agents and connections, and back: pages of many things at once. */
export class SourceLinks extends Store {
  /** The sources of each agent that match, last attached first. `members`: the members to read besides the ids. */
  async pagesOfAgents(
    agentIds: readonly string[],
    filter: DataSourceFilter,
    page: PageRequest,
    members?: Members<DataSource>,
  ): Promise<ReadonlyMap<string, Page<DataSource>>> {
    const where = { dataSource: visibleWhere(filter) };
    const isRead = isPlain(members);
    const agents = await this.db.prisma.agent.findMany({
      where: { id: { in: [...agentIds] } },
      select: {
        id: true,
        dataSources: {
          ...byTime('createdAt', 'desc', where, page, 'dataSourceId'),
          select: {
            createdAt: true,
            dataSource: { select: { ...(isRead ? toSelect(members) : {}), id: true, rowBytes: !isRead } },
          },
        },
      },
    });
    const sources = isRead ? undefined : await readLinked(this.db, agents, members);
    const countAll = countedOnce(() => countLinks(this.db, 'agentId', { agentId: { in: [...agentIds] }, ...where }));
    return new Map(
      agents.map(({ id, dataSources: links }) => {
        const times = new Map(links.map(({ createdAt, dataSource }) => [dataSource.id, createdAt]));
        const toKey = (source: DataSource) => timeKey({ id: source.id, createdAt: times.get(source.id) ?? source.createdAt });
        const rows = links.flatMap(
          ({ dataSource }) => sources?.get(dataSource.id) ?? (isRead ? [toSource(dataSource as never)] : []),
        );
        return [id, toPage(rows, page, toKey, () => countAll(id), links.length)];
      }),
    );
  }

  /** The agents of each source that match, newest first: their ids. */
  agentPagesOf(
    dataSourceIds: readonly string[],
    filter: AgentFilter,
    page: PageRequest,
  ): Promise<ReadonlyMap<string, Page<{ readonly id: string }>>> {
    const db = this.db;

    const where = { agent: { AND: [{ isDeleted: false }, agentWhere(filter)] } };
    const direction = readingOrder('desc', page);
    const [afterId] = page.after ?? [];
    const rest = afterId === undefined ? {} : { agentId: { [direction === 'desc' ? 'lt' : 'gt']: String(afterId) } };
    return readChildPages(this.db, page, {
      async findPlaces() {
        const agents = {
          where: { AND: [where, rest] },
          orderBy: { agentId: direction },
          take: page.limit + 1,
          select: { agentId: true },
        };
        const sources = await db.prisma.dataSource.findMany({
          where: { id: { in: [...dataSourceIds] } },
          select: { id: true, agents },
        });
        return sources.map(({ id, agents: links }) => ({ id, places: links.map(({ agentId }) => ({ id: agentId })) }));
      },
      read: async (ids) => ids.map((id) => ({ id })),
      keyOf: ({ id }) => [id],
      countAll: () => countLinks(this.db, 'dataSourceId', { dataSourceId: { in: [...dataSourceIds] }, ...where }),
    });
  }

  /** The sources that read with each of the connections and match, newest first. Cost: grows with the sources of the connections. */
  async pagesOfConnections(
    connections: readonly ConnectionName[],
    filter: DataSourceFilter,
    page: PageRequest,
  ): Promise<ReadonlyMap<string, Page<DataSource>>> {
    // What a source reads with stands in its configuration, so the pages are cut here.
    const places = await this.db.prisma.dataSource.findMany({
      where: { AND: [visibleWhere(filter), { OR: connections.flatMap(readingWith) }] },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      select: { id: true, createdAt: true, orgId: true, ownerUserId: true, data: true },
    });
    const ofConnections = connections.map((connection) => {
      const own = places.filter((place) => isReadWith(place, connection));
      return { id: connection.id, own, part: selectPart(own, page) };
    });
    const ids = [...new Set(ofConnections.flatMap(({ part }) => part.map(({ id }) => id)))];
    const rows = new Map((await readSources(this.db, ids)).map((source) => [source.id, source]));
    return new Map(
      ofConnections.map(({ id, own, part }) => {
        const sourceRows = part.flatMap((place) => rows.get(place.id) ?? []);
        return [id, toPage(sourceRows, page, timeKey, async () => own.length, part.length)];
      }),
    );
  }
}

/** Sources that are not read with their links: what is long of them stays in the database until it is known to be short enough. */
async function readLinked(
  db: Database,
  agents: readonly {
    readonly dataSources: readonly { readonly dataSource: { readonly id: string; readonly rowBytes?: number } }[];
  }[],
  members: Members<DataSource>,
): Promise<ReadonlyMap<string, DataSource>> {
  const sizes = new Map(
    agents.flatMap(({ dataSources }) => dataSources.map(({ dataSource: { id, rowBytes = 0 } }) => [id, rowBytes] as const)),
  );
  if (reads(members, ...longMembers)) {
    requireShortList(
      db,
      [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0),
    );
  }
  return new Map((await readSources(db, [...sizes.keys()], members)).map((source) => [source.id, source]));
}

type LinkOwner = 'agentId' | 'dataSourceId';

async function countLinks(
  db: Database,
  owner: LinkOwner,
  where: Prisma.AgentDataSourceWhereInput,
): Promise<ReadonlyMap<string, number>> {
  const groups = await db.prisma.agentDataSource.groupBy({ by: [owner], where, _count: true });
  return new Map(groups.map((group) => [group[owner], group._count]));
}

/** Several lists share one count, which is made when the first of them is asked for. */
function countedOnce(countAll: () => Promise<ReadonlyMap<string, number>>): (id: string) => Promise<number> {
  let counts: Promise<ReadonlyMap<string, number>> | undefined;
  return async (id) => {
    counts ??= countAll();
    return (await counts).get(id) ?? 0;
  };
}

function readingWith({ id, orgId, ownerUserId, installationId }: ConnectionName): Prisma.DataSourceWhereInput[] {
  const byToken = { orgId, data: { path: ['oauthTokenId'], equals: id } };
  if (installationId === null) return [byToken];
  return [{ orgId, ownerUserId, data: { path: ['repoHostAppInstallationId'], equals: installationId } }];
}

function isReadWith(
  place: { readonly orgId: string; readonly ownerUserId: string; readonly data: unknown },
  { id, orgId, ownerUserId, installationId }: ConnectionName,
): boolean {
  const { oauthTokenId, repoHostAppInstallationId } = place.data as Readonly<Record<string, unknown>>;
  if (installationId === null) return oauthTokenId === id;
  return repoHostAppInstallationId === installationId && place.orgId === orgId && place.ownerUserId === ownerUserId;
}

/** The places of a page of a list that is read already, and one more, in the order of reading. */
function selectPart<P extends { readonly id: string; readonly createdAt: Date }>(
  places: readonly P[],
  { after, limit, isBackward = false }: PageRequest,
): readonly P[] {
  const orderedPlaces = isBackward ? places.toReversed() : places;
  const [time = '', id = ''] = after?.map(String) ?? [];
  const isBehind = (place: P) => {
    const [ownTime = '', ownId = ''] = timeKey(place).map(String);
    const order = ownTime === time ? compare(ownId, id) : compare(ownTime, time);
    return isBackward ? order > 0 : order < 0;
  };
  return (after === undefined ? orderedPlaces : orderedPlaces.filter(isBehind)).slice(0, limit + 1);
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
