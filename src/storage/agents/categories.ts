import type { AgentCategory } from '../../entities/agents/agent.ts';
import { settled, unlessMissing } from '../ground/conflicts.ts';
import { Store } from '../ground/store.ts';
import { removeFromAgents } from './counters.ts';

/** The headings of organizations' own catalogs. */
export class AgentCategoryStore extends Store {
  /** By name. */
  list(orgId: string): Promise<readonly AgentCategory[]> {
    return this.db.prisma.agentCategory.findMany({ where: { orgId }, orderBy: [{ name: 'asc' }, { id: 'asc' }] });
  }

  /** @param orgId  undefined: a category of any organization. */
  async find(id: string, orgId: string | undefined): Promise<AgentCategory | undefined> {
    return (
      (await this.db.prisma.agentCategory.findFirst({ where: { id, ...(orgId === undefined ? {} : { orgId }) } })) ?? undefined
    );
  }

  /** The categories with one of the ids that belong to the organization. */
  findMany(ids: readonly string[], orgId: string): Promise<readonly AgentCategory[]> {
    return this.db.prisma.agentCategory.findMany({ where: { id: { in: [...ids] }, orgId } });
  }

  /** @throws DomainError CONFLICT when the organization has one of that name. */
  create(category: Omit<AgentCategory, 'updatedAt'>): Promise<AgentCategory> {
    return settled(this.db.prisma.agentCategory.create({ data: { ...category, updatedAt: category.createdAt } }), 'category');
  }

  /** @throws DomainError NOT_FOUND or CONFLICT. */
  rename(id: string, name: string): Promise<AgentCategory> {
    return settled(this.db.prisma.agentCategory.update({ where: { id }, data: { name } }), 'category');
  }

  /** Removes a category, also from every agent that names it. @returns false when it was removed before. */
  delete(id: string): Promise<boolean> {
    return this.db.transaction(async (tx) => {
      const deletedCategory = await unlessMissing(tx.prisma.agentCategory.delete({ where: { id } }));
      if (deletedCategory === undefined) return false;
      await removeFromAgents(tx, deletedCategory.orgId, id);
      return true;
    });
  }
}
