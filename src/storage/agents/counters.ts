// Raw SQL: a counter grows and a list loses a value in one statement, and the agent's `updatedAt` stays.
import type { Sql, Transaction } from '../database/database.ts';

export interface AgentCounts {
  readonly messageCount?: number;
  readonly ratingCount?: number;
  readonly ratingSum?: number;
}

/** Adds to the counters of an agent; with null (a chat without an agent) does nothing. */
export async function addToCounters(
  tx: Sql,
  agentId: string | null,
  { messageCount = 0, ratingCount = 0, ratingSum = 0 }: AgentCounts,
): Promise<void> {
  if (agentId === null || (messageCount === 0 && ratingCount === 0 && ratingSum === 0)) return;
  await tx.execute(
    `update agents set "messageCount" = "messageCount" + $2, "ratingCount" = "ratingCount" + $3, "ratingSum" = "ratingSum" + $4
     where id = $1`,
    [agentId, messageCount, ratingCount, ratingSum],
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
