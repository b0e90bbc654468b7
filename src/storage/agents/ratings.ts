import { DomainError } from '../../entities/ground/errors.ts';
import { lockAgent } from '../ground/sql/locks.ts';
import { PublishingStore } from '../ground/store.ts';
import { addToRating } from './counters.ts';

/** Ratings of agents by users. The agent's own count and sum change in the same transaction, so no list has to add ratings up. */
export class AgentRatingStore extends PublishingStore {
  /** Sets a user's rating, 1 to 5, in place of an earlier one; null removes it. @throws DomainError NOT_FOUND when the agent was deleted. */
  async rate(agentId: string, userId: string, rating: number | null): Promise<void> {
    await this.db.transaction(async (tx) => {
      // The lock serializes the ratings of one agent, so the sums never miss one.
      if (!(await lockAgent(tx, agentId))) throw new DomainError('NOT_FOUND', 'There is no such agent', { param: 'aiId' });
      const { agentRating } = tx.prisma;
      const where = { agentId_userId: { agentId, userId } };
      const before = await agentRating.findUnique({ where, select: { rating: true } });
      if (rating === null) await agentRating.deleteMany({ where: { agentId, userId } });
      else await agentRating.upsert({ where, create: { agentId, userId, rating }, update: { rating } });
      await addToRating(tx, agentId, {
        ratingCount: (rating === null ? 0 : 1) - (before === null ? 0 : 1),
        ratingSum: (rating ?? 0) - (before?.rating ?? 0),
      });
    });
    this.signals.publish('agent-rated', agentId);
  }

  /** A user's own ratings of many agents, in one statement. */
  ofUser(userId: string, agentIds: readonly string[]): Promise<readonly { readonly agentId: string; readonly rating: number }[]> {
    return this.db.prisma.agentRating.findMany({
      where: { userId, agentId: { in: [...agentIds] } },
      select: { agentId: true, rating: true },
    });
  }
}
