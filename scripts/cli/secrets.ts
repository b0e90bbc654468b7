import { openStorage } from '../../src/storage/storage.ts';
import type { Rotation } from '../../src/storage/vault/rotation.ts';
import { fail, openData } from './local.ts';

const inUse =
  'It does this itself at its start: restart it with the new key, a comma and the old key in PARLEY_MASTER_KEY. Or stop it, and repeat this.';

/**
 * `parley secrets rotate`: wraps all data keys with the newest master key, and reports whether an older one is still needed.
 *
 * @throws Failure when the data cannot be opened, also when the master key does not fit.
 */
export async function rotateSecrets(env: NodeJS.ProcessEnv): Promise<Rotation> {
  const storage = await openData(env, inUse, (settings) =>
    openStorage(settings, { onError: (error, isFatal) => (isFatal ? fail(error) : undefined) }),
  );
  try {
    return await storage.vault.rotate();
  } finally {
    await storage.close();
  }
}

export function shownRotation({ changed, total, needOlder }: Rotation): string {
  const done = `Secrets of ${total} organization(s) are stored; those of ${changed} were put under the master keys of PARLEY_MASTER_KEY now.`;
  return needOlder === 0
    ? `${done}\nThe first key alone opens everything: the others may be taken away.`
    : `${done}\n${needOlder} still need an older key. Do not take it away; run this again.`;
}
