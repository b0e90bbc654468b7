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

const dataKeysCachedMax = 10_000;

/**
 * Seals what must be stored and never shown: tool secrets, OAuth tokens, the state of programs. Each organization has a data key of its own, wrapped by the master keys, so
 * rotating the master key rewrites one row for each organization and no secret.
 */
export class Vault {
  readonly #db: Database;
  readonly #masterKeys: MasterKeys;
  readonly #dataKeys = new Map<string, Promise<SealingKey>>();
  readonly #closing = new AbortController();
  #rotating: Promise<unknown> | undefined;

  constructor(db: Database, masterKeys: MasterKeys) {
    this.#db = db;
    this.#masterKeys = masterKeys;
  }

  seal(place: SecretPlace, secret: string): Promise<string> {
    return this.#sealIn(place, Buffer.from(secret, 'utf8'));
  }

  /** @throws SealError when the text was changed or moved, or its key is missing. */
  async open(place: SecretPlace, sealed: string): Promise<string> {
    return (await this.#openIn(place, sealed)).toString('utf8');
  }

  /** As `seal`, for bytes that are stored as a blob. What is sealed is a third larger. */
  async sealBytes(place: SecretPlace, secret: Uint8Array): Promise<Buffer> {
    return Buffer.from(await this.#sealIn(place, secret), 'latin1');
  }

  /** @throws SealError as `open` does. */
  openBytes(place: SecretPlace, sealed: Uint8Array): Promise<Buffer> {
    return this.#openIn(place, Buffer.from(sealed).toString('latin1'));
  }

  /**
   * Wraps every organization's data key with the master keys of this process and no others. With a new key before an old one, afterwards the new key
   * alone is enough; with the new key alone, the old key opens nothing any more. May be interrupted and repeated.
   */
  rotate(): Promise<Rotation> {
    const rotation = rotateDataKeys(this.#db, this.#masterKeys, this.#closing.signal);
    this.#rotating = rotation.catch(() => undefined);
    return rotation;
  }

  /** Interrupts a rotation. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#rotating;
  }

  #dataKeyOf(orgId: string) {
    const known = this.#dataKeys.get(orgId);
    if (known !== undefined) return known;
    if (this.#dataKeys.size >= dataKeysCachedMax) this.#dataKeys.clear();
    const loading = loadDataKey(this.#db, this.#masterKeys, orgId);
    this.#dataKeys.set(orgId, loading);
    loading.catch(() => this.#dataKeys.delete(orgId));
    return loading;
  }

  async #sealIn(place: SecretPlace, secret: Uint8Array) {
    return seal(await this.#dataKeyOf(place.orgId), secret, toSealPlace(place));
  }

  async #openIn(place: SecretPlace, sealed: string) {
    return unseal([await this.#dataKeyOf(place.orgId)], sealed, toSealPlace(place));
  }
}

async function loadDataKey(db: Database, masterKeys: MasterKeys, orgId: string): Promise<SealingKey> {
  const { organizationKey } = db.prisma;
  const fresh = wrapDataKey(masterKeys.sealing, orgId, makeKeyBytes());
  // The first process makes the key; every process reads the stored one.
  await organizationKey.createMany({ data: [{ orgId, wrapped: fresh }], skipDuplicates: true });
  const keyRow = await organizationKey.findUnique({ where: { orgId } });
  return deriveKey(openDataKey(masterKeys.sealing, orgId, keyRow?.wrapped ?? ''), 'data');
}

function toSealPlace(place: SecretPlace): string[] {
  return [place.table, place.rowId, place.orgId];
}
