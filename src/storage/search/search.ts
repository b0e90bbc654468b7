// Raw SQL: ranking. The newest messages are read up to a number of bytes, and of those that mention the words only a part is sent.
import type { AgentFilter, DataSourceFilter } from '../../entities/accounts/access.ts';
import { agentWhere } from '../agents/filter.ts';
import type { Database } from '../database/database.ts';
import { containing, literal } from '../database/where.ts';
import { dataSourceWhere } from '../knowledge/source-filter.ts';

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

/** Things that mention words, ignoring case, those that changed last first: one statement each. Access is in the statement. */
export interface SearchStore {
  /** By name and description. */
  agents(filter: AgentFilter, words: readonly string[], limit: number): Promise<readonly Mention[]>;
  /** By name. */
  dataSources(filter: DataSourceFilter, words: readonly string[], limit: number): Promise<readonly Mention[]>;
  /**
   * Chats by name, and messages by what people read in the newest chats, as far as the bounds reach: together in one statement. The title of a message is
   * the name of its chat, its text is the part about the first word.
   */
  conversations(
    owner: ChatOwner,
    words: readonly string[],
    kinds: readonly ('chat' | 'message')[],
    limit: number,
  ): Promise<readonly ConversationMention[]>;
}

/** What one search reads of messages at most: it takes about 100 ms on the embedded database. */
const chatsRead = 300;
const messagesReadOfChat = 200;
const bytesRead = 4_000_000;
/** Characters of a message that are sent, before and from the first word. */
const charsBefore = 80;
const charsFrom = 240;

export function createSearchStore(db: Database): SearchStore {
  const { prisma } = db;
  const named = (words: readonly string[]) => words.map((word) => ({ name: containing(word) }));
  return {
    async agents(filter, words, limit) {
      const mentions = words.map((word) => ({ OR: [{ name: containing(word) }, { description: containing(word) }] }));
      const rows = await prisma.agent.findMany({
        where: { AND: [{ isDeleted: false }, agentWhere(filter), ...mentions] },
        select: { id: true, name: true, description: true, updatedAt: true },
        orderBy: [{ updatedAt: 'desc' }, { id: 'desc' }],
        take: limit,
      });
      return rows.map(({ id, name, description, updatedAt }) => ({ id, title: name, text: description, updatedAt }));
    },
    async dataSources(filter, words, limit) {
      const rows = await prisma.dataSource.findMany({
        where: { AND: [{ deletingAt: null }, dataSourceWhere(filter), ...named(words)] },
        select: { id: true, name: true, updatedAt: true },
        orderBy: [{ updatedAt: 'desc' }, { id: 'desc' }],
        take: limit,
      });
      return rows.map(({ id, name, updatedAt }) => ({ id, title: name, text: '', updatedAt }));
    },
    async conversations({ userId, orgId }, words, kinds, limit) {
      const patterns = words.map((word) => `%${literal(word)}%`);
      const values = [userId, orgId, patterns, words[0] ?? '', limit, kinds.includes('message'), kinds.includes('chat')];
      const rows = await db.query<ConversationMention>(conversationsSql, values);
      return rows;
    },
  };
}

const conversationsSql = `
with own as materialized (
  select id, name, "updatedAt" from chats where "userId" = $1 and "orgId" = $2 and "deletedAt" is null
  order by "updatedAt" desc, id desc limit ${chatsRead}),
recent as materialized (
  select m.id, own.name, own."updatedAt" as "chatUpdatedAt", m.ordinal, sum(m."rowBytes") over (order by own."updatedAt" desc, own.id, m.ordinal desc) as bytes
  from own cross join lateral (
    select id, ordinal, "rowBytes" from messages where "chatId" = own.id and "isActive" and not "isHidden" and role in ('user', 'assistant')
    order by ordinal desc limit ${messagesReadOfChat}) m)
(select 'message' as kind, m.id, recent.name as title, m."updatedAt",
  substr(m.content, greatest(position(lower($4) in lower(m.content)) - ${charsBefore}, 1), ${charsBefore + charsFrom}) as text
from recent join messages m on m.id = recent.id
where $6 and recent.bytes <= ${bytesRead} and m.content ilike all ($3::text[])
order by recent."chatUpdatedAt" desc, recent.ordinal desc limit $5)
union all
(select 'chat', id, name, "updatedAt", '' from chats where $7 and "userId" = $1 and "orgId" = $2 and "deletedAt" is null and name ilike all ($3::text[])
order by "updatedAt" desc, id desc limit $5)`;
