import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Pool, PoolConfig } from 'pg';
import { productVersion } from '../../src/lib/product.ts';
import { displayValue } from '../../src/lib/text/display-value.ts';
import { type Settings, settingsProblems, usableSettings } from '../../src/settings.ts';
import { databaseProblem } from '../../src/start/checks/database.ts';
import { unreadSettings } from '../../src/start/checks/mistyped.ts';
import { checkDataFolder, notedMigration } from '../../src/storage/ground/embedded/data-folder.ts';
import { startEmbedded } from '../../src/storage/ground/embedded/embedded.ts';
import { FolderInUseError } from '../../src/storage/ground/embedded/lock.ts';
import { measureDatabase, neededCopy, putCopyBack, upgradeCopyPath } from '../../src/storage/ground/embedded/upgrade-copy.ts';
import { planNotedUpgrade, planUpgrade, type UpgradePlan } from '../../src/storage/ground/migrations/upgrade-plan.ts';
import { measureFreeBytes } from '../../src/storage/ground/opening/folders.ts';
import { openPool } from '../../src/storage/ground/opening/pool.ts';
import { serverProblem } from '../../src/storage/ground/opening/server-check.ts';
import { StartRefusal } from '../../src/storage/ground/opening/start-refusal.ts';
import type { Typed } from './arguments.ts';
import { exitCodes, failed, misused } from './failure.ts';
import { fail, nothingHere } from './local.ts';
import { size } from './output/size.ts';

export const upgradeHelp = `parley upgrade --check [--json]
parley upgrade --undo

--check says what the next start of this version does, and changes nothing: of which version the data is, the migrations that are missing, what
they remove, the tables that they change, who waits, the disk that it takes, the way back, and settings that have no effect any more. While a
service runs on an embedded database, the sizes of tables are left out.

--undo puts the copy of an embedded database from before the last upgrade back, for the version before. The newer one stays beside it.

  --json     what --check found, as JSON

Ends with 0 when the next start changes nothing in the database, with 3 when it applies migrations and nothing stands against it, with 1 when
something does (or the undo failed), and with 2 when the command is typed wrongly.

Examples:
  parley upgrade --check
  parley upgrade --check --json | jq .obstacles`;

/** So many migrations are shown with all that they change. */
const shownWholeMax = 10;
/** Smaller tables are changed at once. */
const notableBytes = 1_048_576;

/** Beside `exitCodes`: the next start changes the database. */
const pendingExitCode = 3;

/** What `--json` prints. */
export interface UpgradeReport extends UpgradePlan {
  /** Of the program that was asked. */
  readonly version: string;
  readonly database: {
    readonly kind: 'embedded' | 'server';
    /** The data folder, or the URL without its password. */
    readonly place: string;
    readonly sizeBytes: number;
    /** Whether a service has the folder, so that the plan is of its note. */
    readonly isInUse: boolean;
  };
  /** Of the files of an embedded database, which the start makes before migrations. */
  readonly copy: {
    readonly path: string;
    readonly sizeBytes: number;
    readonly freeBytes: number;
    readonly hasRoom: boolean;
  } | null;
  readonly wayBack: string;
  /** What the environment has and this version does not read. */
  readonly settings: readonly string[];
  /** What must be mended before. */
  readonly obstacles: readonly string[];
}

/** `parley upgrade`: what to print, and how the process ends. @throws Failure */
export async function upgrade(
  { words, options, switches }: Typed,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly text: string; readonly exitCode: number }> {
  if (switches.has('help')) return { text: upgradeHelp, exitCode: exitCodes.good };
  const surplus = [...words.slice(1), ...[...options.keys()].map((name) => `--${name}`)];
  if (surplus.length > 0) throw misused(`upgrade takes --check, --json or --undo only, not "${surplus.join(' ')}".`);
  if (switches.has('check') === switches.has('undo'))
    throw misused(
      'An upgrade is a start of the new version. To see what it does: parley upgrade --check. To go back: parley upgrade --undo',
    );
  const { settings } = usableSettings({ LOG_LEVEL: 'error', ...env });
  if (switches.has('undo')) return { text: undo(settings), exitCode: exitCodes.good };
  const report = await checkUpgrade(settings, env);
  const text = switches.has('json') ? JSON.stringify(report, null, 2) : shown(report);
  if (report.obstacles.length > 0) return { text, exitCode: exitCodes.failed };
  return { text, exitCode: report.migrations.length > 0 ? pendingExitCode : exitCodes.good };
}

async function checkUpgrade(settings: Settings, env: NodeJS.ProcessEnv): Promise<UpgradeReport> {
  try {
    const report = await (settings.DATABASE_URL === undefined ? checkEmbedded(settings) : checkServer(settings));
    return { ...report, settings: unreadSettings(env), obstacles: [...report.obstacles, ...settingsProblems(env)] };
  } catch (error) {
    if (error instanceof FolderInUseError)
      throw failed(
        'The service is running on this data folder, and the folder does not say of which version it is. Stop it, and repeat this.',
      );
    if (error instanceof StartRefusal) throw failed(error.message);
    const problem = databaseProblem(error, settings);
    throw problem === undefined ? error : failed([problem.message, problem.advice].join(' ').trim());
  }
}

type DatabaseReport = Omit<UpgradeReport, 'settings'>;

async function checkServer({ DATABASE_URL = '' }: Settings): Promise<DatabaseReport> {
  return onPool({ connectionString: DATABASE_URL }, async (pool) => {
    const problem = await serverProblem(pool);
    if (problem !== undefined) throw failed(`The database (DATABASE_URL) cannot be used: ${problem}`);
    const { rows } = await pool.query<{ sizeBytes: number }>(
      'SELECT pg_database_size(current_database())::float8 AS "sizeBytes"',
    );
    return {
      ...{ version: productVersion, ...(await planUpgrade(pool)), copy: null, obstacles: [] },
      database: {
        ...{ kind: 'server', place: displayValue('DATABASE_URL', DATABASE_URL), isInUse: false },
        sizeBytes: rows[0]?.sizeBytes ?? 0,
      },
      wayBack:
        'Make a backup of the server first (pg_dump): restored, it is the way back. Instances of the last version go on working meanwhile: replace them one after the other.',
    };
  });
}

async function checkEmbedded(settings: Settings): Promise<DatabaseReport> {
  const dataDir = resolve(settings.DATA_DIR);
  if (!existsSync(join(dataDir, 'database'))) throw nothingHere();
  const { plan, isInUse } = await planEmbedded(dataDir, settings);
  const copyNeed = plan.migrations.length === 0 ? undefined : neededCopy(dataDir);
  const freeBytes = measureFreeBytes(dataDir);
  const copy =
    copyNeed === undefined
      ? null
      : {
          ...{ path: upgradeCopyPath(dataDir), sizeBytes: copyNeed.sizeBytes, freeBytes },
          hasRoom: freeBytes >= copyNeed.sizeBytes + settings.DISK_FREE_MIN_BYTES,
        };
  const isWithoutRoom = copy !== null && !copy.hasRoom;
  return {
    ...{ version: productVersion, ...plan, copy },
    database: { kind: 'embedded', place: dataDir, sizeBytes: measureDatabase(dataDir), isInUse },
    wayBack: isWithoutRoom
      ? `A backup of ${dataDir}, made while the service is stopped.`
      : 'parley upgrade --undo puts the copy back, for the version before. What was written since is not in it; files that were deleted since are missing.',
    obstacles: isWithoutRoom
      ? [
          `There is no room for a copy of the database: it takes ${size(copy.sizeBytes)} and ${size(settings.DISK_FREE_MIN_BYTES)} that stay free, and ${size(freeBytes)} are free. Make room; or make a backup of ${dataDir}, and the start goes on without a copy.`,
        ]
      : [],
  };
}

async function planEmbedded(
  dataDir: string,
  settings: Settings,
): Promise<{ readonly plan: UpgradePlan; readonly isInUse: boolean }> {
  checkDataFolder(dataDir);
  try {
    const server = await startEmbedded(dataDir, settings, fail, { isCheck: true });
    try {
      return { plan: await onPool(server.connection, planUpgrade), isInUse: false };
    } finally {
      await server.close();
    }
  } catch (error) {
    const noted = notedMigration(dataDir);
    if (!(error instanceof FolderInUseError) || noted === undefined) throw error;
    return { plan: planNotedUpgrade(noted), isInUse: true };
  }
}

function undo({ DATABASE_URL, DATA_DIR }: Settings): string {
  if (DATABASE_URL !== undefined)
    throw failed('The database is a server (DATABASE_URL): restore the backup that was made before the upgrade.');
  try {
    const aside = putCopyBack(resolve(DATA_DIR));
    return (
      'The database is as it was before the last upgrade. Start the version that you had then; a start of this one upgrades it again. ' +
      `What was written since is in ${aside}: delete it when you need it no more.`
    );
  } catch (error) {
    if (error instanceof FolderInUseError) throw failed('The service is running on this data folder. Stop it, and repeat this.');
    throw error instanceof StartRefusal ? failed(error.message) : error;
  }
}

function shown(report: UpgradeReport): string {
  const { version, schemaVersion, database, migrations, copy, wayBack, settings, obstacles } = report;
  const parts = [
    [
      `This is Parley ${version}. The database (${database.place}, ${size(database.sizeBytes)}) has the schema of version ${schemaVersion}.`,
    ],
    migrations.length === 0
      ? ['The database has the schema of this version: the next start changes nothing.']
      : [`The next start applies ${migrations.length} migration(s):`, ...linesOfMigrations(migrations)],
    database.isInUse && migrations.length > 0
      ? ['A service runs on this folder: sizes of tables are left out. Stop it, and repeat this, to see them.']
      : [],
    copy?.hasRoom === true
      ? [
          `Before that it copies the files of the database to ${copy.path}: ${size(copy.sizeBytes)}, of ${size(copy.freeBytes)} that are free.`,
        ]
      : [],
    migrations.length === 0 ? [] : [`The way back: ${wayBack}`],
    settings.map((sentence) => `Setting: ${sentence}.`.replace(/[.?]\.$/, (end) => end.slice(0, 1))),
    obstacles.map((sentence) => `In the way: ${sentence}`),
  ];
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

/** All of a few; of many, those that take time or take something away. */
function linesOfMigrations(migrations: UpgradeReport['migrations']): readonly string[] {
  if (migrations.length <= shownWholeMax) return migrations.flatMap(linesOf);
  const isNotable = ({ tables, removes }: UpgradeReport['migrations'][number]) =>
    removes.length > 0 || tables.some(({ sizeBytes }) => sizeBytes >= notableBytes);
  const others = migrations.filter((migration) => !isNotable(migration));
  return [
    ...migrations.filter(isNotable).flatMap(linesOf),
    `  ${others.length} ${others.length === migrations.length ? '' : 'others '}that make or change tables below ${size(notableBytes)}: ${others[0]?.name} to ${others.at(-1)?.name} (--json names all)`,
  ];
}

function linesOf({ name, tables, stopsWriters, removes }: UpgradeReport['migrations'][number]): readonly string[] {
  return [
    `  ${name}${stopsWriters ? '  (who writes to its tables waits until it is done)' : ''}`,
    ...tables.map((table) => `    ${table.name}: about ${Math.round(table.rows)} rows, ${size(table.sizeBytes)}`),
    ...removes.map((removed) => `    removes ${removed}: only the way back brings it back`),
  ];
}

async function onPool<T>(config: PoolConfig, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool({ ...config, max: 1 }, { onLost: () => undefined });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
