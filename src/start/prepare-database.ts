import { existsSync, readdirSync, rmSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepareJobTables } from '../engine/jobs/jobs.ts';
import { spawnTied } from '../engine/processes/tied-process.ts';
import { makeFolderSync } from '../lib/files/folders.ts';
import { startEmbedded } from '../storage/ground/embedded/embedded.ts';
import { FolderInUseError, lockFolder } from '../storage/ground/embedded/lock.ts';
import { preparedDatabasePath, writePreparedDatabase } from '../storage/ground/embedded/prepared-database.ts';
import { migrate } from '../storage/ground/migrations/migrate.ts';
import { openPool } from '../storage/ground/opening/pool.ts';

/**
 * Makes the database that first starts copy, unless it is there: the tables of Parley, those of the job queue with its queues, and no row of an
 * installation. A process that is killed meanwhile leaves nothing that a start would take. Also a program of its own: a first start that had none runs it at the lowest priority,
 * and so do the build of the image and `npm run pack`.
 *
 * @throws FolderInUseError while another process makes it; Error where the installation cannot be written.
 */
export async function makePreparedDatabase(path = preparedDatabasePath()): Promise<void> {
  if (existsSync(path)) return;
  const folder = dirname(path);
  makeFolderSync(folder);
  const unlock = lockFolder(folder);
  const dataDir = join(folder, 'unfinished');
  try {
    rmSync(dataDir, { recursive: true, force: true });
    if (!existsSync(path)) await make(path, dataDir);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
    unlock();
  }
}

/**
 * Makes it in a process of its own that ends with this one, at the lowest priority, unless it is there. Where that fails, because the installation
 * cannot be written, first starts go on making their tables themselves.
 */
export function prepareInBackground({ PATH = '', TMPDIR }: NodeJS.ProcessEnv): void {
  if (existsSync(preparedDatabasePath())) return;
  const env = TMPDIR === undefined ? { PATH } : { PATH, TMPDIR };
  const options = { env, cwd: '/', stdio: ['pipe', 'ignore', 'ignore'] } as const;
  const child = spawnTied(process.execPath, [fileURLToPath(import.meta.url)], options);
  child.on('error', () => undefined);
  child.stdin?.on('error', () => undefined);
  child.stdin?.end();
  child.unref();
  try {
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  } catch {
    // It has ended already.
  }
}

async function make(path: string, dataDir: string): Promise<void> {
  let failure: Error | undefined;
  const server = await startEmbedded(dataDir, { DISK_FREE_MIN_BYTES: 0 }, (error) => {
    failure = error;
  });
  const pool = openPool({ ...server.connection, max: 2 }, { onLost: () => undefined });
  let logFile: string | undefined;
  try {
    await migrate(pool);
    await prepareJobTables(pool, true);
    // From here on the log is in one file, and no earlier one is needed.
    await pool.query('SELECT pg_switch_wal()');
    await pool.query('CHECKPOINT');
    const { rows } = await pool.query<{ name: string }>('SELECT pg_walfile_name(pg_current_wal_lsn()) AS name');
    logFile = rows[0]?.name;
  } finally {
    await pool.end();
    await server.close();
  }
  if (failure !== undefined) throw failure;
  const database = join(dataDir, 'database');
  const logFolder = join(database, 'pg_wal');
  for (const name of readdirSync(logFolder)) if (/^[0-9A-F]{24}$/.test(name) && name !== logFile) rmSync(join(logFolder, name));
  await writePreparedDatabase(path, database);
}

if (import.meta.main) {
  await makePreparedDatabase().catch((error: unknown) => {
    if (!(error instanceof FolderInUseError)) throw error;
  });
}
