import { createHash } from 'node:crypto';
import type { RefreshPeriod } from '../../../entities/knowledge/data-source.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database } from '../../ground/database.ts';
import type { OwnedId } from '../indexing/lease.ts';

const dayMs = 86_400_000;
const periodsMs = { DAILY: dayMs, WEEKLY: 7 * dayMs, MONTHLY: 30 * dayMs } as const satisfies Partial<
  Record<RefreshPeriod, number>
>;

/** Periods vary by a tenth either way, so that sources made together are not due together. */
const variation = 0.1;
const dueAtOnce = 500;

/** States of a run that goes on. */
export const openRuns = ['LISTING', 'INDEXING'];

export interface RefreshFacts {
  readonly id: string;
  readonly createdAt: Date;
  /** The end of its newest run. */
  readonly lastSyncedAt: Date | null;
  readonly refreshPeriod: string;
}

/** Whether the period of a source is over. */
export function isPeriodOver({ id, createdAt, lastSyncedAt, refreshPeriod }: RefreshFacts): boolean {
  if (!(refreshPeriod in periodsMs)) return false;
  const share = createHash('sha256').update(id).digest().readUInt16BE(0) / 0xffff;
  const factor = 1 - variation + 2 * variation * share;
  const periodMs = periodsMs[refreshPeriod as keyof typeof periodsMs];
  return (lastSyncedAt ?? createdAt).getTime() < Date.now() - factor * periodMs;
}

/**
 * Sources whose refresh is due: their period is over, and no run goes on. Those that wait longest come first.
 *
 * Cost: a statement for each period.
 */
export async function findDueSources({ prisma }: Database, where: Prisma.DataSourceWhereInput): Promise<readonly OwnedId[]> {
  const ofPeriods = Object.entries(periodsMs).map(([refreshPeriod, periodMs]) => {
    const before = { lt: new Date(Date.now() - (1 - variation) * periodMs) };
    const isOld = { OR: [{ lastSyncedAt: before }, { lastSyncedAt: null, createdAt: before }] };
    const isIdle = { deletingAt: null, runs: { none: { status: { in: openRuns } } } };
    return prisma.dataSource.findMany({
      where: { AND: [{ refreshPeriod }, isOld, isIdle, where] },
      orderBy: { lastSyncedAt: { sort: 'asc', nulls: 'first' } },
      take: dueAtOnce,
      select: {
        id: true,
        orgId: true,
        createdAt: true,
        lastSyncedAt: true,
        refreshPeriod: true,
        organization: { select: { tenantId: true } },
      },
    });
  });
  const sources = (await Promise.all(ofPeriods)).flat().filter(isPeriodOver);
  return sources.map(({ id, orgId, organization: { tenantId } }) => ({ id, orgId, tenantId }));
}
