// Raw SQL: sizes of tables that are named at run time.
import type { Pool } from 'pg';
import { isConcurrent } from './concurrent-migration.ts';
import { type Migration, pendingMigrations } from './migrate.ts';

export interface PlannedMigration {
  readonly name: string;
  /** The tables that it changes and that are there, with their size. */
  readonly tables: readonly TableSize[];
  /** Whether others that write to these tables wait until it ends. */
  readonly stopsWriters: boolean;
}

export interface TableSize {
  readonly name: string;
  /** As the statistics of the database say. */
  readonly rows: number;
  /** With its indexes. */
  readonly sizeBytes: number;
}

const changedPattern =
  /(?:ALTER TABLE (?:ONLY )?(?:IF EXISTS )?|UPDATE |DELETE FROM |TRUNCATE |(?:CREATE (?:UNIQUE )?INDEX|CREATE TRIGGER)[^;]*? ON (?:ONLY )?)"?(\w+)"?/gi;

/** What the next start does to the schema. Changes nothing. @throws StartRefusal when the database is of a newer Parley. */
export async function planUpgrade(pool: Pool): Promise<readonly PlannedMigration[]> {
  const plannedMigrations: PlannedMigration[] = [];
  for (const migration of await pendingMigrations(pool)) plannedMigrations.push(await makePlan(pool, migration));
  return plannedMigrations;
}

async function makePlan(pool: Pool, { name, sql }: Migration): Promise<PlannedMigration> {
  const code = sql.replaceAll(/--.*$/gm, '');
  const names = [...new Set([...code.matchAll(changedPattern)].map(([, table = '']) => table))];
  const { rows } = await pool.query<TableSize>(
    `SELECT relname::text AS name, greatest(reltuples, 0)::float8 AS rows, pg_total_relation_size(oid)::float8 AS "sizeBytes"
     FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname = ANY ($1) ORDER BY 1`,
    [names],
  );
  return { name, tables: rows, stopsWriters: rows.length > 0 && !isConcurrent(sql) };
}
