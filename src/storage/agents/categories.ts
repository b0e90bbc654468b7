import type { AgentCategory } from '../../entities/agents/agent.ts';
import { settled } from '../database/conflicts.ts';
import type { Database } from '../database/database.ts';

/** The headings of organizations' own catalogs. */
export interface AgentCategoryStore {
  /** By name. */
  list(orgId: string): Promise<readonly AgentCategory[]>;
  /** @param orgId  undefined: of whatever organization. */
  find(id: string, orgId: string | undefined): Promise<AgentCategory | undefined>;
  /** Those of the ids that are of the organization. */
  findMany(ids: readonly string[], orgId: string): Promise<readonly AgentCategory[]>;
  /** @throws DomainError CONFLICT when the organization has one of that name. */
  create(category: Omit<AgentCategory, 'updatedAt'>): Promise<AgentCategory>;
  /** @throws DomainError NOT_FOUND, CONFLICT. */
  rename(id: string, name: string): Promise<AgentCategory>;
  /** Removes it, and from every agent that names it. @returns false when it was gone before. */
  delete(id: string): Promise<boolean>;
}

export function createAgentCategoryStore({ prisma, transaction }: Database): AgentCategoryStore {
  return {
    list: (orgId) => prisma.agentCategory.findMany({ where: { orgId }, orderBy: [{ name: 'asc' }, { id: 'asc' }] }),
    find: async (id, orgId) =>
      (await prisma.agentCategory.findFirst({ where: { id, ...(orgId === undefined ? {} : { orgId }) } })) ?? undefined,
    findMany: (ids, orgId) => prisma.agentCategory.findMany({ where: { id: { in: [...ids] }, orgId } }),
    create: (category) =>
      settled(prisma.agentCategory.create({ data: { ...category, updatedAt: category.createdAt } }), 'category'),
    rename: (id, name) => settled(prisma.agentCategory.update({ where: { id }, data: { name } }), 'category'),
    delete: (id) =>
      transaction(async (client) => {
        const { rows } = await client.query<{ orgId: string }>('delete from agent_categories where id = $1 returning "orgId"', [
          id,
        ]);
        const [deleted] = rows;
        if (deleted === undefined) return false;
        await client.query(
          `update agents set "orgCategoryIds" = array_remove("orgCategoryIds", $1),
             "categoryId" = case when "categoryId" = $1 then null else "categoryId" end
           where "orgId" = $2 and ($1 = any("orgCategoryIds") or "categoryId" = $1)`,
          [id, deleted.orgId],
        );
        return true;
      }),
  };
}
