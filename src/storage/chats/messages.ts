// Raw SQL: thread order and counters. Messages get their ordinals in the statement that writes them, and runs read the last ones in one.
import type { ChatMessage, NewMessage } from '../../entities/chats/chat.ts';
import { type Page, type PageRequest, pageOf } from '../../entities/page.ts';
import type { Database, Sql, Transaction } from '../database/database.ts';
import { type BoundedRows, readingOrder, readPage, requireShortList } from '../database/paging.ts';
import type { Prisma } from '../generated/client.ts';

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

/**
 * The last `limit` messages of a chat, in order, with those that only models get.
 *
 * @param upToRunId  see ChatStore.history.
 */
export async function findMessages(sql: Sql, chatId: string, limit: number, upToRunId?: string): Promise<readonly ChatMessage[]> {
  const bound = upToRunId === undefined ? '' : `and ordinal <= ${lastOrdinalSql}`;
  return sql.query<ChatMessage>(
    `select ${columns} from (select * from messages where "chatId" = $1 ${bound} order by ordinal desc limit $2) m order by ordinal`,
    [chatId, limit, ...(upToRunId === undefined ? [] : [upToRunId])],
  );
}

const columns = `id, "createdAt", "updatedAt", "chatId", ordinal, role, content, parts, "toolCalls", "toolCallId", "toolStatus", citations, "runId", status,
  context, "isHidden", compression, item`;

/** A run that has written nothing yet ends before the messages of later runs. */
const lastOrdinalSql = `coalesce((select max(ordinal) from messages where "chatId" = $1 and "runId" = $3),
  (select max(m.ordinal) from messages m left join runs r on r.id = m."runId"
   where m."chatId" = $1 and (r.id is null or r."createdAt" < (select "createdAt" from runs where id = $3))))`;

/**
 * The last `limit` messages of each chat that people may read, by chat and in order.
 *
 * @throws DomainError REPLY_TOO_LARGE when they do not fit a reply.
 */
export async function listMessages(db: Database, chatIds: readonly string[], limit: number): Promise<readonly ChatMessage[]> {
  const last = {
    where: { isHidden: false },
    orderBy: { ordinal: 'desc' as const },
    skip: limit - 1,
    take: 1,
    select: { ordinal: true },
  };
  const chats = await db.prisma.chat.findMany({ where: { id: { in: [...chatIds] } }, select: { id: true, messages: last } });
  if (chats.length === 0) return [];
  const spans = chats.map(({ id, messages }) => ({ chatId: id, ordinal: { gte: messages[0]?.ordinal ?? 0 } }));
  return readAll(db, { OR: spans, isHidden: false });
}

/** Every message of the runs, for people, in order. @throws DomainError REPLY_TOO_LARGE when they do not fit a reply. */
export function listMessagesOfRuns(db: Database, runIds: readonly string[]): Promise<readonly ChatMessage[]> {
  return readAll(db, { runId: { in: [...runIds] }, isHidden: false });
}

/** Messages of whole lists, by chat and in order. */
async function readAll(db: Database, where: Prisma.MessageWhereInput): Promise<readonly ChatMessage[]> {
  const { message } = db.prisma;
  const { _sum: sum } = await message.aggregate({ where, _sum: { rowBytes: true } });
  requireShortList(db, sum.rowBytes);
  const rows = await message.findMany({ where, orderBy: [{ chatId: 'asc' }, { ordinal: 'asc' }] });
  return rows as unknown as readonly ChatMessage[];
}

/** Messages of one chat by their ordinals, as many as fit a page. */
export async function readMessages(
  db: Database,
  where: Prisma.MessageWhereInput,
  order: 'asc' | 'desc',
  limit: number,
): Promise<BoundedRows<ChatMessage>> {
  const { message } = db.prisma;
  const select = { id: true, rowBytes: true };
  const places = await message.findMany({ where, orderBy: { ordinal: order }, take: limit, select });
  return readPage(
    db,
    places,
    async (ids) => (await message.findMany({ where: { id: { in: ids } } })) as unknown as readonly ChatMessage[],
  );
}

/** The largest value of the column, which no message has. */
const ordinalMax = 2_147_483_647;

/** A page of a chat's messages for people, newest first. */
export async function pageOfMessages(db: Database, chatId: string, page: PageRequest): Promise<Page<ChatMessage>> {
  const isBackward = page.isBackward === true;
  const [from = isBackward ? -1 : ordinalMax] = page.after ?? [];
  // A whole number of the column's type, so that the index begins at it; a cursor may be forged.
  const bound = Math.min(Math.max(Math.ceil(Number(from)), -1), ordinalMax);
  const where = { chatId, isHidden: false };
  const ordinal = isBackward ? { gt: bound } : { lt: bound };
  const { rows, foundCount } = await readMessages(db, { ...where, ordinal }, readingOrder('desc', page), page.limit + 1);
  return pageOf(
    rows,
    page,
    ({ ordinal }) => [ordinal],
    (take) => db.prisma.message.count({ where, take }),
    foundCount,
  );
}

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
