// Raw SQL: the tables are read from the database's catalog, and rows are deleted in bounded portions.
import type { Sql } from '../database/database.ts';

const rowsPerStatement = 2_000;

/**
 * Tables that keep rows of deleted users: the ledger belongs to the organization and says what was paid for; ratings are part of an agent's mean; the
 * audit log keeps the past.
 */
const keptOfUsers: readonly string[] = ['usage_entries', 'agent_ratings', 'agents', 'chats'];
const keptOfOrganizations: readonly string[] = ['audit_entries'];

/**
 * Deletes every row of a deleted organization or user, in every table that has the column: the database's catalog lists those tables, so a new table
 * needs no change here. The statements are small, so that no request waits for them.
 */
export async function purgeRows(sql: Sql, column: 'orgId' | 'userId', id: string, signal: AbortSignal): Promise<void> {
  // Events have the id of their run only.
  await purgeTable(sql, 'run_event_batches', `"runId" in (select r.id from runs r where r."${column}" = $1)`, id, signal);
  const kept = column === 'orgId' ? keptOfOrganizations : keptOfUsers;
  const columns = column === 'orgId' ? ['orgId'] : ['userId', 'ownerUserId'];
  const rows = await sql.query<{ table: string; column: string }>(
    `select table_name as table, column_name as column from information_schema.columns
     where table_schema = 'public' and column_name = any($1::text[]) and not table_name = any($2::text[]) order by 1, 2`,
    [columns, kept],
  );
  for (const found of rows) await purgeTable(sql, found.table, `"${found.column}" = $1`, id, signal);
}

async function purgeTable(sql: Sql, table: string, condition: string, id: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const text = `delete from "${table}" where ctid = any(array(select ctid from "${table}" where ${condition} limit ${rowsPerStatement}))`;
    if ((await sql.execute(text, [id])) < rowsPerStatement) return;
  }
}
