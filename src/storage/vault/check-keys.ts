// Raw SQL: each start runs this query, and does not wait for Prisma (130 ms of processor time).
import type { Settings } from '../../settings.ts';
import type { Database } from '../ground/database.ts';
import { StartRefusal } from '../ground/opening/start-refusal.ts';
import { type MasterKeys, masterKeyPath, storedMasterKey } from './master-keys.ts';
import { openDataKey } from './wrapping.ts';

/**
 * Checks that the master keys open the stored data keys, on one organization for each combination of keys.
 *
 * @throws StartRefusal when none of the keys opens a stored secret; the message names the missing key.
 */
export async function checkMasterKeys(
  db: Database,
  keys: MasterKeys,
  settings: Pick<Settings, 'PARLEY_MASTER_KEY' | 'DATA_DIR'>,
): Promise<void> {
  const rows = await db.query<{ readonly orgId: string; readonly wrapped: string; readonly count: number }>(
    `with first as (select min("orgId") as "orgId", count(*)::int as count from organization_keys group by "masterKeyIds")
     select first.*, key.wrapped from first join organization_keys as key using ("orgId")`,
  );
  const failedRows = rows.filter(({ orgId, wrapped }) => {
    try {
      openDataKey(keys.sealing, orgId, wrapped);
      return false;
    } catch {
      return true;
    }
  });
  if (failedRows.length === 0) return;
  const organizations = failedRows.reduce((sum, { count }) => sum + count, 0);
  const keptKey = storedMasterKey(settings);
  const fitsKept = keptKey !== undefined && failedRows.every(({ wrapped: wrappedKey }) => wrappedKey.includes(`${keptKey.id}.`));
  throw new StartRefusal(
    `The secrets of ${organizations} organization(s) are stored, and ${describeReason(settings)}. Nothing was changed. ${describeRemedy(settings, fitsKept)}`,
  );
}

type KeySettings = Pick<Settings, 'PARLEY_MASTER_KEY' | 'DATA_DIR'>;

function describeReason(settings: KeySettings): string {
  if (settings.PARLEY_MASTER_KEY !== undefined) return 'PARLEY_MASTER_KEY is not the key that opens them';
  return storedMasterKey(settings) === undefined
    ? `the master key that opens them is missing: there is no ${masterKeyPath(settings)}`
    : `${masterKeyPath(settings)} is not the key that opens them`;
}

function describeRemedy(settings: KeySettings, fitsKept: boolean): string {
  const path = masterKeyPath(settings);
  if (settings.PARLEY_MASTER_KEY === undefined) {
    return `Put ${path} back from the backup of this data, or set PARLEY_MASTER_KEY to the key that was used.`;
  }
  return fitsKept
    ? `The key in ${path} opens them: set PARLEY_MASTER_KEY to the new key, a comma and that key, and start once.`
    : 'Set PARLEY_MASTER_KEY to the key that was used. To change it, give both for one start: the new one, a comma, the old one.';
}
