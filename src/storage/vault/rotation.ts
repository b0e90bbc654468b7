// Raw SQL: the database reads which master keys wrap a data key.
import type { Database } from '../database/database.ts';
import type { MasterKeys } from './master-keys.ts';
import { openDataKey, wrapDataKey, wrappingIds } from './wrapping.ts';

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
  let changed = 0;
  let after = '';
  while (!signal.aborted) {
    const rows = await db.query<{ orgId: string; wrapped: string }>(
      `SELECT "orgId", wrapped FROM organization_keys WHERE "orgId" > $1 AND ${wrappingIds} <> $2::text[] ORDER BY "orgId" LIMIT ${rowsAtOnce}`,
      [after, ids],
    );
    for (const { orgId, wrapped } of rows) {
      if (signal.aborted) break;
      const data = { wrapped: wrapDataKey(sealing, orgId, openDataKey(sealing, orgId, wrapped)) };
      changed += (await db.prisma.organizationKey.updateMany({ where: { orgId, wrapped }, data })).count;
      after = orgId;
    }
    if (rows.length < rowsAtOnce) break;
  }
  const rows = await db.query<{ total: number; needOlder: number }>(
    `SELECT count(*)::int AS total, (count(*) FILTER (WHERE NOT $1 = ANY (${wrappingIds})))::int AS "needOlder" FROM organization_keys`,
    [newest.id],
  );
  return { changed, total: rows[0]?.total ?? 0, needOlder: rows[0]?.needOlder ?? 0 };
}
