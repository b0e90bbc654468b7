import type { ProjectFilter, ProjectLeaf } from '../../../entities/people/access.ts';
import type { Prisma } from '../../generated/client.ts';
import { toWhere, type WhereTree } from '../../ground/lists/where.ts';
import { groupWhere } from '../../people/groups/filter.ts';

/** A rule about projects as Prisma's `where`. */
export function projectWhere(filter: ProjectFilter): WhereTree<Prisma.ProjectWhereInput> {
  return toWhere<ProjectLeaf, Prisma.ProjectWhereInput>(filter, (leaf) => {
    if (leaf.project === 'owned-by') return { orgId: leaf.orgId, userId: leaf.userId };
    return { orgId: leaf.orgId, groups: { some: { group: groupWhere(leaf.groups) } } };
  });
}
