import { setTimeout as wait } from 'node:timers/promises';
import type { Deps } from '../deps.ts';

/**
 * Encrypts the stored secrets with the newest master key, in the background after `waitMs`, and logs the end. An interrupted
 * rotation is repeated at the next start.
 */
export async function rotateSecrets({ storage, logger }: Pick<Deps, 'storage' | 'logger'>, waitMs: number): Promise<void> {
  const rotation = storage.vault.rotate().then(
    ({ changed: changedCount, total }) => {
      if (changedCount > 0)
        logger.info(
          { changed: changedCount, total },
          'all data keys are wrapped with the newest master key; older master keys are not needed',
        );
    },
    (error: unknown) => logger.error({ err: error }, 'data keys could not be wrapped with the newest master key'),
  );
  await Promise.race([rotation, wait(waitMs, undefined, { ref: false })]);
}
