// Raw SQL: thread order. Messages get their ordinals in one statement, and the last messages of many chats are read in one.
import type { ChatMessage, NewMessage } from '../../entities/chats/chat.ts';
import { type Page, type PageRequest, pageOf } from '../../entities/page.ts';
import type { Database, Sql, Transaction } from '../database/database.ts';
import { readPage, readWhole } from '../database/sql/bounded-rows.ts';

/**
 * Adds messages at the end of a chat and updates its agent's `messageCount`: user and assistant messages count. The transaction must have locked the
 * chat's row, so that no other one takes the same ordinals.
 */
export async function addMessages(tx: Transaction, chatId: string, messages: readonly NewMessage[]): Promise<void> {
  if (messages.length === 0) return;
  const rows = messages.map((message, index) => ({ ...message, index }));
  await tx.execute(
    `insert into messages (id, "createdAt", "updatedAt", "chatId", ordinal, role, content, parts, "toolCalls", "toolCallId",
       "toolStatus", citations, "runId", status, context, "isHidden", item)
     select m.id, m."createdAt", m."createdAt", $1, m.index + (select coalesce(max(ordinal) + 1, 0) from messages where "chatId" = $1),
       m.role, m.content, m.parts, m."toolCalls", m."toolCallId", m."toolStatus", m.citations, m."runId", m.status, m.context, m."isHidden", m.item
     from jsonb_to_recordset($2::jsonb) as m(id text, "createdAt" timestamptz, index int, role text, content text, parts jsonb,
       "toolCalls" jsonb, "toolCallId" text, "toolStatus" text, citations jsonb, "runId" text, status text, context jsonb, "isHidden" boolean, item json)`,
    [chatId, JSON.stringify(rows)],
  );
  const spoken = messages.filter(isSpoken).length;
  if (spoken === 0) return;
  await tx.execute(
    `update agents set "messageCount" = "messageCount" + $2 where id = (select "agentId" from chats where id = $1)`,
    [chatId, spoken],
  );
}

/** The last `limit` messages of each chat, in order. Hidden messages are for models only. */
export async function findMessages(
  sql: Sql,
  chatIds: readonly string[],
  limit: number,
  withHidden: boolean,
): Promise<readonly ChatMessage[]> {
  return sql.query<ChatMessage>(lastMessagesSql, [chatIds, limit, withHidden]);
}

/** Like findMessages, for people: without hidden ones. @throws DomainError REPLY_TOO_LARGE when they do not fit a reply. */
export function listMessages(db: Database, chatIds: readonly string[], limit: number): Promise<readonly ChatMessage[]> {
  return readWhole(db, { text: lastMessagesSql, values: [chatIds, limit, false] }, longColumns);
}

/** The largest value of the column, which no message has. */
const ordinalMax = 2_147_483_647;

/** A page of a chat's messages for people, newest first. */
export async function pageOfMessages(db: Database, chatId: string, page: PageRequest): Promise<Page<ChatMessage>> {
  const [before = ordinalMax] = page.after ?? [];
  // A whole number of the column's type, so that the index begins at it; a cursor may be forged.
  const bound = Math.min(Math.max(Math.ceil(Number(before)), 0), ordinalMax);
  const text = `select * from messages where "chatId" = $1 and not "isHidden" and ordinal < $2 order by ordinal desc limit $3`;
  const { rows, foundCount } = await readPage<ChatMessage>(db, { text, values: [chatId, bound, page.limit + 1] }, longColumns);
  const countAll = () => db.prisma.message.count({ where: { chatId, isHidden: false } });
  return pageOf(rows, page, ({ ordinal }) => [ordinal], countAll, foundCount);
}

/** Every message of the runs, for people, in order. @throws DomainError REPLY_TOO_LARGE when they do not fit a reply. */
export function listMessagesOfRuns(db: Database, runIds: readonly string[]): Promise<readonly ChatMessage[]> {
  const text = `select * from messages where "runId" = any($1::text[]) and not "isHidden" order by ordinal`;
  return readWhole(db, { text, values: [runIds] }, longColumns);
}

const longColumns = ['content', 'parts', 'toolCalls', 'citations', 'context', 'compression', 'item'];

const lastMessagesSql = `select m.* from unnest($1::text[]) as wanted(id)
  cross join lateral (
    select * from messages where "chatId" = wanted.id and ($3 or not "isHidden") order by ordinal desc limit $2) m
  order by m."chatId", m.ordinal`;

/** See ChatStore.history. */
export async function findHistory(
  db: Database,
  chatId: string,
  limit: number,
  upToRunId: string | undefined,
): Promise<readonly ChatMessage[]> {
  if (upToRunId === undefined) return findMessages(db, [chatId], limit, true);
  return db.query<ChatMessage>(
    `select * from (
       select * from messages where "chatId" = $1
         and ordinal <= coalesce((select max(ordinal) from messages where "chatId" = $1 and "runId" = $3),
           (select max(m.ordinal) from messages m left join runs r on r.id = m."runId"
            where m."chatId" = $1 and (r.id is null or r."createdAt" < (select "createdAt" from runs where id = $3))))
       order by ordinal desc limit $2) m order by ordinal`,
    [chatId, limit, upToRunId],
  );
}

/** See ChatChangeStore.compress. */
export async function compress(sql: Sql, chatId: string, firstKeptId: string, summary: string): Promise<boolean> {
  const rowCount = await sql.execute(
    `update messages set compression = $3 where id = (
       select id from messages where "chatId" = $1
         and ordinal < (select ordinal from messages where id = $2 and "chatId" = $1)
       order by ordinal desc limit 1)`,
    [chatId, firstKeptId, summary],
  );
  return rowCount === 1;
}

function isSpoken({ role, isHidden }: NewMessage): boolean {
  if (isHidden) return false;
  return role === 'user' || role === 'assistant';
}
