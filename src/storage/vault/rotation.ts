// Raw SQL: each start runs these queries, and does not wait for Prisma (130 ms of processor time).
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
  const [newest] = sealing;
  const ids = [...new Set(sealing.map(({ id }) => id))].sort();
  let changedCount = 0;
  let after = '';
  while (!signal.aborted) {
    const rows = await db.query<{ readonly orgId: string; readonly wrapped: string }>(
      `select "orgId", wrapped from organization_keys where "orgId" > $1 and "masterKeyIds" <> $2::text[] order by "orgId" limit $3`,
      [after, ids, rowsAtOnce],
    );
    for (const { orgId, wrapped: wrappedKey } of rows) {
      if (signal.aborted) break;
      const data = { wrapped: wrapDataKey(sealing, orgId, openDataKey(sealing, orgId, wrappedKey)) };
      changedCount += (await db.prisma.organizationKey.updateMany({ where: { orgId, wrapped: wrappedKey }, data })).count;
      after = orgId;
    }
    if (rows.length < rowsAtOnce) break;
  }
  const [counts] = await db.query<Pick<Rotation, 'total' | 'needOlder'>>(
    `select count(*)::int as total, count(*) filter (where not $1 = any("masterKeyIds"))::int as "needOlder" from organization_keys`,
    [newest.id],
  );
  return { changed: changedCount, total: counts?.total ?? 0, needOlder: counts?.needOlder ?? 0 };
}
