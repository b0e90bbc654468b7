// Raw SQL: rows move between tables as the database writes them, whatever columns they have.
import type { Transaction } from '../../ground/database.ts';
import { lockRows } from '../../ground/sql/locks.ts';

/**
 * Moves the runs of a chat out of the sight of everything that reads runs. Those that are under way are deleted: no process can end them there. The
 * chat must be locked.
 *
 * @returns the ids of all runs.
 */
export async function binRuns(tx: Transaction, chatId: string): Promise<readonly string[]> {
  const { prisma } = tx;
  const runIds = (await prisma.run.findMany({ where: { chatId }, select: { id: true } })).map(({ id }) => id);
  await lockRows(tx, 'runs', runIds);
  const binned = await tx.query<{ readonly runId: string }>(
    `insert into binned_runs ("runId", "chatId", "endedAt", "hasEvents", run, items, folded)
     select row.id, row."chatId", coalesce(row."endedAt", now()), exists (select from run_event_batches batch where batch."runId" = row.id), to_json(row),
       (select json_agg(member) from response_items member where member."runId" = row.id),
       (select json_agg(state) from folded_responses state where state."runId" = row.id)
     from runs row where row."chatId" = $1 and row.status <> 'in_progress' returning "runId"`,
    [chatId],
  );
  await deleteRuns(
    tx,
    runIds,
    binned.map(({ runId }) => runId),
  );
  return runIds;
}

/** Moves the runs of a chat back. The chat must be locked. @returns their ids. */
export async function restoreRuns(tx: Transaction, chatId: string): Promise<readonly string[]> {
  await moveBack(tx, chatId, 'runs', 'json_build_array(binned.run)');
  await moveBack(tx, chatId, 'response_items', 'binned.items');
  await moveBack(tx, chatId, 'folded_responses', 'binned.folded');
  return deleteBinnedRuns(tx, chatId);
}

/** Deletes the rows of runs in the bin. @returns their ids. */
export async function deleteBinnedRuns(tx: Transaction, chatId: string): Promise<readonly string[]> {
  const rows = await tx.query<{ readonly id: string }>('delete from binned_runs where "chatId" = $1 returning "runId" as id', [
    chatId,
  ]);
  return rows.map(({ id }) => id);
}

/** Deletes runs with their items and events. @param keepsEventsOf  ids of runs whose events stay. */
export async function deleteRuns(
  { prisma }: Transaction,
  ids: readonly string[],
  keepsEventsOf: readonly string[] = [],
): Promise<void> {
  const kept = new Set(keepsEventsOf);
  // Delete the runs first: an active run writes its events under a lock on its row, and would leave some of them behind for ever.
  await prisma.run.deleteMany({ where: { id: { in: [...ids] } } });
  await prisma.runEventBatch.deleteMany({ where: { runId: { in: ids.filter((id) => !kept.has(id)) } } });
  await prisma.responseItem.deleteMany({ where: { runId: { in: [...ids] } } });
}

/**
 * Writes rows of a table from their JSON. A column that a later version added gets its default.
 *
 * @param rows  SQL: the JSON list of the rows of `binned`, or null.
 */
async function moveBack(
  tx: Transaction,
  chatId: string,
  table: 'runs' | 'response_items' | 'folded_responses',
  rows: string,
): Promise<void> {
  const columns = await tx.query<{ readonly name: string }>(
    `select column_name as name from information_schema.columns
     where table_schema = current_schema() and table_name = $2 and is_generated = 'NEVER' and column_name in (
       select json_object_keys((${rows}) -> 0) from binned_runs binned where "chatId" = $1 and json_typeof(${rows}) = 'array')`,
    [chatId, table],
  );
  if (columns.length === 0) return;
  const names = columns.map(({ name }) => `"${name}"`);
  const values = names.map((name) => `row.${name}`);
  await tx.execute(
    `insert into ${table} (${names.join(', ')}) select ${values.join(', ')} from binned_runs binned
     cross join lateral json_populate_recordset(null::${table}, ${rows}) row where binned."chatId" = $1`,
    [chatId],
  );
}
