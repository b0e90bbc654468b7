import type { Feedback, FeedbackCounts, FeedbackRating } from '../../../entities/conversations/chats/feedback.ts';
import { isAny } from '../../../entities/ground/filter.ts';
import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { FeedbackFilter, FeedbackLeaf } from '../../../entities/people/access.ts';
import { agentWhere } from '../../agents/filter.ts';
import type { Prisma } from '../../generated/client.ts';
import { settled, unlessMissing } from '../../ground/conflicts.ts';
import type { Database } from '../../ground/database.ts';
import { mergeLatest, newestFirst, readPage } from '../../ground/lists/paging.ts';
import { toWhere, type WhereTree } from '../../ground/lists/where.ts';
import { PublishingStore } from '../../ground/store.ts';

export type NewFeedback = Omit<Feedback, 'updatedAt'>;

/** Narrows what a caller may see. */
export interface FeedbackQuery {
  readonly agentId?: string;
  readonly rating?: FeedbackRating;
}

/** What users think of answers: at most one rating a message, which goes with it. */
export class FeedbackStore extends PublishingStore {
  /** In place of an earlier one of the same message, whose id and time it keeps. @throws DomainError CONFLICT when the message is deleted. */
  async set({ tags, ...given }: NewFeedback): Promise<void> {
    const { messageId, rating, comment } = given;
    const changes = { rating, comment, tags: [...tags] };
    const create = { ...given, ...changes, updatedAt: given.createdAt };
    await settled(this.db.prisma.messageFeedback.upsert({ where: { messageId }, create, update: changes }), 'message');
    this.signals.publish('chat-changed', given.chatId);
  }

  async remove(messageId: string): Promise<void> {
    const gone = await unlessMissing(this.db.prisma.messageFeedback.delete({ where: { messageId }, select: { chatId: true } }));
    if (gone !== undefined) this.signals.publish('chat-changed', gone.chatId);
  }

  /** Cost: one statement. */
  async ofMessages(messageIds: readonly string[]): Promise<ReadonlyMap<string, Feedback>> {
    const found = await this.db.prisma.messageFeedback.findMany({ where: { messageId: { in: [...messageIds] } } });
    return new Map(found.map((row) => [row.messageId, row as Feedback]));
  }

  async findMany(ids: readonly string[], filter: FeedbackFilter): Promise<readonly Feedback[]> {
    const where = { AND: [{ id: { in: [...ids] } }, inList, feedbackWhere(filter)] };
    return (await this.db.prisma.messageFeedback.findMany({ where })) as readonly Feedback[];
  }

  /** Newest first. */
  list(filter: FeedbackFilter, query: FeedbackQuery, page: PageRequest): Promise<Page<Feedback>> {
    return listFeedback(this.db, filter, query, page);
  }

  /** Of people of the agents' own organizations. Cost: one statement. */
  async countsOf(
    agents: readonly { readonly id: string; readonly orgId: string }[],
  ): Promise<ReadonlyMap<string, FeedbackCounts>> {
    const { messageFeedback } = this.db.prisma;
    const where = { ...inList, OR: agents.map(({ id, orgId }) => ({ agentId: id, orgId })) };
    const groups = await messageFeedback.groupBy({ by: ['agentId', 'rating'], where, _count: true });
    const counts = new Map(agents.map(({ id }) => [id, { up: 0, down: 0 }]));
    for (const { agentId, rating, _count } of groups) {
      const ofAgent = counts.get(agentId ?? '');
      if (ofAgent !== undefined) ofAgent[rating === 'UP' ? 'up' : 'down'] += _count;
    }
    return counts;
  }
}

/** Each alternative of the rule finds its own first rows by its own index, and the page is merged from those. */
async function listFeedback(
  db: Database,
  filter: FeedbackFilter,
  query: FeedbackQuery,
  page: PageRequest,
): Promise<Page<Feedback>> {
  const { messageFeedback } = db.prisma;
  const select = { id: true, createdAt: true };
  const lists = (isAny(filter) ? filter.any : [filter]).map((part) =>
    messageFeedback.findMany({ ...newestFirst({ AND: [query, inList, feedbackWhere(part)] }, page), select }),
  );
  const places = mergeLatest(await Promise.all(lists), ({ createdAt }) => createdAt, page);
  const { rows, foundCount } = await readPage(
    db,
    places,
    async (ids) => (await messageFeedback.findMany({ where: { id: { in: ids } } })) as readonly Feedback[],
  );
  const all = { AND: [query, inList, feedbackWhere(filter)] };
  return toPage(rows, page, timeKey, (take) => messageFeedback.count({ where: all, take }), foundCount);
}

/** What was thought of a chat in the bin comes back with it. */
const inList = { message: { chat: { isBinned: false } } };

function feedbackWhere(filter: FeedbackFilter): WhereTree<Prisma.MessageFeedbackWhereInput> {
  return toWhere<FeedbackLeaf, Prisma.MessageFeedbackWhereInput>(filter, (leaf) => {
    if (leaf.feedback === 'in-organization') return { orgId: leaf.orgId };
    if (leaf.feedback === 'given-by') return { userId: leaf.userId, orgId: leaf.orgId };
    return { orgId: leaf.orgId, agent: { AND: [{ isDeleted: false, orgId: leaf.orgId }, agentWhere(leaf.agent)] } };
  });
}
