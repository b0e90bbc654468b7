import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { Budget, BudgetSubject } from '../../../entities/operations/budget.ts';
import type { CounterKind } from '../../../entities/operations/usage.ts';
import type { Membership } from '../../../entities/people/account.ts';
import type { BudgetModel } from '../../generated/models/Budget.ts';
import { newestFirst } from '../../ground/lists/paging.ts';
import { PublishingStore } from '../../ground/store.ts';

export type BudgetFilter = Partial<Pick<Budget, 'subject' | 'subjectId'>>;

/** The budgets of organizations, and what is used of them. */
export class BudgetStore extends PublishingStore {
  /** Newest first. */
  async list(orgId: string, filter: BudgetFilter, page: PageRequest): Promise<Page<Budget>> {
    const where = { orgId, ...filter };
    const rows = await this.db.prisma.budget.findMany(newestFirst(where, page));
    return toPage(rows.map(toBudget), page, timeKey, (take) => this.db.prisma.budget.count({ where, take }));
  }

  async findMany(ids: readonly string[], orgId: string): Promise<readonly Budget[]> {
    return (await this.db.prisma.budget.findMany({ where: { id: { in: [...ids] }, orgId } })).map(toBudget);
  }

  count(orgId: string): Promise<number> {
    return this.db.prisma.budget.count({ where: { orgId } });
  }

  async findAt({
    orgId,
    subjectId,
    period,
    unit,
  }: Pick<Budget, 'orgId' | 'subjectId' | 'period' | 'unit'>): Promise<Budget | undefined> {
    const place = { orgId, subjectId, period, unit };
    const row = await this.db.prisma.budget.findUnique({ where: { orgId_subjectId_period_unit: place } });
    return row === null ? undefined : toBudget(row);
  }

  /** Adds the budget, or changes that of its subject, period and unit. */
  async set(budget: Omit<Budget, 'updatedAt'>): Promise<Budget> {
    const { orgId, subjectId, period, unit, amount, allowsUnpricedModels } = budget;
    const row = await this.db.prisma.budget.upsert({
      where: { orgId_subjectId_period_unit: { orgId, subjectId, period, unit } },
      create: budget,
      update: { amount, allowsUnpricedModels },
    });
    this.signals.publish('organization-changed', orgId);
    return toBudget(row);
  }

  async delete(id: string, orgId: string): Promise<boolean> {
    const { count } = await this.db.prisma.budget.deleteMany({ where: { id, orgId } });
    this.signals.publish('organization-changed', orgId);
    return count > 0;
  }

  /** What was used of budgets, by counter; a counter without use is left out. */
  async used(orgId: string, counters: readonly CounterKind[]): Promise<ReadonlyMap<string, number>> {
    const where = { orgId, kind: { in: [...counters] } };
    const rows = await this.db.prisma.usageCounter.findMany({ where, select: { kind: true, used: true } });
    return new Map(rows.map(({ kind, used: usedAmount }) => [kind, Number(usedAmount)]));
  }

  /** Those of the ids that are of keys of a person in an organization. */
  async findKeyIds(
    { orgId, userId }: Pick<Membership, 'orgId' | 'userId'>,
    ids: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const where = { id: { in: [...ids] }, orgId, userId };
    return new Set((await this.db.prisma.apiKey.findMany({ where, select: { id: true } })).map(({ id }) => id));
  }

  /** Whether the organization has such a thing, which a budget may bound. */
  async hasSubject(orgId: string, subject: BudgetSubject, id: string): Promise<boolean> {
    const { group, membership, apiKey, agent } = this.db.prisma;
    const where = { id, orgId };
    switch (subject) {
      case 'ORGANIZATION':
        return id === orgId;
      case 'GROUP':
        return (await group.count({ where })) > 0;
      case 'USER':
        return (await membership.count({ where: { orgId, userId: id } })) > 0;
      case 'KEY':
        return (await apiKey.count({ where: { ...where, revokedAt: null } })) > 0;
      case 'AGENT':
        return (await agent.count({ where: { ...where, isDeleted: false } })) > 0;
    }
  }
}

export function toBudget({ amount, ...row }: BudgetModel): Budget {
  return { ...row, amount: Number(amount) } as Budget;
}
