// Raw SQL: reads the catalog of PostgreSQL.
import type { Pool } from 'pg';

/** A table as it is copied: partitions belong to their table. */
export interface MovedTable {
  /** Quoted, with its schema. */
  readonly name: string;
  /** Those with values of their own, not the generated ones. */
  readonly columns: readonly string[];
  /** What holds its rows: itself, or its partitions. */
  readonly parts: readonly TablePart[];
  /** Names of the tables that its foreign keys refer to, without itself. */
  readonly refersTo: readonly string[];
}

export interface TablePart {
  readonly name: string;
  /** Of the rows themselves, in blocks of the table. */
  readonly blocks: number;
  /** With what stands out of line. */
  readonly sizeBytes: number;
  /** `FOR VALUES …` or `DEFAULT`; undefined for a table that is not a partition. */
  readonly bound: string | undefined;
}

/** Not copied: what belongs to this database or to the move itself. Changes of caches are deleted after an hour. */
const ownTables = ['parley_migrations', 'cache_invalidations', 'parley_move', 'parley_move_tables', 'parley_move_files'];
/** Tables of pg-boss that hold jobs and what they depend on. The others hold its version and statistics. */
const jobTables = ['queue', 'job', 'job_dependency', 'schedule', 'subscription'];

interface Row {
  readonly name: string;
  readonly columns: string[];
  readonly parts: { readonly name: string; readonly blocks: number; readonly sizeBytes: number; readonly bound: string | null }[];
  readonly refersTo: string[];
}

const text = `
SELECT format('%I.%I', n.nspname, c.relname) AS name,
  array(SELECT quote_ident(a.attname) FROM pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attnum) AS columns,
  (SELECT json_agg(json_build_object('name', format('%I.%I', ln.nspname, l.relname), 'bound', pg_get_expr(l.relpartbound, l.oid),
      'blocks', pg_relation_size(l.oid) / current_setting('block_size')::int, 'sizeBytes', pg_table_size(l.oid)) ORDER BY l.relname)
    FROM (SELECT c.oid AS relid WHERE c.relkind = 'r' UNION ALL SELECT relid FROM pg_partition_tree(c.oid) WHERE isleaf AND c.relkind = 'p') t
    JOIN pg_class l ON l.oid = t.relid AND l.relkind = 'r' JOIN pg_namespace ln ON ln.oid = l.relnamespace) AS parts,
  array(SELECT DISTINCT format('%I.%I', rn.nspname, r.relname) FROM pg_constraint k
    JOIN pg_class r ON r.oid = coalesce(pg_partition_root(k.confrelid), k.confrelid) JOIN pg_namespace rn ON rn.oid = r.relnamespace
    WHERE k.contype = 'f' AND r.oid <> c.oid
      AND (k.conrelid = c.oid OR k.conrelid IN (SELECT relid FROM pg_partition_tree(c.oid)))) AS "refersTo"
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND ((n.nspname = 'public' AND c.relname <> ALL ($1)) OR (n.nspname = 'pgboss' AND c.relname = ANY ($2)))
ORDER BY 1`;

/** All tables with rows to copy, each behind those that it refers to. @throws Error when tables refer to one another in a circle. */
export async function readTables(client: Pick<Pool, 'query'>): Promise<readonly MovedTable[]> {
  const { rows } = await client.query<Row>(text, [ownTables, jobTables]);
  const remainingTables = new Map(
    rows.map(({ parts, ...row }) => [
      row.name,
      { ...row, parts: (parts ?? []).map((part) => ({ ...part, bound: part.bound ?? undefined })) },
    ]),
  );
  const orderedTables: MovedTable[] = [];
  while (remainingTables.size > 0) {
    const next = [...remainingTables.values()].filter(({ refersTo }) => !refersTo.some((name) => remainingTables.has(name)));
    if (next.length === 0) throw new Error(`tables refer to one another: ${[...remainingTables.keys()].join(', ')}`);
    orderedTables.push(...next);
    for (const { name } of next) remainingTables.delete(name);
  }
  return orderedTables;
}

/** Makes the partitions of the source in the target, so that old rows can be dropped with their partition there too. Others take the rows of those that overlap. */
export async function makePartitions(target: Pool, source: readonly MovedTable[]): Promise<void> {
  for (const table of source) {
    for (const { name, bound: partitionBound } of table.parts) {
      if (partitionBound === undefined || partitionBound === 'DEFAULT') continue;
      await target
        .query(`CREATE TABLE IF NOT EXISTS ${name} PARTITION OF ${table.name} ${partitionBound}`)
        .catch((error: unknown) => {
          if (!(error instanceof Error && 'code' in error && error.code === overlapping)) throw error;
        });
    }
  }
}

/** invalid_object_definition */
const overlapping = '42P17';

/** Gives every sequence of the target the place that it has in the source. */
export async function setSequences(source: Pool, target: Pool): Promise<void> {
  const { rows } = await source.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, sequencename) AS name FROM pg_sequences WHERE schemaname IN ('public', 'pgboss')`,
  );
  for (const { name } of rows) {
    const { rows: places } = await source.query<{ last: string; called: boolean }>(
      `SELECT last_value::text AS last, is_called AS called FROM ${name}`,
    );
    const [place] = places;
    const isThere = (await target.query('SELECT 1 WHERE to_regclass($1) IS NOT NULL', [name])).rowCount === 1;
    if (place !== undefined && isThere) await target.query('SELECT setval($1, $2, $3)', [name, place.last, place.called]);
  }
}
