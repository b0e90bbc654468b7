import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { createLogger } from '../../../src/http/log/logging.ts';
import { loadSettings } from '../../../src/settings.ts';
import { closeDeps, createDeps } from '../../../src/start/compose.ts';
import { makePreparedDatabase } from '../../../src/start/prepare-database.ts';
import { FolderInUseError } from '../../../src/storage/ground/embedded/lock.ts';
import { emptyPlace, folderPrefix, newRunName, removeEverything, removeLeftovers, type Template } from '../storage/databases.ts';

declare module 'vitest' {
  interface ProvidedContext {
    template: Template;
  }
}

const root = join(import.meta.dirname, '../../..');

/** Makes one empty, migrated database, of which each service of a test starts with a copy, and the console that services answer with, unless it is built. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  removeLeftovers();
  // The test workers inherit both.
  process.env.TEST_RUN = newRunName();
  process.env.SAMPLE_SEED ??= String(randomInt(2 ** 31));
  const removeTemporaryFiles = useOwnTemporaryFolder();
  await Promise.all([
    promisify(execFile)(process.execPath, ['console/build.ts', '--if-changed'], { cwd: root }),
    // Every first start of an embedded database copies it, that of the template too.
    makePreparedDatabase().catch((error: unknown) => {
      // Another run makes it. Until it is there, first starts take longer.
      if (!(error instanceof FolderInUseError)) throw error;
    }),
  ]);
  const place = await emptyPlace();
  const settings = loadSettings({ ...place.env, LOG_LEVEL: 'warn', ROLE: 'web' });
  const deps = await createDeps({
    settings,
    logger: createLogger(settings),
    publicUrl: () => '',
    onFatal: (error) => {
      throw error;
    },
  });
  await closeDeps(deps, 0);
  const { DATABASE_URL, DATA_DIR } = settings;
  // A copy must not contain the lock of another process.
  for (const file of ['parley.lock', 'parley.pid', 'parley.socket']) rmSync(join(DATA_DIR, file), { force: true });
  project.provide('template', {
    folder: DATA_DIR,
    database: DATABASE_URL === undefined ? undefined : new URL(DATABASE_URL).pathname.slice(1),
  });
  return async () => {
    await removeEverything();
    await removeTemporaryFiles();
  };
}

/**
 * Gives the run a folder for temporary files, with what the processes that it starts put there: a process that is killed removes nothing, and a test that
 * fails may not.
 */
function useOwnTemporaryFolder(): () => Promise<void> {
  const usual = process.env.TMPDIR;
  const folder = join(tmpdir(), `${folderPrefix()}tmp`);
  mkdirSync(folder);
  // A server of PostgreSQL, which does not run as root, finds its own folder in it.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  return async () => {
    // A browser that is just ending still writes into its profile; what it leaves goes with the leftovers of killed runs.
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }).catch(() => undefined);
    if (usual === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = usual;
  };
}
