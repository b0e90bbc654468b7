import type { Database } from '../ground/database.ts';
import type { MasterKeys } from './master-keys.ts';
import { type Rotation, rotateDataKeys } from './rotation.ts';
import { deriveKey, makeKeyBytes, type SealingKey, seal, unseal } from './sealing.ts';
import { openDataKey, wrapDataKey } from './wrapping.ts';

/** The row that a secret belongs to. A sealed text opens only for its row. */
export interface SecretPlace {
  readonly orgId: string;
  readonly table: string;
  readonly rowId: string;
}

/**
 * Seals what must be stored and never shown: tool secrets, OAuth tokens, the state of programs. Each organization has a data key of its own, wrapped by the master keys, so
 * rotating the master key rewrites one row for each organization and no secret.
 */
export interface Vault {
  seal(place: SecretPlace, secret: string): Promise<string>;
  /** @throws SealError when the text was changed or moved, or its key is missing. */
  open(place: SecretPlace, sealed: string): Promise<string>;
  /** As `seal`, for bytes that are stored as a blob. What is sealed is a third larger. */
  sealBytes(place: SecretPlace, secret: Uint8Array): Promise<Buffer>;
  /** @throws SealError as `open` does. */
  openBytes(place: SecretPlace, sealed: Uint8Array): Promise<Buffer>;
  /**
   * Wraps every organization's data key with the master keys of this process and no others. With a new key before an old one, afterwards the new key
   * alone is enough; with the new key alone, the old key opens nothing any more. May be interrupted and repeated.
   */
  rotate(): Promise<Rotation>;
  /** Interrupts a rotation. */
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
  const sealIn = async (place: SecretPlace, secret: Uint8Array) => seal(await dataKeyOf(place.orgId), secret, placeOf(place));
  const openIn = async (place: SecretPlace, sealed: string) => unseal([await dataKeyOf(place.orgId)], sealed, placeOf(place));
  return {
    seal: (place, secret) => sealIn(place, Buffer.from(secret, 'utf8')),
    open: async (place, sealed) => (await openIn(place, sealed)).toString('utf8'),
    sealBytes: async (place, secret) => Buffer.from(await sealIn(place, secret), 'latin1'),
    openBytes: (place, sealed) => openIn(place, Buffer.from(sealed).toString('latin1')),
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

async function loadDataKey(db: Database, masterKeys: MasterKeys, orgId: string): Promise<SealingKey> {
  const { organizationKey } = db.prisma;
  const fresh = wrapDataKey(masterKeys.sealing, orgId, makeKeyBytes());
  // The first process makes the key; every process reads the stored one.
  await organizationKey.createMany({ data: [{ orgId, wrapped: fresh }], skipDuplicates: true });
  const kept = await organizationKey.findUnique({ where: { orgId } });
  return deriveKey(openDataKey(masterKeys.sealing, orgId, kept?.wrapped ?? ''), 'data');
}

function placeOf(place: SecretPlace): string[] {
  return [place.table, place.rowId, place.orgId];
}
