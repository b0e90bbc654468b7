import type { Pool } from 'pg';
import { timeOfIdStart } from '../../../src/entities/ground/ids.ts';
import { readMigrations } from '../../../src/storage/ground/migrations/migrate.ts';
import { earlierMigrationsFolder } from '../../../src/storage/ground/migrations/migrations-folder.ts';

/**
 * The schema of a database in sorted lines, for comparisons: tables, columns in their order, indexes, constraints, triggers, functions, sequences,
 * partitions, settings and the rows that migrations write. Left out are the names of indexes of partitions, which PostgreSQL chooses, and those of
 * NOT NULL, which it keeps since version 18. Months of the ledger and the audit log are counted from the first one: databases that were made before and
 * after the end of a month have the same schema.
 */
export async function describeSchema(pool: Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ line: string }>(`
    WITH own AS (
      SELECT * FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname NOT LIKE 'parley_migrations%'
    )
    SELECT concat_ws(' ', 'relation', relname, relkind, relpersistence, reloptions::text, pg_get_partkeydef(oid),
      pg_get_expr(relpartbound, oid)) AS line FROM own WHERE relkind <> 'i' AND NOT (relkind = 'I' AND relispartition)
    UNION ALL SELECT concat_ws(' ', 'column', relname, row_number() OVER (PARTITION BY relname ORDER BY attnum), attname,
        format_type(atttypid, atttypmod), CASE WHEN attnotnull THEN 'NOT NULL' END, attgenerated, attidentity, attstorage, attcompression,
        attcollation::regcollation, pg_get_expr(adbin, adrelid))
      FROM own JOIN pg_attribute ON attrelid = own.oid AND attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'p')
      LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    UNION ALL SELECT concat_ws(' ', 'index', pg_get_indexdef(own.oid), reloptions::text, indisclustered, indisvalid)
      FROM own JOIN pg_index ON indexrelid = own.oid WHERE NOT relispartition
    UNION ALL SELECT concat_ws(' ', 'index of a partition', indrelid::regclass, parent.inhparent::regclass, indisvalid)
      FROM own JOIN pg_index ON indexrelid = own.oid JOIN pg_inherits parent ON parent.inhrelid = own.oid
    UNION ALL SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated)
      FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n' AND conrelid <> to_regclass('parley_migrations')
    UNION ALL SELECT concat_ws(' ', 'trigger', pg_get_triggerdef(trigger.oid), tgenabled)
      FROM pg_trigger trigger JOIN own ON own.oid = tgrelid WHERE NOT tgisinternal
    UNION ALL SELECT concat_ws(' ', 'function', pg_get_functiondef(oid)) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid AND deptype = 'e')
    UNION ALL SELECT concat_ws(' ', 'sequence', seqrelid::regclass, seqtypid::regtype, seqstart, seqincrement, seqmin, seqmax, seqcache, seqcycle,
        refobjid::regclass, attname)
      FROM pg_sequence LEFT JOIN pg_depend ON objid = seqrelid AND classid = 'pg_class'::regclass AND refclassid = 'pg_class'::regclass AND deptype = 'a'
      LEFT JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
    UNION ALL SELECT concat_ws(' ', 'setting', setconfig::text) FROM pg_db_role_setting JOIN pg_database ON setdatabase = pg_database.oid
      WHERE datname = current_database()
    UNION ALL SELECT concat_ws(' ', 'row', audit_sinks::text) FROM audit_sinks
    UNION ALL SELECT concat_ws(' ', 'row', id, since <= now()) FROM lexeme_numberings`);
  return countMonths(rows.map(({ line }) => line)).sort();
}

/** `usage_entries_2026_11` becomes `usage_entries_month 1`, and the bounds of that table `'use_month 1'` and `'use_month 2'`. */
function countMonths(lines: readonly string[]): string[] {
  const name = /((?:usage|audit)_entries)_(\d{4}_\d{2})/g;
  const first = lines.flatMap((line) => [...line.matchAll(name)].map(([, , month = '']) => month)).sort()[0] ?? '';
  const count = (month: string) => 12 * Number(month.slice(0, 4)) + Number(month.slice(5));
  const number = (month: string) => `month ${count(month) - count(first) + 1}`;
  return lines.map((line) =>
    line
      .replaceAll(name, (_, table: string, month: string) => `${table}_${number(month)}`)
      .replaceAll(/'(use_|aud_)([0-9a-z]{10})'/g, (bound, prefix: string, start: string) => {
        const at = timeOfIdStart(prefix + start).toISOString();
        return at.endsWith('-01T00:00:00.000Z') ? `'${prefix}${number(at.slice(0, 7).replace('-', '_'))}'` : bound;
      }),
  );
}

/** Notes in a new database that it began with the migrations that its first one stands for. */
export async function noteEarlierMigrations(pool: Pool): Promise<void> {
  await pool.query("DELETE FROM parley_migrations WHERE name = '160_start'");
  for (const { name, checksum } of readMigrations(earlierMigrationsFolder)) {
    await pool.query('INSERT INTO parley_migrations (name, checksum) VALUES ($1, $2)', [name, checksum]);
  }
}
