// Raw SQL: migrations are SQL, and Prisma builds no index.
import { createHash } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';

/** The first line of a migration whose statements run one by one, outside a transaction. The reason follows. */
const marker = /^-- Outside a transaction: \S/;
const createIndex = /^CREATE (UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS "?(\w+)"? ON "?(\w+)"?\s*(\S[\s\S]*)$/;
const dropIndex = /^DROP INDEX CONCURRENTLY IF EXISTS "?\w+"?$/;
const nameMax = 63;

/** Whether a migration builds its indexes without a lock that stops writers. */
export function isConcurrent(sql: string): boolean {
  return marker.test(sql);
}

/**
 * Runs a migration that consists of `CREATE INDEX CONCURRENTLY IF NOT EXISTS` and `DROP INDEX CONCURRENTLY IF EXISTS`. A crash between or within its
 * statements leaves nothing that the next run does not repair: an index that was not finished is invalid, and is built anew. On a partitioned table
 * the index is built on one partition after the other.
 *
 * @param turn  the connection that holds the lock of migrations. It stays idle meanwhile.
 * @throws Error for any other statement: it may not be possible to repeat it.
 */
export async function runConcurrently(pool: Pool, turn: PoolClient, sql: string): Promise<void> {
  const statements = listStatements(sql);
  if (await isStandalone(turn)) {
    // A database of one process, such as the embedded one, has no writers that would wait, and cannot use a second connection meanwhile.
    for (const statement of statements) await turn.query(statement.replace(' CONCURRENTLY ', ' '));
    return;
  }
  const client = await pool.connect();
  try {
    for (const statement of statements) await run(client, statement);
  } finally {
    client.release();
  }
}

async function run(client: PoolClient, statement: string): Promise<void> {
  const [, unique = '', name, table, rest] = createIndex.exec(statement) ?? [];
  if (name === undefined || table === undefined || rest === undefined) {
    await client.query(statement);
    return;
  }
  const partitions = await findPartitions(client, table);
  const build = async (index: string, on: string) => {
    await dropUnfinished(client, index);
    await client.query(`CREATE ${unique}INDEX CONCURRENTLY IF NOT EXISTS "${index}" ON "${on}" ${rest}`);
  };
  if (partitions === undefined) return build(name, table);
  for (const partition of partitions) await build(partitionIndex(partition, name), partition);
  // Takes the indexes of the partitions for its own, and builds those of partitions that were made meanwhile.
  await client.query(`CREATE ${unique}INDEX IF NOT EXISTS "${name}" ON "${table}" ${rest}`);
}

function listStatements(sql: string): readonly string[] {
  const statements = sql
    .replaceAll(/^--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
  const other = statements.find((statement) => !createIndex.test(statement) && !dropIndex.test(statement));
  if (other !== undefined) throw new Error(`a migration outside a transaction cannot repeat: ${other}`);
  return statements;
}

async function isStandalone(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ kind: string }>(
    'SELECT backend_type AS kind FROM pg_stat_activity WHERE pid = pg_backend_pid()',
  );
  return rows[0]?.kind === 'standalone backend';
}

/** The partitions of a partitioned table that hold rows; undefined for any other table. */
async function findPartitions(client: PoolClient, table: string): Promise<readonly string[] | undefined> {
  const { rows } = await client.query<{ names: string[] }>(
    `SELECT array(SELECT c.relname::text FROM pg_partition_tree(p.oid) t JOIN pg_class c ON c.oid = t.relid
       WHERE c.relkind = 'r' ORDER BY c.relname) AS names
     FROM pg_class p WHERE p.oid = $1::regclass AND p.relkind = 'p'`,
    [`"${table}"`],
  );
  return rows[0]?.names;
}

function partitionIndex(partition: string, index: string): string {
  const name = `${partition}_${index}`;
  if (name.length <= nameMax) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name.slice(0, nameMax - hash.length - 1)}_${hash}`;
}

/** What a crash within CREATE INDEX CONCURRENTLY left behind. */
async function dropUnfinished(client: PoolClient, index: string): Promise<void> {
  const { rows } = await client.query('SELECT 1 FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid', [
    `"${index}"`,
  ]);
  if (rows.length > 0) await client.query(`DROP INDEX CONCURRENTLY IF EXISTS "${index}"`);
}
