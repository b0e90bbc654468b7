import type { AgentFilter, AgentLeaf } from '../../entities/accounts/access.ts';
import { conditionOf, containing, type Parameters } from '../database/sql/where.ts';

const catalogColumns = {
  organization: 'listInOrgCatalog',
  tenant: 'listInTenantCatalog',
  public: 'listInPublicCatalog',
} as const;

/** A rule about agents as a condition on the table `agents` under the name `a`. */
export function agentCondition(filter: AgentFilter, parameters: Parameters): string {
  return conditionOf<AgentLeaf>(filter, (leaf) => leafSql(leaf, parameters));
}

function leafSql(leaf: AgentLeaf, parameters: Parameters): string {
  switch (leaf.agent) {
    case 'in-organization':
      return `a."orgId" = ${parameters.add(leaf.orgId)}`;
    case 'in-tenant':
      return `exists (select 1 from organizations t where t.id = a."orgId" and t."tenantId" = ${parameters.add(leaf.tenantId)})`;
    case 'owned-by':
      return `a."userId" = ${parameters.add(leaf.userId)}`;
    case 'not-owned-by':
      return `a."userId" <> ${parameters.add(leaf.userId)}`;
    case 'edited-by':
      return `exists (select 1 from agent_editors e where e."agentId" = a.id and e."userId" = ${parameters.add(leaf.userId)})`;
    case 'grouped-with':
      return `exists (select 1 from agent_groups g join group_members m on m."groupId" = g."groupId"
        where g."agentId" = a.id and m."userId" = ${parameters.add(leaf.userId)})`;
    case 'has-group':
      return `exists (select 1 from agent_groups g where g."agentId" = a.id and g."groupId" = ${parameters.add(leaf.groupId)})`;
    case 'has-chat-of':
      // As an array: the planner looks up the few agents of the user's chats, instead of asking every agent for its chats.
      return `a.id = any(array(select distinct c."agentId" from chats c
        where c."userId" = ${parameters.add(leaf.userId)} and c."deletedAt" is null))`;
    case 'visible-as':
      // A literal, so that prepared plans can use the partial index of catalogs too. The value is one of a fixed set, never a caller's text.
      return `a.visibility = '${leaf.visibility}'`;
    case 'in-catalog':
      return `a."${catalogColumns[leaf.catalog]}"`;
    case 'in-category': {
      const id = parameters.add(leaf.categoryId);
      return `(a."categoryId" = ${id} or ${id} = any(a."orgCategoryIds") or ${id} = any(a."publicCategories"))`;
    }
    case 'approved':
      return `a."isApprovedByOrg" = ${parameters.add(leaf.isApproved)}`;
    case 'mentions': {
      const pattern = parameters.add(containing(leaf.text));
      return `(a.name ilike ${pattern} or a.description ilike ${pattern})`;
    }
  }
}
