import type { AgentFilter, DataSourceFilter, DataSourceLeaf } from '../../../entities/people/access.ts';
import { branches, isSelective } from '../../agents/conditions.ts';
import { agentWhere } from '../../agents/filter.ts';
import type { Prisma } from '../../generated/client.ts';
import { toWhere, type WhereTree } from '../../ground/lists/where.ts';

/** A rule about data sources as Prisma's `where`. */
export function dataSourceWhere(filter: DataSourceFilter): WhereTree<Prisma.DataSourceWhereInput> {
  return toWhere<DataSourceLeaf, Prisma.DataSourceWhereInput>(filter, (leaf) => {
    switch (leaf.dataSource) {
      case 'in-organization':
        return { orgId: leaf.orgId };
      case 'owned-by':
        return { ownerUserId: leaf.userId };
      case 'organization-visible':
        return { orgVisible: true };
      case 'cited':
        return { cite: true };
      case 'attached-to':
        return attachedTo(leaf.agent);
    }
  });
}

/** The same, without data sources that are being deleted. */
export function visibleWhere(filter: DataSourceFilter): Prisma.DataSourceWhereInput {
  return { AND: [{ deletingAt: null }, dataSourceWhere(filter)] };
}

/** Where each alternative has the index of a person, they are alternatives here too: PostgreSQL reads all agents for an OR within. */
function attachedTo(agents: AgentFilter): Prisma.DataSourceWhereInput {
  const toOne = (filter: AgentFilter) => ({ agents: { some: { agent: { AND: [{ isDeleted: false }, agentWhere(filter)] } } } });
  const each = branches(agents);
  return each.length > 0 && each.every(isSelective) ? { OR: each.map(toOne) } : toOne(agents);
}
