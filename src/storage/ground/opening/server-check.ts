// Raw SQL: what a server is, and whether a pooler in between keeps transactions.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { StartRefusal } from './start-refusal.ts';

export const oldestVersion = 15;

interface Server {
  readonly version: number;
  readonly isStandby: boolean;
  readonly mayCreate: boolean;
  readonly mayCreateSchema: boolean;
}

/** Whether a database server can be used. @throws StartRefusal that says why not and what to do, or the error of the connection. */
export async function checkServer(pool: Pool, way: ServerWay = plainWay): Promise<void> {
  const problem = await serverProblem(pool, way);
  if (problem !== undefined) throw new StartRefusal(`The database (DATABASE_URL) cannot be used: ${problem}`);
}

/** @throws StartRefusal when DATABASE_DIRECT_URL leads to another database than DATABASE_URL. */
export async function refuseOtherDatabase(pool: Pool, direct: Pool): Promise<void> {
  const identity = async (client: Pool) =>
    (
      await client.query<{ id: string }>(
        "SELECT oid || ' ' || pg_postmaster_start_time() AS id FROM pg_database WHERE datname = current_database()",
      )
    ).rows[0]?.id;
  if ((await identity(pool)) === (await identity(direct))) return;
  throw new StartRefusal(
    'DATABASE_DIRECT_URL leads to another database than DATABASE_URL. Name the same one, without the pooler.',
  );
}

/** How Parley will use the server. */
export interface ServerWay {
  /** Whether it prepares statements (DATABASE_PREPARED_STATEMENTS). */
  readonly prepares: boolean;
}
const plainWay: ServerWay = { prepares: false };

/** Why a database server cannot be used, and what to do; undefined when it can. Changes nothing. @param pool  with two connections or more. */
export async function serverProblem(pool: Pool, { prepares }: ServerWay = plainWay): Promise<string | undefined> {
  const { rows } = await pool.query<Server>(
    `SELECT current_setting('server_version_num')::int / 10000 AS version, pg_is_in_recovery() AS "isStandby",
      has_schema_privilege('public', 'CREATE') OR to_regclass('public.parley_migrations') IS NOT NULL AS "mayCreate",
      has_database_privilege(current_database(), 'CREATE') OR to_regnamespace('pgboss') IS NOT NULL AS "mayCreateSchema"`,
  );
  const [server] = rows;
  if (server === undefined) return 'it answers nothing.';
  const { version, isStandby, mayCreate, mayCreateSchema } = server;
  if (version < oldestVersion) return `it is PostgreSQL ${version}. Parley needs PostgreSQL ${oldestVersion} or newer.`;
  if (isStandby) return 'it is a standby, which only reads. Name the primary server.';
  if (!mayCreate) return 'the user may not make tables. Give the user the right to: GRANT ALL ON SCHEMA public TO <user>.';
  if (!mayCreateSchema)
    return 'the user may not make a schema for the job queue. Give the user the right to: GRANT CREATE ON DATABASE <database> TO <user>.';
  if (!(await keepsTransactions(pool)))
    return 'a pooler in between runs each statement by itself (PgBouncer: pool_mode = statement). Set pool_mode = transaction or session.';
  if (prepares && !(await keepsPrepared(pool)))
    return (
      'a pooler in between loses prepared statements (PgBouncer in transaction mode). Set DATABASE_PREPARED_STATEMENTS=off, or ' +
      'max_prepared_statements in PgBouncer 1.21 or newer.'
    );
  return undefined;
}

/** Whether two statements of one transaction have the same time. PgBouncer in statement mode refuses to begin one. */
async function keepsTransactions(pool: Pool): Promise<boolean> {
  const client = await pool.connect();
  let isKept = false;
  try {
    await client.query('BEGIN');
    const now = async () => (await client.query<{ now: string }>('SELECT now()::text AS now')).rows[0]?.now;
    const first = await now();
    isKept = first === (await now());
    await client.query('ROLLBACK');
  } catch (error) {
    // The words of PgBouncer.
    if (!(error instanceof Error && /transaction blocks? not allowed/i.test(error.message))) throw error;
    isKept = false;
  } finally {
    client.release(!isKept);
  }
  return isKept;
}

const triesMax = 20;
/** A pooler with a single connection to the server lets the second use wait for the transaction. */
const otherMs = 500;

/**
 * Whether a statement that was prepared can be used again. Another transaction takes the connection of the server on which it was prepared, so that it
 * runs on a different one. That never happens without a pooler in transaction mode.
 */
async function keepsPrepared(pool: Pool): Promise<boolean> {
  const client = await pool.connect();
  const other = await pool.connect();
  const text = 'SELECT pg_backend_pid() AS pid';
  const loadPid = async (on: PoolClient, query: { readonly text: string; readonly name?: string }) =>
    (await on.query<{ pid: number }>(query)).rows[0]?.pid;
  try {
    for (let attempt = 0; attempt < triesMax; attempt += 1) {
      // A name that no earlier probe has left on a connection of the pooler. Prepared anew each time: the pooler gives the connection that was used
      // last, so that one which others took in between might never be its turn again.
      const probe = { name: `parley_${randomUUID()}`, text };
      const backendPid = await loadPid(client, probe);
      await other.query('BEGIN');
      const isTaken = (await loadPid(other, { text })) === backendPid;
      const repeatedUse = isTaken ? client.query(probe).then(isDone, isLost) : undefined;
      await Promise.race([repeatedUse, wait(isTaken ? otherMs : 0)]);
      await other.query('ROLLBACK');
      if (repeatedUse !== undefined) return await repeatedUse;
    }
    return true;
  } finally {
    // Closing them ends the prepared statement with them.
    client.release(true);
    other.release(true);
  }
}

function isDone(): boolean {
  return true;
}

/** invalid_sql_statement_name */
function isLost(error: unknown): boolean {
  if (error instanceof Error && 'code' in error && error.code === '26000') return false;
  throw error;
}
