import type { AgentFilter, AgentLeaf } from '../../entities/people/access.ts';
import type { Prisma } from '../generated/client.ts';
import { containing, toWhere, type WhereTree } from '../ground/lists/where.ts';

/** A rule about agents as Prisma's `where`. */
export function agentWhere(filter: AgentFilter): WhereTree<Prisma.AgentWhereInput> {
  return toWhere<AgentLeaf, Prisma.AgentWhereInput>(filter, leafWhere);
}

function leafWhere(leaf: AgentLeaf): Prisma.AgentWhereInput {
  switch (leaf.agent) {
    case 'in-organization':
      return { orgId: leaf.orgId };
    case 'in-tenant':
      return { organization: { tenantId: leaf.tenantId } };
    case 'owned-by':
      return { userId: leaf.userId };
    case 'not-owned-by':
      return { userId: { not: leaf.userId } };
    case 'edited-by':
      return { editors: { some: { userId: leaf.userId } } };
    case 'grouped-with':
      return { groups: { some: { group: { members: { some: { userId: leaf.userId } } } } } };
    case 'has-group':
      return { groups: { some: { groupId: leaf.groupId } } };
    case 'has-chat-of':
      return { users: { some: { userId: leaf.userId } } };
    case 'visible-as':
      return { visibility: leaf.visibility };
    case 'in-catalog':
      return catalogWhere[leaf.catalog];
    case 'in-category': {
      const has = leaf.categoryId;
      return { OR: [{ categoryId: has }, { orgCategoryIds: { has } }, { publicCategories: { has } }] };
    }
    case 'approved':
      return { isApprovedByOrg: leaf.isApproved };
    case 'named':
      return { name: containing(leaf.text) };
    case 'mentions':
      return { OR: [{ name: containing(leaf.text) }, { description: containing(leaf.text) }] };
  }
}

const catalogWhere = {
  organization: { listInOrgCatalog: true },
  tenant: { listInTenantCatalog: true },
  public: { listInPublicCatalog: true },
} as const satisfies Record<string, Prisma.AgentWhereInput>;
