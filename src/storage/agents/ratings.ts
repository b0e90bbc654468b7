import { DomainError } from '../../entities/errors.ts';
import type { Database } from '../database/database.ts';

/** What users think of agents. The agent's own count and sum move with it, so no list has to add up. */
export interface AgentRatingStore {
  /** Puts a user's rating, 1 to 5, in the place of an earlier one; null takes it back. @throws DomainError NOT_FOUND when the agent is gone. */
  rate(agentId: string, userId: string, rating: number | null): Promise<void>;
  /** A user's own ratings of many agents, in one statement. */
  ofUser(userId: string, agentIds: readonly string[]): Promise<readonly { readonly agentId: string; readonly rating: number }[]>;
}

export function createAgentRatingStore({ pool, transaction }: Database): AgentRatingStore {
  return {
    async rate(agentId, userId, rating) {
      await transaction(async (client) => {
        // Ratings of one agent come one after the other, so the sums never miss one.
        const agent = await client.query('select id from agents where id = $1 and not "isDeleted" for update', [agentId]);
        if (agent.rowCount !== 1) throw new DomainError('NOT_FOUND', 'There is no such agent', { param: 'aiId' });
        const before = await client.query<{ rating: number }>(
          'delete from agent_ratings where "agentId" = $1 and "userId" = $2 returning rating',
          [agentId, userId],
        );
        if (rating !== null) {
          await client.query('insert into agent_ratings ("agentId", "userId", rating, "updatedAt") values ($1, $2, $3, now())', [
            agentId,
            userId,
            rating,
          ]);
        }
        await client.query('update agents set "ratingCount" = "ratingCount" + $2, "ratingSum" = "ratingSum" + $3 where id = $1', [
          agentId,
          (rating === null ? 0 : 1) - (before.rowCount ?? 0),
          (rating ?? 0) - (before.rows[0]?.rating ?? 0),
        ]);
      });
    },
    async ofUser(userId, agentIds) {
      const { rows } = await pool.query<{ agentId: string; rating: number }>(
        'select "agentId", rating from agent_ratings where "userId" = $1 and "agentId" = any($2::text[])',
        [userId, agentIds],
      );
      return rows;
    },
  };
}
