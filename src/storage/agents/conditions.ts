import { type Filter, isAll, isAny } from '../../entities/ground/filter.ts';
import type { AgentFilter, AgentLeaf } from '../../entities/people/access.ts';
import { literal, toCondition } from '../ground/lists/where.ts';
import type { Parameters } from '../ground/sql/where.ts';

/**
 * A rule about agents as a condition of the table "agents" in SQL. It holds for the same agents as `agentWhere`. EXISTS lets the planner choose whether it reads the
 * agents of a person first or looks each agent up; it reckons IN with reading them anew for each agent.
 */
export function agentCondition(filter: AgentFilter, parameters: Parameters): string {
  return toCondition(filter, (leaf) => leafCondition(leaf, parameters));
}

function leafCondition(leaf: AgentLeaf, parameters: Parameters): string {
  switch (leaf.agent) {
    case 'in-organization':
      return `"orgId" = ${parameters.add(leaf.orgId)}`;
    case 'in-tenant':
      return `exists (select from organizations o where o.id = agents."orgId" and o."tenantId" = ${parameters.add(leaf.tenantId)})`;
    case 'owned-by':
      return `"userId" = ${parameters.add(leaf.userId)}`;
    case 'not-owned-by':
      return `"userId" <> ${parameters.add(leaf.userId)}`;
    case 'edited-by':
      return `exists (select from agent_editors e where e."agentId" = agents.id and e."userId" = ${parameters.add(leaf.userId)})`;
    case 'grouped-with':
      return `exists (select from agent_groups g join group_members m on m."groupId" = g."groupId" where g."agentId" = agents.id and m."userId" = ${parameters.add(leaf.userId)})`;
    case 'has-group':
      return `exists (select from agent_groups g where g."agentId" = agents.id and g."groupId" = ${parameters.add(leaf.groupId)})`;
    case 'has-chat-of':
      return `exists (select from agent_users u where u."agentId" = agents.id and u."userId" = ${parameters.add(leaf.userId)})`;
    case 'visible-as':
      return `visibility = ${parameters.add(leaf.visibility)}`;
    case 'in-catalog':
      return catalogColumn[leaf.catalog];
    case 'in-category': {
      const category = parameters.add(leaf.categoryId);
      return `("categoryId" = ${category} or ${category} = any("orgCategoryIds") or ${category} = any("publicCategories"))`;
    }
    case 'approved':
      return `"isApprovedByOrg" = ${parameters.add(leaf.isApproved)}`;
    case 'named':
      return `name ilike ${parameters.add(`%${literal(leaf.text)}%`)}`;
    case 'mentions': {
      const pattern = parameters.add(`%${literal(leaf.text)}%`);
      return `(name ilike ${pattern} or description ilike ${pattern})`;
    }
  }
}

const catalogColumn = {
  organization: '"listInOrgCatalog"',
  tenant: '"listInTenantCatalog"',
  public: '"listInPublicCatalog"',
} as const satisfies Record<string, string>;

/**
 * The alternatives of a rule, so that each can be read by its own index. What already names the things of one person or group is left as it is: the index of those
 * is its own. An alternative that another one contains is left out.
 */
export function branches(filter: AgentFilter): readonly AgentFilter[] {
  const lists = expand(filter).map((parts) => new Map(parts.map((part) => [JSON.stringify(part), part])));
  const isContained = (own: ReadonlyMap<string, AgentFilter>, place: number) =>
    lists.some(
      (other, otherPlace) =>
        otherPlace !== place && (other.size < own.size || otherPlace < place) && [...other.keys()].every((key) => own.has(key)),
    );
  return lists.filter((own, place) => !isContained(own, place)).map((own) => ({ all: [...own.values()] }));
}

/** Whether a rule names what one person or group has to do with, by an index of its own. */
export function isSelective(filter: AgentFilter): boolean {
  return isAll(filter) && filter.all.some((part) => !isAll(part) && !isAny(part) && selectiveLeaves.has(part.agent));
}

/** Any of the lists holds when all of its parts hold. */
function expand(filter: AgentFilter): readonly (readonly AgentFilter[])[] {
  if (isAny(filter)) return filter.any.flatMap(expand);
  if (!isAll(filter)) return [[filter]];
  if (isSelective(filter)) return isNever(filter) ? [] : [filter.all];
  return filter.all.reduce<readonly (readonly AgentFilter[])[]>(
    (lists, part) => expand(part).flatMap((parts) => lists.map((list) => [...list, ...parts])),
    [[]],
  );
}

const selectiveLeaves: ReadonlySet<AgentLeaf['agent']> = new Set([
  'owned-by',
  'edited-by',
  'grouped-with',
  'has-group',
  'has-chat-of',
]);

function isNever(filter: Filter<AgentLeaf>): boolean {
  if (isAny(filter)) return filter.any.every(isNever);
  return isAll(filter) && filter.all.some(isNever);
}
