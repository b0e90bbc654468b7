import {
  type OwnRetention,
  type RetainedKind,
  retainedKinds,
  retentionMembers,
} from '../../../entities/operations/data-life/retention.ts';
import { Store } from '../../ground/store.ts';

export interface OrganizationDays {
  readonly orgId: string;
  readonly days: number;
}

const noChoice: OwnRetention = { chats: null, runs: null, events: null, usage: null, audit: null };

export class RetentionStore extends Store {
  /** The choices of organizations; one that chose nothing has all null. Cost: one statement. */
  async findMany(orgIds: readonly string[]): Promise<ReadonlyMap<string, OwnRetention>> {
    const rows = await this.db.prisma.dataRetention.findMany({ where: { orgId: { in: [...orgIds] } } });
    const choicesByOrganization = new Map(
      rows.map((row) => [
        row.orgId,
        Object.fromEntries(retainedKinds.map((kind) => [kind, row[retentionMembers[kind]]])) as unknown as OwnRetention,
      ]),
    );
    return new Map(orgIds.map((orgId) => [orgId, choicesByOrganization.get(orgId) ?? noChoice]));
  }

  /** Absent members are kept. */
  async set(orgId: string, choice: Partial<OwnRetention>): Promise<void> {
    const chosenKinds = retainedKinds.filter((kind) => choice[kind] !== undefined);
    const data = Object.fromEntries(chosenKinds.map((kind) => [retentionMembers[kind], choice[kind] ?? null]));
    await this.db.prisma.dataRetention.upsert({ where: { orgId }, create: { orgId, ...data }, update: data });
  }

  /** Organizations that chose days of their own for one kind, in the order of their ids. */
  async listOwn(kind: RetainedKind, afterOrgId: string, limit: number): Promise<readonly OrganizationDays[]> {
    const column = retentionMembers[kind];
    const where = { orgId: { gt: afterOrgId }, [column]: { not: null } };
    const rows = await this.db.prisma.dataRetention.findMany({ where, orderBy: { orgId: 'asc' }, take: limit });
    return rows.map((row) => ({ orgId: row.orgId, days: row[column] ?? 0 }));
  }

  /** The most days that an organization chose for one kind (-Infinity: none did), and whether every organization chose some. */
  async longestOwn(kind: RetainedKind): Promise<{ readonly days: number; readonly isOfAll: boolean }> {
    const member = retentionMembers[kind];
    const most = { chatDays: true, runDays: true, eventDays: true, usageDays: true, auditDays: true } as const;
    const { _max } = await this.db.prisma.dataRetention.aggregate({ _max: most });
    const other = await this.db.prisma.organization.findFirst({ where: { NOT: chose(kind) }, select: { id: true } });
    return { days: _max[member] ?? Number.NEGATIVE_INFINITY, isOfAll: other === null };
  }

  /** Organizations that chose none for it, in the order of their ids. */
  async listOthers(kind: RetainedKind, afterOrgId: string, limit: number): Promise<readonly string[]> {
    const where = { id: { gt: afterOrgId }, NOT: chose(kind) };
    const rows = await this.db.prisma.organization.findMany({
      where,
      orderBy: { id: 'asc' },
      take: limit,
      select: { id: true },
    });
    return rows.map(({ id }) => id);
  }
}

function chose(kind: RetainedKind) {
  return { dataRetention: { is: { [retentionMembers[kind]]: { not: null } } } };
}
