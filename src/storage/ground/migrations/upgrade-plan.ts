// Raw SQL: sizes of tables that are named at run time.
import type { Pool } from 'pg';
import { productVersion } from '../../../lib/product.ts';
import { hasTable } from '../opening/pool.ts';
import { StartRefusal } from '../opening/start-refusal.ts';
import { isConcurrent } from './concurrent-migration.ts';
import { type Migration, pendingMigrations, readMigrations } from './migrate.ts';
import { newestMigration } from './migrations-folder.ts';

export interface PlannedMigration {
  readonly name: string;
  /** The tables that it changes and that are there, with their size. Empty where the database was not opened. */
  readonly tables: readonly TableSize[];
  /** Whether others that write to these tables wait until it ends. */
  readonly stopsWriters: boolean;
  /** What is taken from tables that are there: `column runs.usage`, `table x`, `rows of x`. Only a copy or a backup brings it back. */
  readonly removes: readonly string[];
}

export interface TableSize {
  readonly name: string;
  /** As the statistics of the database say. */
  readonly rows: number;
  /** With its indexes. */
  readonly sizeBytes: number;
}

/** What the next start does to a database, and of which version it is. */
export interface UpgradePlan {
  /** Of Parley, whose schema the database has: `0.1.0`, or words where no release had it. */
  readonly schemaVersion: string;
  /** Undefined for a database without a schema. */
  readonly newestMigration: string | undefined;
  readonly migrations: readonly PlannedMigration[];
}

/** The newest migration of each release before this one, by number. */
const releases: readonly (readonly [version: string, migration: number])[] = [['0.1.0', 19]];
const changedPattern =
  /(?:ALTER TABLE (?:ONLY )?(?:IF EXISTS )?|UPDATE |DELETE FROM |TRUNCATE |(?:CREATE (?:UNIQUE )?INDEX|CREATE TRIGGER)[^;]*? ON (?:ONLY )?)"?(\w+)"?/gi;

/** What the next start does to the schema. Changes nothing. @throws StartRefusal when the database is of a newer Parley. */
export async function planUpgrade(pool: Pool): Promise<UpgradePlan> {
  const migrations: PlannedMigration[] = [];
  for (const migration of await pendingMigrations(pool)) migrations.push(await makePlan(pool, migration));
  const newest = await newestApplied(pool);
  return { schemaVersion: versionOfSchema(newest), newestMigration: newest, migrations };
}

/** The same of a database that is in use, from the note of its folder: without the sizes of tables. @throws StartRefusal as `planUpgrade` does. */
export function planNotedUpgrade(notedMigration: string): UpgradePlan {
  const noted = parseNumber(notedMigration);
  if (noted > parseNumber(newestMigration()))
    throw new StartRefusal(`The database is of a newer Parley: it has ${notedMigration}. Start that version.`);
  const migrations = readMigrations()
    .filter(({ name }) => parseNumber(name) > noted)
    .map(({ name, sql }) => ({ name, tables: [], stopsWriters: !isConcurrent(sql), removes: listRemovals(sql) }));
  return { schemaVersion: versionOfSchema(notedMigration), newestMigration: notedMigration, migrations };
}

async function makePlan(pool: Pool, { name, sql }: Migration): Promise<PlannedMigration> {
  const code = withoutComments(sql);
  const names = [...new Set([...code.matchAll(changedPattern)].map(([, table = '']) => table))];
  const { rows } = await pool.query<TableSize>(
    `SELECT relname::text AS name, greatest(reltuples, 0)::float8 AS rows, pg_total_relation_size(oid)::float8 AS "sizeBytes"
     FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname = ANY ($1) ORDER BY 1`,
    [names],
  );
  return { name, tables: rows, stopsWriters: rows.length > 0 && !isConcurrent(sql), removes: listRemovals(sql) };
}

/** What a migration takes away, in its own statements: the bodies of functions run later, or not at all. */
export function listRemovals(sql: string): readonly string[] {
  const statements = withoutComments(sql)
    .replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, '')
    .split(';');
  return statements.flatMap((statement) => {
    const [, altered] = /^\s*ALTER TABLE (?:ONLY )?(?:IF EXISTS )?"?(\w+)"?/i.exec(statement) ?? [];
    if (altered !== undefined)
      return [...statement.matchAll(/DROP COLUMN (?:IF EXISTS )?"?(\w+)"?/gi)].map(([, column]) => `column ${altered}.${column}`);
    const [, table] = /^\s*DROP TABLE (?:IF EXISTS )?"?(\w+)"?/i.exec(statement) ?? [];
    if (table !== undefined) return [`table ${table}`];
    const [, emptied] = /^\s*(?:DELETE FROM|TRUNCATE(?: TABLE)?) (?:ONLY )?"?(\w+)"?/i.exec(statement) ?? [];
    return emptied === undefined ? [] : [`rows of ${emptied}`];
  });
}

async function newestApplied(pool: Pool): Promise<string | undefined> {
  if (!(await hasTable(pool, 'parley_migrations'))) return undefined;
  const { rows } = await pool.query<{ name: string }>('SELECT name FROM parley_migrations');
  return rows.map(({ name }) => name).sort((one, other) => parseNumber(other) - parseNumber(one))[0];
}

function versionOfSchema(migration: string | undefined): string {
  if (migration === undefined) return 'none yet';
  const number = parseNumber(migration);
  if (number === parseNumber(newestMigration())) return productVersion;
  const [before] = releases.findLast(([, newest]) => newest <= number) ?? [];
  if (releases.some(([, newest]) => newest === number)) return before ?? productVersion;
  return before === undefined ? `before ${releases[0]?.[0]}` : `between ${before} and ${productVersion}`;
}

function withoutComments(sql: string): string {
  return sql.replaceAll(/--.*$/gm, '');
}

function parseNumber(name: string): number {
  return Number.parseInt(name, 10);
}
