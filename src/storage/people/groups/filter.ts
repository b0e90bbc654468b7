import type { GroupFilter, GroupLeaf } from '../../../entities/people/access.ts';
import type { Prisma } from '../../generated/client.ts';
import { toWhere, type WhereTree } from '../../ground/lists/where.ts';

/** A rule about groups as Prisma's `where`. */
export function groupWhere(filter: GroupFilter): WhereTree<Prisma.GroupWhereInput> {
  return toWhere<GroupLeaf, Prisma.GroupWhereInput>(filter, (leaf) => {
    switch (leaf.group) {
      case 'in-organization':
        return { orgId: leaf.orgId };
      case 'owned-by':
        return { ownerUserId: leaf.userId };
      case 'has-member':
        return { members: { some: { userId: leaf.userId } } };
      case 'available-to-everyone':
        return { availability: 'EVERYONE' };
    }
  });
}
