// Raw SQL: thread order and counters. Messages get their ordinals in one statement, and the last messages of many chats are read in one.
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
    `with added as (
       insert into messages (id, "createdAt", "updatedAt", "chatId", ordinal, role, content, parts, "toolCalls", "toolCallId",
         "toolStatus", citations, "runId", status, context, "isHidden", item)
       select m.id, m."createdAt", m."createdAt", $1, m.index + (select coalesce(max(ordinal) + 1, 0) from messages where "chatId" = $1),
         m.role, m.content, m.parts, m."toolCalls", m."toolCallId", m."toolStatus", m.citations, m."runId", m.status, m.context, m."isHidden", m.item
       from jsonb_to_recordset($2::jsonb) as m(id text, "createdAt" timestamptz, index int, role text, content text, parts jsonb,
         "toolCalls" jsonb, "toolCallId" text, "toolStatus" text, citations jsonb, "runId" text, status text, context jsonb, "isHidden" boolean, item json))
     update agents set "messageCount" = "messageCount" + $3::int where $3 > 0 and id = (select "agentId" from chats where id = $1)`,
    [chatId, JSON.stringify(rows), messages.filter(isSpoken).length],
  );
}

/** The last `limit` messages of each chat, in order. Hidden messages are for models only. */
export async function findMessages(
  sql: Sql,
  chatIds: readonly string[],
  limit: number,
  withHidden: boolean,
  upToRunId?: string,
): Promise<readonly ChatMessage[]> {
  const bound = upToRunId === undefined ? [] : [upToRunId];
  return sql.query<ChatMessage>(lastSql(bound.length > 0), [chatIds, limit, withHidden, ...bound]);
}

/** Like findMessages, for people: without hidden ones. @throws DomainError REPLY_TOO_LARGE when they do not fit a reply. */
export function listMessages(db: Database, chatIds: readonly string[], limit: number): Promise<readonly ChatMessage[]> {
  return readWhole(db, { text: lastSql(false), values: [chatIds, limit, false] }, longColumns);
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

/** `$1` chats, `$2` how many of each, `$3` also hidden ones; with a bound, `$4`: the run whose messages are the last. */
const lastSql = (isBounded: boolean) => `select m.* from unnest($1::text[]) as wanted(id)
  cross join lateral (
    select * from messages where "chatId" = wanted.id and ($3 or not "isHidden")${isBounded ? ` and ordinal <= ${lastOrdinalSql}` : ''}
    order by ordinal desc limit $2) m
  order by m."chatId", m.ordinal`;

/** A run that has written nothing yet ends before the messages of later runs. */
const lastOrdinalSql = `coalesce((select max(ordinal) from messages where "chatId" = wanted.id and "runId" = $4),
  (select max(m.ordinal) from messages m left join runs r on r.id = m."runId"
   where m."chatId" = wanted.id and (r.id is null or r."createdAt" < (select "createdAt" from runs where id = $4))))`;

/** See ChatChangeStore.compress. */
export async function compress({ prisma }: Database, chatId: string, firstKeptId: string, summary: string): Promise<boolean> {
  const before = { cursor: { id: firstKeptId }, skip: 1, take: 1, orderBy: { ordinal: 'desc' } } as const;
  const [last] = await prisma.message.findMany({ where: { chatId }, ...before, select: { id: true, updatedAt: true } });
  if (last === undefined) return false;
  const { id, updatedAt } = last;
  // The time of the message stays: people see no change of it.
  return (await prisma.message.updateMany({ where: { id }, data: { compression: summary, updatedAt } })).count === 1;
}

function isSpoken({ role, isHidden }: NewMessage): boolean {
  if (isHidden) return false;
  return role === 'user' || role === 'assistant';
}
