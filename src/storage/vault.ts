import type { Database } from './database.ts';
import type { MasterKeys } from './vault/master-keys.ts';
import { deriveKey, makeKeyBytes, type SealingKey, seal, sealedKeyId, unseal } from './vault/sealing.ts';

/** Where a secret stands. A sealed text opens only there. */
export interface SecretPlace {
  readonly orgId: string;
  readonly table: string;
  readonly rowId: string;
}

/**
 * Seals what must be kept and never shown: tool secrets, OAuth tokens. Each organization has a data key of its own, kept under the master
 * key, so rotating the master key rewrites one row an organization and no secret.
 */
export interface Vault {
  seal(place: SecretPlace, secret: string): Promise<string>;
  /** @throws SealError when it was changed, moved, or its key is gone. */
  open(place: SecretPlace, sealed: string): Promise<string>;
  /** Puts every organization's data key under the first master key; needed before an old master key is taken away. Returns how many changed. */
  rotate(): Promise<number>;
}

const dataKeysCachedMax = 10_000;

export function createVault(db: Database, masterKeys: MasterKeys): Vault {
  const dataKeys = new Map<string, Promise<SealingKey>>();
  const dataKeyOf = (orgId: string) => {
    const known = dataKeys.get(orgId);
    if (known !== undefined) return known;
    if (dataKeys.size >= dataKeysCachedMax) dataKeys.clear();
    const loading = loadDataKey(db, masterKeys, orgId);
    dataKeys.set(orgId, loading);
    loading.catch(() => dataKeys.delete(orgId));
    return loading;
  };
  return {
    seal: async (place, secret) => seal(await dataKeyOf(place.orgId), Buffer.from(secret, 'utf8'), placeOf(place)),
    open: async (place, sealed) => unseal([await dataKeyOf(place.orgId)], sealed, placeOf(place)).toString('utf8'),
    rotate: () => rotate(db, masterKeys),
  };
}

async function loadDataKey(db: Database, masterKeys: MasterKeys, orgId: string): Promise<SealingKey> {
  const fresh = seal(masterKeys.sealing[0], makeKeyBytes(), dataKeyPlace(orgId));
  // Whoever comes first makes the key; everybody reads what stands.
  await db.pool.query(
    'INSERT INTO organization_keys ("orgId", wrapped, "updatedAt") VALUES ($1, $2, now()) ON CONFLICT DO NOTHING',
    [orgId, fresh],
  );
  const { rows } = await db.pool.query<{ wrapped: string }>('SELECT wrapped FROM organization_keys WHERE "orgId" = $1', [orgId]);
  const bytes = unseal(masterKeys.sealing, rows[0]?.wrapped ?? '', dataKeyPlace(orgId));
  return deriveKey(bytes, 'data');
}

async function rotate(db: Database, masterKeys: MasterKeys): Promise<number> {
  const [newest] = masterKeys.sealing;
  const { rows } = await db.pool.query<{ orgId: string; wrapped: string }>('SELECT "orgId", wrapped FROM organization_keys');
  const old = rows.filter(({ wrapped }) => sealedKeyId(wrapped) !== newest.id);
  for (const { orgId, wrapped } of old) {
    const bytes = unseal(masterKeys.sealing, wrapped, dataKeyPlace(orgId));
    await db.pool.query('UPDATE organization_keys SET wrapped = $3, "updatedAt" = now() WHERE "orgId" = $1 AND wrapped = $2', [
      orgId,
      wrapped,
      seal(newest, bytes, dataKeyPlace(orgId)),
    ]);
  }
  return old.length;
}

function placeOf(place: SecretPlace): string[] {
  return [place.table, place.rowId, place.orgId];
}

function dataKeyPlace(orgId: string): string[] {
  return ['organization_keys', orgId, orgId];
}
