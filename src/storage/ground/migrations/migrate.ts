// Raw SQL: migrations are SQL, and Prisma's client knows the newest schema only.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { hasTable, withTurn } from '../opening/pool.ts';
import { StartRefusal } from '../opening/start-refusal.ts';
import { isConcurrent, runConcurrently } from './concurrent-migration.ts';
import { migrationsFolder } from './migrations-folder.ts';

export interface Migration {
  /** `<number>_<what it does>`, the name of its folder. */
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of `sql` in hex. */
  readonly checksum: string;
}

/** Any number works, as long as every Parley uses the same one. */
export const migrationLock = 7_215_533;

/**
 * Applies what is missing, in order. Processes that start together on one server take turns. A migration is one transaction, so that it can be
 * repeated after a crash; one that builds indexes concurrently (concurrent-migration.ts) can be repeated statement by statement.
 *
 * @returns the names of those applied now.
 * @throws StartRefusal when an applied migration was edited afterwards, or the database is newer than this Parley.
 */
export async function migrate(pool: Pool, folder: string = migrationsFolder): Promise<readonly string[]> {
  const names: string[] = [];
  for (const migration of await pendingMigrations(pool, folder)) if (await apply(pool, migration)) names.push(migration.name);
  return names;
}

/**
 * What `migrate` would apply. A new database begins with the first migration of the folder. That one stands for those of its subfolder `earlier`, so
 * a database that began with them goes on with them instead, however many of them it has.
 *
 * @throws StartRefusal as `migrate` does.
 */
export async function pendingMigrations(pool: Pool, folder: string = migrationsFolder): Promise<readonly Migration[]> {
  const migrations = readMigrations(folder);
  const applied = await appliedIn(pool);
  const [start, ...later] = migrations;
  if (applied.size === 0 || start === undefined || applied.has(start.name)) return listPending(migrations, applied);
  return listPending([...readMigrations(join(folder, 'earlier')), ...later], applied);
}

/** The migrations of a folder, oldest first. */
export function readMigrations(folder: string = migrationsFolder): readonly Migration[] {
  return readdirSync(folder)
    .filter((name) => /^\d+_/.test(name))
    .map((name) => {
      const sql = readFileSync(join(folder, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    })
    .sort((a, b) => Number.parseInt(a.name, 10) - Number.parseInt(b.name, 10));
}

/** Name to checksum; empty on a new database. */
async function appliedIn(client: Pick<Pool, 'query'>): Promise<ReadonlyMap<string, string>> {
  if (!(await hasTable(client, 'parley_migrations'))) return new Map();
  const { rows } = await client.query<Migration>('SELECT name, checksum FROM parley_migrations');
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}

function listPending(migrations: readonly Migration[], checksums: ReadonlyMap<string, string>): readonly Migration[] {
  const knownNames = new Set(migrations.map(({ name }) => name));
  const unknown = [...checksums.keys()].filter((name) => !knownNames.has(name));
  if (unknown.length > 0)
    throw new StartRefusal(`The database is of a newer Parley: it has ${unknown.join(', ')}. Start that version.`);
  const editedMigrations = migrations.filter(({ name, checksum }) => (checksums.get(name) ?? checksum) !== checksum);
  if (editedMigrations.length > 0) {
    throw new StartRefusal(
      `Applied migrations must stay as they are; edited: ${editedMigrations.map(({ name }) => name).join(', ')}`,
    );
  }
  return migrations.filter(({ name }) => !checksums.has(name));
}

/** @returns false when another process applied it while this process waited for its turn. */
async function apply(pool: Pool, { name, sql, checksum }: Migration): Promise<boolean> {
  return withTurn(pool, migrationLock, async (client) => {
    await client.query(
      'CREATE TABLE IF NOT EXISTS parley_migrations (name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())',
    );
    if ((await client.query('SELECT 1 FROM parley_migrations WHERE name = $1', [name])).rowCount !== 0) return false;
    if (isConcurrent(sql)) await runConcurrently(pool, client, sql);
    else await client.query(sql);
    await client.query('INSERT INTO parley_migrations (name, checksum) VALUES ($1, $2)', [name, checksum]);
    return true;
  }).catch((error: unknown) => {
    throw new Error(`migration ${name} failed`, { cause: error });
  });
}
