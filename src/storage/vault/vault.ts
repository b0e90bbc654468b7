import type { Database } from '../database/database.ts';
import type { MasterKeys } from './master-keys.ts';
import { type Rotation, rotateDataKeys } from './rotation.ts';
import { deriveKey, makeKeyBytes, type SealingKey, seal, unseal } from './sealing.ts';
import { openDataKey, wrapDataKey } from './wrapping.ts';

/** Where a secret stands. A sealed text opens only there. */
export interface SecretPlace {
  readonly orgId: string;
  readonly table: string;
  readonly rowId: string;
}

/**
 * Seals what must be kept and never shown: tool secrets, OAuth tokens. Each organization has a data key of its own, kept under the master
 * keys, so rotating the master key rewrites one row an organization and no secret.
 */
export interface Vault {
  seal(place: SecretPlace, secret: string): Promise<string>;
  /** @throws SealError when it was changed, moved, or its key is gone. */
  open(place: SecretPlace, sealed: string): Promise<string>;
  /**
   * Puts every organization's data key under the master keys of this process and no others: with a new one before an old one, the new one is
   * enough from then on; with the new one alone, the old one opens nothing any more. May be cut off and repeated.
   */
  rotate(): Promise<Rotation>;
  /** Cuts off a rotation. */
  close(): Promise<void>;
}

const dataKeysCachedMax = 10_000;

export function createVault(db: Database, masterKeys: MasterKeys): Vault {
  const dataKeys = new Map<string, Promise<SealingKey>>();
  const closing = new AbortController();
  let rotating: Promise<unknown> | undefined;
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
    rotate() {
      const rotation = rotateDataKeys(db, masterKeys, closing.signal);
      rotating = rotation.catch(() => undefined);
      return rotation;
    },
    async close() {
      closing.abort();
      await rotating;
    },
  };
}

async function loadDataKey({ prisma }: Database, masterKeys: MasterKeys, orgId: string): Promise<SealingKey> {
  const { organizationKey } = prisma;
  const fresh = wrapDataKey(masterKeys.sealing, orgId, makeKeyBytes());
  // Whoever comes first makes the key; everybody reads what stands.
  await organizationKey.createMany({ data: [{ orgId, wrapped: fresh }], skipDuplicates: true });
  const kept = await organizationKey.findUnique({ where: { orgId } });
  return deriveKey(openDataKey(masterKeys.sealing, orgId, kept?.wrapped ?? ''), 'data');
}

function placeOf(place: SecretPlace): string[] {
  return [place.table, place.rowId, place.orgId];
}
