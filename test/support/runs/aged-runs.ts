import type { Pool } from 'pg';
import { kindOfId, lowerBoundOfIds } from '../../../src/entities/ground/ids.ts';

/**
 * Makes a run that is over as old as one that was asked for some days ago: its rows, and its id, which begins with the time.
 *
 * @returns the new id.
 */
export async function ageRun(pool: Pool, id: string, days: number): Promise<string> {
  const kind = kindOfId(id);
  if (kind === undefined) throw new Error(`${id} is no id`);
  const at = new Date(Date.now() - days * 86_400_000);
  const bound = lowerBoundOfIds(kind, at);
  const aged = `${bound}${id.slice(bound.length)}`;
  const moved = [id, aged];
  await pool.query('update runs set id = $2, "createdAt" = $3, "startedAt" = $3, "endedAt" = $3 where id = $1', [...moved, at]);
  await pool.query('update chats set "lastRunId" = $2 where "lastRunId" = $1', moved);
  await pool.query('update messages set "runId" = $2 where "runId" = $1', moved);
  await pool.query('update response_items set "runId" = $2 where "runId" = $1', moved);
  await pool.query(
    `update run_event_batches set "runId" = $2, "createdAt" = $3, events = replace(events::text, $1, $2)::json where "runId" = $1`,
    [...moved, at],
  );
  return aged;
}
