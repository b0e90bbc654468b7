import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../../lib/files/write-whole.ts';
import type { Settings } from '../../settings.ts';
import { StartRefusal } from '../ground/opening/start-refusal.ts';
import { deriveKey, makeKeyBytes, type SealingKey } from './sealing.ts';

export interface MasterKeys {
  /** The first seals; all open. */
  readonly sealing: readonly [SealingKey, ...SealingKey[]];
  /** Keys for links: the first signs, all verify. */
  readonly signing: readonly [SealingKey, ...SealingKey[]];
  /** Stores a newly made key. Call it before anything is sealed. */
  keep(): void;
}

const materialLengthMin = 16;

type KeySettings = Pick<Settings, 'PARLEY_MASTER_KEY' | 'DATABASE_URL' | 'DATA_DIR'>;

/**
 * The master keys of PARLEY_MASTER_KEY (newest first), else the key in the data folder. Makes a key when there is none; `keep` writes it to the data
 * folder with mode 0600.
 *
 * @throws Error when a value is too short, or when there is a PostgreSQL server but no key: instances must share one, and a data folder may not
 * outlive its machine.
 */
export function loadMasterKeys(settings: KeySettings): MasterKeys {
  if (settings.PARLEY_MASTER_KEY !== undefined) {
    return toMasterKeys(settings.PARLEY_MASTER_KEY.split(',').map((text) => text.trim()));
  }
  if (settings.DATABASE_URL !== undefined) {
    throw new Error(
      'bad configuration: PARLEY_MASTER_KEY must be set with DATABASE_URL, and the same for every instance: any secret text of 16 characters or more.',
    );
  }
  const path = masterKeyPath(settings);
  const storedText = readKey(path);
  if (storedText !== undefined) return toMasterKeys([storedText]);
  const newText = makeKeyBytes().toString('base64url');
  return toMasterKeys([newText], () => writeWhole(path, `${newText}\n`));
}

/** The key in the data folder, also when PARLEY_MASTER_KEY overrides it. */
export function storedMasterKey(settings: Pick<Settings, 'DATA_DIR'>): SealingKey | undefined {
  const storedText = readKey(masterKeyPath(settings));
  return storedText === undefined ? undefined : deriveKey(storedText, 'sealing');
}

export function masterKeyPath({ DATA_DIR }: Pick<Settings, 'DATA_DIR'>): string {
  return join(DATA_DIR, 'master.key');
}

function toMasterKeys(keyTexts: readonly string[], keep: () => void = () => undefined): MasterKeys {
  const materials = [...new Set(keyTexts)];
  if (materials.some((material) => material.length < materialLengthMin)) {
    throw new Error(`bad configuration: PARLEY_MASTER_KEY must have at least ${materialLengthMin} characters in each value.`);
  }
  return { sealing: derived(materials, 'sealing'), signing: derived(materials, 'signing'), keep };
}

function derived(materials: readonly string[], purpose: string): [SealingKey, ...SealingKey[]] {
  const [first = '', ...others] = materials;
  return [deriveKey(first, purpose), ...others.map((material) => deriveKey(material, purpose))];
}

function readKey(path: string): string | undefined {
  try {
    const material = readFileSync(path, 'utf8').trim();
    if (material.length >= materialLengthMin) return material;
    throw new StartRefusal(`${path} holds no master key. Put it back from the backup of this data, or set PARLEY_MASTER_KEY.`);
  } catch (error) {
    // A missing file is fine. A file in place of the folder is reported when the folder is prepared.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined;
    throw error;
  }
}
