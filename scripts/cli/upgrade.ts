import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Pool, PoolConfig } from 'pg';
import { loadSettings, type Settings } from '../../src/settings.ts';
import { databaseProblem } from '../../src/start/checks/database.ts';
import { startEmbedded } from '../../src/storage/ground/embedded/embedded.ts';
import { FolderInUseError } from '../../src/storage/ground/embedded/lock.ts';
import { neededCopy, upgradeCopyPath } from '../../src/storage/ground/embedded/upgrade-copy.ts';
import { type PlannedMigration, planUpgrade } from '../../src/storage/ground/migrations/upgrade-plan.ts';
import { measureFreeBytes } from '../../src/storage/ground/opening/folders.ts';
import { openPool } from '../../src/storage/ground/opening/pool.ts';
import { serverProblem } from '../../src/storage/ground/opening/server-check.ts';
import { StartRefusal } from '../../src/storage/ground/opening/start-refusal.ts';
import type { Typed } from './arguments.ts';
import { failed, misused } from './failure.ts';
import { fail, nothingHere } from './local.ts';
import { size } from './output/size.ts';

export const upgradeHelp = `parley upgrade --check

Says what the next start of this version does to the database: the migrations that are missing, the sizes of the tables that they change,
whether others that write to these tables wait, and whether there is room for the copy of an embedded database. Changes nothing. An embedded
database must not be in use: stop the service first.

Example:
  parley upgrade --check`;

/** `parley upgrade --check`: what to print. @throws Failure */
export async function checkUpgrade({ words, options, switches }: Typed, env: NodeJS.ProcessEnv): Promise<string> {
  if (switches.has('help')) return upgradeHelp;
  const surplus = [...words.slice(1), ...options.keys()];
  if (surplus.length > 0) throw misused(`upgrade takes --check only, not "${surplus.join(' ')}".`);
  if (!switches.has('check'))
    throw misused('An upgrade is a start of the new version. To see what it does: parley upgrade --check');
  const settings = loadSettings({ LOG_LEVEL: 'error', ...env });
  try {
    return await (settings.DATABASE_URL === undefined ? checkEmbedded(settings) : checkServer(settings));
  } catch (error) {
    if (error instanceof FolderInUseError) throw failed('The service is running on this data folder. Stop it, and repeat this.');
    if (error instanceof StartRefusal) throw failed(error.message);
    const problem = databaseProblem(error, settings);
    throw problem === undefined ? error : failed([problem.message, problem.advice].join(' ').trim());
  }
}

async function checkServer({ DATABASE_URL }: Settings): Promise<string> {
  return onPool({ connectionString: DATABASE_URL }, async (pool) => {
    const problem = await serverProblem(pool);
    if (problem !== undefined) throw failed(`The database (DATABASE_URL) cannot be used: ${problem}`);
    return shown(await planUpgrade(pool), [
      'Instances of the last version go on working meanwhile: replace them one after the other. Make a backup of the server first (pg_dump).',
    ]);
  });
}

async function checkEmbedded(settings: Settings): Promise<string> {
  const dataDir = resolve(settings.DATA_DIR);
  if (!existsSync(join(dataDir, 'database'))) throw nothingHere();
  const copy = neededCopy(dataDir);
  const server = await startEmbedded(dataDir, settings, fail, { isCheck: true });
  try {
    const planned = await onPool(server.connection, planUpgrade);
    return shown(planned, copy === undefined ? [] : [copyLine(dataDir, copy.sizeBytes, settings.DISK_FREE_MIN_BYTES)]);
  } finally {
    await server.close();
  }
}

function copyLine(dataDir: string, sizeBytes: number, freeMinBytes: number): string {
  const free = measureFreeBytes(dataDir);
  const needed = `${size(sizeBytes)} and ${size(freeMinBytes)} that stay free`;
  if (free >= sizeBytes + freeMinBytes)
    return `Before that it copies the files of the database to ${upgradeCopyPath(dataDir)}: ${size(sizeBytes)}, of ${size(free)} that are free.`;
  return `There is no room for a copy of the database: it takes ${needed}, and ${size(free)} are free. Make room, or make a backup of ${dataDir}.`;
}

function shown(planned: readonly PlannedMigration[], notes: readonly string[]): string {
  if (planned.length === 0) return 'The database has the schema of this version: the next start changes nothing.';
  const lines = planned.flatMap(({ name, tables, stopsWriters }) => [
    `  ${name}${stopsWriters ? '  (who writes to its tables waits until it is done)' : ''}`,
    ...tables.map((table) => `    ${table.name}: about ${Math.round(table.rows)} rows, ${size(table.sizeBytes)}`),
  ]);
  return [`The next start applies ${planned.length} migration(s):`, ...lines, '', ...notes].join('\n').trim();
}

async function onPool<T>(config: PoolConfig, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool({ ...config, max: 1 }, { onLost: () => undefined });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
