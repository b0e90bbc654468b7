import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../../settings.ts';
import { deriveKey, makeKeyBytes, type SealingKey } from './sealing.ts';

export interface MasterKeys {
  /** The first seals; all open. */
  readonly sealing: readonly [SealingKey, ...SealingKey[]];
  /** Signs links that Parley hands out and takes back; the first signs, all verify. */
  readonly signing: readonly [SealingKey, ...SealingKey[]];
}

const materialLengthMin = 16;

/**
 * The master keys of PARLEY_MASTER_KEY (newest first), else the one in the data folder, made at the first start with mode 0600.
 *
 * @throws Error when a value is too short, or when there is a PostgreSQL server but no key: instances must share one, and a data folder may
 *   not outlive its machine.
 */
export function loadMasterKeys(settings: Pick<Settings, 'PARLEY_MASTER_KEY' | 'DATABASE_URL' | 'DATA_DIR'>): MasterKeys {
  const materials =
    settings.PARLEY_MASTER_KEY === undefined
      ? [ownMaterial(settings)]
      : settings.PARLEY_MASTER_KEY.split(',').map((text) => text.trim());
  if (materials.some((material) => material.length < materialLengthMin)) {
    throw new Error(`bad configuration\nPARLEY_MASTER_KEY: each value needs at least ${materialLengthMin} characters`);
  }
  return { sealing: derived(materials, 'sealing'), signing: derived(materials, 'signing') };
}

function derived(materials: readonly string[], purpose: string): [SealingKey, ...SealingKey[]] {
  const [first = '', ...others] = materials;
  return [deriveKey(first, purpose), ...others.map((material) => deriveKey(material, purpose))];
}

function ownMaterial(settings: Pick<Settings, 'DATABASE_URL' | 'DATA_DIR'>): string {
  if (settings.DATABASE_URL !== undefined) {
    throw new Error(
      'bad configuration\nPARLEY_MASTER_KEY: required with DATABASE_URL, the same for every instance; any secret text of 16 characters or more',
    );
  }
  const path = join(settings.DATA_DIR, 'master.key');
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  mkdirSync(settings.DATA_DIR, { recursive: true, mode: 0o700 });
  const material = makeKeyBytes().toString('base64url');
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, `${material}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return material;
}
