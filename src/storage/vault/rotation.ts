import type { Database } from '../ground/database.ts';
import type { MasterKeys } from './master-keys.ts';
import { openDataKey, wrapDataKey } from './wrapping.ts';

export interface Rotation {
  /** Organizations whose data key was wrapped anew. */
  readonly changed: number;
  /** All organizations with secrets. */
  readonly total: number;
  /** Organizations whose data key the newest master key alone does not open. At 0, the older keys can be removed. */
  readonly needOlder: number;
}

const rowsAtOnce = 200;

/**
 * Wraps every organization's data key with the given master keys and no others. Each row changes by itself, and only if it is as it was read, so a
 * rotation may be interrupted, repeated, and run by several processes.
 *
 * @throws SealError when none of the keys opens a row.
 */
export async function rotateDataKeys(db: Database, { sealing }: MasterKeys, signal: AbortSignal): Promise<Rotation> {
  const { organizationKey } = db.prisma;
  const [newest] = sealing;
  const ids = [...new Set(sealing.map(({ id }) => id))].sort();
  let changedCount = 0;
  let after = '';
  while (!signal.aborted) {
    const where = { orgId: { gt: after }, NOT: { masterKeyIds: { equals: ids } } };
    const select = { orgId: true, wrapped: true };
    const rows = await organizationKey.findMany({ where, orderBy: { orgId: 'asc' }, take: rowsAtOnce, select });
    for (const { orgId, wrapped: wrappedKey } of rows) {
      if (signal.aborted) break;
      const data = { wrapped: wrapDataKey(sealing, orgId, openDataKey(sealing, orgId, wrappedKey)) };
      changedCount += (await organizationKey.updateMany({ where: { orgId, wrapped: wrappedKey }, data })).count;
      after = orgId;
    }
    if (rows.length < rowsAtOnce) break;
  }
  const total = await organizationKey.count();
  const openedCount = await organizationKey.count({ where: { masterKeyIds: { has: newest.id } } });
  return { changed: changedCount, total, needOlder: total - openedCount };
}
