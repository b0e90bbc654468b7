// Raw SQL: ranking. The names of chats are read from an index.
import type { AgentFilter, DataSourceFilter } from '../../../entities/people/access.ts';
import { fewAgentsWhere } from '../../agents/few.ts';
import { searchMessages } from '../../conversations/chats/message-search.ts';
import type { Database } from '../../ground/database.ts';
import { containing, literal } from '../../ground/lists/where.ts';
import { Store } from '../../ground/store.ts';
import { dataSourceWhere } from '../../knowledge/sources/filter.ts';

/** Whose chats. */
export interface ChatOwner {
  readonly userId: string;
  readonly orgId: string;
}

/** A thing that mentions all words of a search. */
export interface Mention {
  readonly id: string;
  readonly title: string;
  /** The text in which the words may stand, or a part of it. */
  readonly text: string;
  readonly updatedAt: Date;
}

export interface ConversationMention extends Mention {
  readonly kind: 'chat' | 'message';
}

/** How far a search reads: names of chats, and messages. */
const namesRead = 50_000;
const chatsRead = 300;
const bytesRead = 4_000_000;
const slicesRead = 20;

/** Things that mention words, ignoring case, those that changed last first. Access is in the statement. */
export class SearchStore extends Store {
  /** By name and description. Cost: two statements. */
  async agents(filter: AgentFilter, words: readonly string[], limit: number): Promise<readonly Mention[]> {
    const mentions = words.map((text) => ({ agent: 'mentions', text }) as const);
    const where = await fewAgentsWhere(this.db, { all: [filter, ...mentions] });
    const rows = await this.db.prisma.agent.findMany({
      where: { AND: [{ isDeleted: false }, where] },
      select: { id: true, name: true, description: true, updatedAt: true },
      orderBy: [{ updatedAt: 'desc' }, { id: 'desc' }],
      take: limit,
    });
    return rows.map(({ id, name, description, updatedAt }) => ({ id, title: name, text: description, updatedAt }));
  }

  /** By name. */
  async dataSources(filter: DataSourceFilter, words: readonly string[], limit: number): Promise<readonly Mention[]> {
    const rows = await this.db.prisma.dataSource.findMany({
      where: { AND: [{ deletingAt: null }, dataSourceWhere(filter), ...nameConditions(words)] },
      select: { id: true, name: true, updatedAt: true },
      orderBy: [{ updatedAt: 'desc' }, { id: 'desc' }],
      take: limit,
    });
    return rows.map(({ id, name, updatedAt }) => ({ id, title: name, text: '', updatedAt }));
  }

  /**
   * Chats by name, of the newest 50,000, and messages by what people read in the newest 300 chats, as far as the bounds reach. The title of a message is the
   * name of its chat, its text is the part about the first word. Cost: two statements, and one for each thousand messages, twenty at most.
   */
  conversations(
    owner: ChatOwner,
    words: readonly string[],
    kinds: readonly ('chat' | 'message')[],
    limit: number,
  ): Promise<readonly ConversationMention[]> {
    return findConversations(this.db, owner, words, kinds, limit);
  }
}

const nameConditions = (words: readonly string[]) => words.map((word) => ({ name: containing(word) }));

/** Cost: two statements, and one for each thousand messages. */
async function findConversations(
  db: Database,
  { userId, orgId }: ChatOwner,
  words: readonly string[],
  kinds: readonly ('chat' | 'message')[],
  limit: number,
): Promise<readonly ConversationMention[]> {
  const patterns = words.map((word) => `%${literal(word)}%`);
  const counts = [kinds.includes('chat') ? limit : 0, kinds.includes('message') ? chatsRead : 0];
  const rows = await db.queryPlanned<Mention & { readonly isMatch: boolean }>(chatsSql, [userId, orgId, patterns, ...counts]);
  const newest = new Map(rows.flatMap(({ id, title, isMatch }) => (isMatch ? [] : [[id, title] as const])));
  const chats = rows.flatMap(({ isMatch, ...chat }) => (isMatch ? [{ kind: 'chat' as const, ...chat }] : []));
  return [...(await messageMentions(db, newest, words, limit)), ...chats];
}

/** The newest messages of chats, as far as the bounds reach. */
async function messageMentions(db: Database, chats: ReadonlyMap<string, string>, words: readonly string[], limit: number) {
  const mentions: ConversationMention[] = [];
  let bytes = 0;
  let slices = 0;
  for await (const { found: matches, searchedBytes } of searchMessages(db, {
    chatIds: [...chats.keys()],
    words,
    among: 'spoken',
  })) {
    for (const { id, chatId, text, updatedAt } of matches)
      mentions.push({ kind: 'message', id, title: chats.get(chatId) ?? '', text, updatedAt });
    bytes += searchedBytes;
    slices += 1;
    if (mentions.length >= limit || bytes >= bytesRead || slices >= slicesRead) break;
  }
  return mentions.slice(0, limit);
}

/** Chats that are called so, and the newest ones, without archived ones. What is read of the others stands in an index. */
const chatsSql = `
(select id, name as title, "updatedAt", '' as text, true as "isMatch" from (
    select id, name, "updatedAt" from chats where "userId" = $1 and "orgId" = $2 and "deletedAt" is null and "archivedAt" is null
    order by "updatedAt" desc, id desc limit ${namesRead}
  ) newest where name ilike all ($3::text[]) order by "updatedAt" desc, id desc limit $4)
union all
(select id, name, "updatedAt", '', false from chats
  where "userId" = $1 and "orgId" = $2 and "deletedAt" is null and "archivedAt" is null order by "updatedAt" desc, id desc limit $5)`;
