import type { GroupFilter, GroupLeaf } from '../../entities/accounts/access.ts';
import { conditionOf, type Parameters } from '../database/sql/where.ts';

/** A rule about groups as a condition on the table `groups` under the name `g`. */
export function groupCondition(filter: GroupFilter, parameters: Parameters): string {
  return conditionOf<GroupLeaf>(filter, (leaf) => {
    switch (leaf.group) {
      case 'in-organization':
        return `g."orgId" = ${parameters.add(leaf.orgId)}`;
      case 'owned-by':
        return `g."ownerUserId" = ${parameters.add(leaf.userId)}`;
      case 'has-member':
        return `exists (select 1 from group_members m where m."groupId" = g.id and m."userId" = ${parameters.add(leaf.userId)})`;
      case 'available-to-everyone':
        return `g.availability = 'EVERYONE'`;
    }
  });
}
