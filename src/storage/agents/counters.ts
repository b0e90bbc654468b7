// Raw SQL: counters grow by what many rows say, a list loses a value in one statement, and the agent's `updatedAt` stays.
import type { Sql, Transaction } from '../ground/database.ts';

export interface RatingCounts {
  readonly ratingCount: number;
  readonly ratingSum: number;
}

/** Adds to the rating of an agent. The agent must be locked. */
export async function addToRating(tx: Sql, agentId: string, { ratingCount, ratingSum }: RatingCounts): Promise<void> {
  if (ratingCount === 0 && ratingSum === 0) return;
  await tx.execute(`update agents set "ratingCount" = "ratingCount" + $2, "ratingSum" = "ratingSum" + $3 where id = $1`, [
    agentId,
    ratingCount,
    ratingSum,
  ]);
}

/**
 * Notes that messages of an agent were added, or removed with a negative number; with null (a chat without an agent) does nothing. The agent's own
 * count follows with the next `addMessageCounts`, so turns of one agent do not wait for each other.
 */
export async function noteMessageCount(tx: Sql, agentId: string | null, change: number): Promise<void> {
  if (agentId === null || change === 0) return;
  await tx.execute('insert into agent_message_counts ("agentId", change) values ($1, $2)', [agentId, change]);
}

/** Changes that one statement adds to their agents. */
const changesMax = 5_000;

/**
 * Adds noted changes to the counts of their agents. Processes that do this at one time take different changes, and lock agents in one order. A process
 * that dies before loses nothing: another one adds what is left.
 *
 * @returns how many agents changed.
 */
export function addMessageCounts(db: Sql): Promise<number> {
  return db.execute(
    `with taken as (
       delete from agent_message_counts
       where id in (select id from agent_message_counts order by id limit ${changesMax} for update skip locked)
       returning "agentId", change
     ), sums as (
       select "agentId", sum(change)::int as change from taken group by 1
     ), locked as (
       select id from agents where id in (select "agentId" from sums) order by id for no key update
     )
     update agents set "messageCount" = "messageCount" + sums.change from sums, locked
     where agents.id = sums."agentId" and locked.id = agents.id`,
  );
}

/** Removes a deleted category from the agents that name it. */
export async function removeFromAgents(tx: Transaction, orgId: string, categoryId: string): Promise<void> {
  await tx.execute(
    `update agents set "orgCategoryIds" = array_remove("orgCategoryIds", $1),
       "categoryId" = case when "categoryId" = $1 then null else "categoryId" end
     where "orgId" = $2 and ($1 = any("orgCategoryIds") or "categoryId" = $1)`,
    [categoryId, orgId],
  );
}
