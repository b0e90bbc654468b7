// Raw SQL: a counter is added to where it stands, a list loses one value, and the agent does not count as changed.
import type { Transaction } from '../database/prisma.ts';

export interface AgentCounts {
  readonly messageCount?: number;
  readonly ratingCount?: number;
  readonly ratingSum?: number;
}

/** Adds to the counters of an agent; null: the chat has none. */
export async function addToCounters(
  tx: Pick<Transaction, 'query'>,
  agentId: string | null,
  { messageCount = 0, ratingCount = 0, ratingSum = 0 }: AgentCounts,
): Promise<void> {
  if (agentId === null || (messageCount === 0 && ratingCount === 0 && ratingSum === 0)) return;
  await tx.query(
    `update agents set "messageCount" = "messageCount" + $2, "ratingCount" = "ratingCount" + $3, "ratingSum" = "ratingSum" + $4
     where id = $1`,
    [agentId, messageCount, ratingCount, ratingSum],
  );
}

/** Takes a category that is gone out of the agents that name it. */
export async function removeFromAgents(tx: Transaction, orgId: string, categoryId: string): Promise<void> {
  await tx.query(
    `update agents set "orgCategoryIds" = array_remove("orgCategoryIds", $1),
       "categoryId" = case when "categoryId" = $1 then null else "categoryId" end
     where "orgId" = $2 and ($1 = any("orgCategoryIds") or "categoryId" = $1)`,
    [categoryId, orgId],
  );
}
