import type { AgentCategory } from '../../entities/agents/agent.ts';
import { settled, unlessMissing } from '../ground/conflicts.ts';
import type { Database } from '../ground/database.ts';
import { removeFromAgents } from './counters.ts';

/** The headings of organizations' own catalogs. */
export interface AgentCategoryStore {
  /** By name. */
  list(orgId: string): Promise<readonly AgentCategory[]>;
  /** @param orgId  undefined: a category of any organization. */
  find(id: string, orgId: string | undefined): Promise<AgentCategory | undefined>;
  /** The categories with one of the ids that belong to the organization. */
  findMany(ids: readonly string[], orgId: string): Promise<readonly AgentCategory[]>;
  /** @throws DomainError CONFLICT when the organization has one of that name. */
  create(category: Omit<AgentCategory, 'updatedAt'>): Promise<AgentCategory>;
  /** @throws DomainError NOT_FOUND or CONFLICT. */
  rename(id: string, name: string): Promise<AgentCategory>;
  /** Removes a category, also from every agent that names it. @returns false when it was removed before. */
  delete(id: string): Promise<boolean>;
}

export function createAgentCategoryStore(db: Database): AgentCategoryStore {
  return {
    list: (orgId) => db.prisma.agentCategory.findMany({ where: { orgId }, orderBy: [{ name: 'asc' }, { id: 'asc' }] }),
    find: async (id, orgId) =>
      (await db.prisma.agentCategory.findFirst({ where: { id, ...(orgId === undefined ? {} : { orgId }) } })) ?? undefined,
    findMany: (ids, orgId) => db.prisma.agentCategory.findMany({ where: { id: { in: [...ids] }, orgId } }),
    create: (category) =>
      settled(db.prisma.agentCategory.create({ data: { ...category, updatedAt: category.createdAt } }), 'category'),
    rename: (id, name) => settled(db.prisma.agentCategory.update({ where: { id }, data: { name } }), 'category'),
    delete: (id) =>
      db.transaction(async (tx) => {
        const deleted = await unlessMissing(tx.prisma.agentCategory.delete({ where: { id } }));
        if (deleted === undefined) return false;
        await removeFromAgents(tx, deleted.orgId, id);
        return true;
      }),
  };
}
