import type { GroupFilter } from '../../entities/accounts/access.ts';
import type { Group, GroupMember } from '../../entities/accounts/group.ts';
import type { Database } from '../database/database.ts';
import { byOwner } from '../database/links.ts';
import { requireShortList } from '../database/paging.ts';
import { groupWhere } from './group-filter.ts';

export function createGroupQueries(db: Database) {
  const findMany = async (ids: readonly string[], filter: GroupFilter): Promise<readonly Group[]> =>
    (await db.prisma.group.findMany({ where: { AND: [{ id: { in: [...ids] } }, groupWhere(filter)] } })) as Group[];
  return {
    findMany,
    find: async (id: string, filter: GroupFilter) => (await findMany([id], filter))[0],
    async list(filter: GroupFilter, limit: number): Promise<readonly Group[]> {
      const orderBy = [{ createdAt: 'desc' as const }, { id: 'desc' as const }];
      return (await db.prisma.group.findMany({ where: groupWhere(filter), orderBy, take: limit })) as Group[];
    },
    /** The groups of each agent, in the order in which they were added. */
    async ofAgents(agentIds: readonly string[], filter: GroupFilter): Promise<ReadonlyMap<string, readonly Group[]>> {
      const links = await db.prisma.agentGroup.findMany({
        where: { agentId: { in: [...agentIds] }, group: groupWhere(filter) },
        orderBy: [{ createdAt: 'asc' }, { groupId: 'asc' }],
        select: { agentId: true, group: true },
      });
      return byOwner(links.map(({ agentId, group }) => ({ ownerId: agentId, thing: group as Group })));
    },
    /** @throws DomainError REPLY_TOO_LARGE */
    async membersOf(groupIds: readonly string[]): Promise<readonly GroupMember[]> {
      const where = { groupId: { in: [...groupIds] } };
      const { _sum: sum } = await db.prisma.groupMember.aggregate({ where, _sum: { rowBytes: true } });
      requireShortList(db, sum.rowBytes);
      const orderBy = [{ createdAt: 'asc' as const }, { email: 'asc' as const }];
      return db.prisma.groupMember.findMany({ where, orderBy });
    },
  };
}
