import { type Page, type PageRequest, pageOfItems, type SortKey, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { GroupFilter } from '../../../entities/people/access.ts';
import type { Group, GroupMember } from '../../../entities/people/group.ts';
import { byOwner } from '../../ground/links.ts';
import { byTime, countsOfEach, newestFirst } from '../../ground/lists/paging.ts';
import { containing } from '../../ground/lists/where.ts';
import { Store } from '../../ground/store.ts';
import { groupWhere } from './filter.ts';

export interface GroupPlace {
  readonly orgId?: string | undefined;
  readonly search?: string | undefined;
}

export class GroupQueries extends Store {
  /** The groups with one of the ids that exist and match. */
  async findMany(ids: readonly string[], filter: GroupFilter): Promise<readonly Group[]> {
    return (await this.db.prisma.group.findMany({ where: { AND: [{ id: { in: [...ids] } }, groupWhere(filter)] } })) as Group[];
  }

  async find(id: string, filter: GroupFilter): Promise<Group | undefined> {
    return (await this.findMany([id], filter))[0];
  }

  /** Newest first. `search`: in the name, whatever the case. */
  async list(filter: GroupFilter, { orgId, search }: GroupPlace, page: PageRequest): Promise<Page<Group>> {
    const nameCondition = search === undefined ? {} : { name: containing(search) };
    const where = { AND: [groupWhere(filter), orgId === undefined ? {} : { orgId }, nameCondition] };
    const rows = (await this.db.prisma.group.findMany(newestFirst(where, page))) as Group[];
    return toPage(rows, page, timeKey, (take) => this.db.prisma.group.count({ where, take }));
  }

  /**
   * The groups of many agents, in the order in which each agent was given to them. Cost: one statement, which reads each group once, however many agents have it.
   */
  async ofAgents(agentIds: readonly string[], filter: GroupFilter): Promise<ReadonlyMap<string, readonly Group[]>> {
    const agents = { where: { agentId: { in: [...agentIds] } }, select: { agentId: true, createdAt: true } };
    const rows = await this.db.prisma.group.findMany({
      where: { AND: [groupWhere(filter), { agents: { some: agents.where } }] },
      include: { agents },
    });
    const links = rows.flatMap(({ agents: linked, ...group }) =>
      linked.map(({ agentId, createdAt }) => ({ ownerId: agentId, thing: group as Group, timeMs: createdAt.getTime() })),
    );
    return byOwner(links.sort((a, b) => a.timeMs - b.timeMs || (a.thing.id < b.thing.id ? -1 : 1)));
  }

  /**
   * The same page of the groups that each of several users is a member of, in the order of the users, newest first. Cost: one statement that reads the ids of all their groups,
   * and one for the groups of the pages.
   */
  async pagesOfMembers(userIds: readonly string[], filter: GroupFilter, page: PageRequest): Promise<readonly Page<Group>[]> {
    const rows = await this.db.prisma.groupMember.findMany({
      where: { userId: { in: [...userIds] }, group: groupWhere(filter) },
      orderBy: [{ group: { createdAt: 'desc' } }, { groupId: 'desc' }],
      select: { userId: true, group: { select: { id: true, createdAt: true } } },
    });
    const placesOf = Map.groupBy(rows, ({ userId }) => userId);
    const pages = userIds.map((userId) => {
      // A user who has changed the e-mail may stand in a group twice.
      const places = new Map(placesOf.get(userId)?.map(({ group }) => [group.id, group]));
      return pageOfItems([...places.values()], page, timeKey, byTimeFalling);
    });
    const ids = new Set(pages.flatMap(({ items }) => items.map(({ id }) => id)));
    const groups = new Map(ids.size === 0 ? [] : (await this.findMany([...ids], filter)).map((group) => [group.id, group]));
    return pages.map(({ items, keyOf, ...rest }) => ({
      ...{ ...rest, keyOf },
      // A group that was deleted in between is left out.
      items: items.flatMap(({ id }) => groups.get(id) ?? []),
    }));
  }

  /** The same page of the members of each of several groups, oldest first. Cost: one statement, and one for the counts of all. */
  async memberPagesOf(groupIds: readonly string[], page: PageRequest): Promise<ReadonlyMap<string, Page<GroupMember>>> {
    const select = { id: true, members: byTime('createdAt', 'asc', {}, page, 'email') };
    const rows = await this.db.prisma.group.findMany({ where: { id: { in: [...groupIds] } }, select });
    const countAll = countsOfEach(groupIds, async (ids) => {
      const where = { groupId: { in: [...ids] } };
      const counts = await this.db.prisma.groupMember.groupBy({ by: ['groupId'], where, _count: true });
      return new Map(counts.map(({ groupId, _count }) => [groupId, _count]));
    });
    const toKey = ({ createdAt, email }: GroupMember) => [createdAt.toISOString(), email];
    return new Map(rows.map(({ id, members }) => [id, toPage(members, page, toKey, countAll(id))]));
  }
}

/** The order of `newestFirst`, for sort keys of `timeKey`. */
function byTimeFalling([timeA = '', idA = '']: SortKey, [timeB = '', idB = '']: SortKey): number {
  if (timeA !== timeB) return timeA < timeB ? 1 : -1;
  return idA === idB ? 0 : idA < idB ? 1 : -1;
}
