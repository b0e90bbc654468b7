// Raw SQL: thread order and counters. Messages get their ordinals in the statement that writes them, and runs read the last ones in one.
import type { ChatMessage, NewMessage } from '../../../entities/conversations/chats/chat.ts';
import { type Page, type PageRequest, toPage } from '../../../entities/ground/page.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database, Sql, Transaction } from '../../ground/database.ts';
import { type BoundedRows, readingOrder, readPage, requireShortList } from '../../ground/lists/paging.ts';

/**
 * Adds messages at the end of the active branch of a chat, or behind a message of a branch that is not active, and notes them for its agent's `messageCount`: user and assistant messages count. The
 * transaction must have locked the chat's row, so that no other one takes the same ordinals.
 */
export async function addMessages(
  tx: Transaction,
  chatId: string,
  messages: readonly NewMessage[],
  behindId?: string,
): Promise<void> {
  if (messages.length === 0) return;
  const rows = messages.map((message, index) => ({ ...message, index }));
  await tx.execute(
    `with added as (
       insert into messages (id, "createdAt", "updatedAt", "chatId", ordinal, "parentId", role, content, parts, "toolCalls", "toolCallId",
         "toolStatus", citations, "runId", status, context, "isHidden", item, "isActive", "agentVersion")
       select m.id, m."createdAt", m."createdAt", $1, m.index + (select coalesce(max(ordinal) + 1, 0) from messages where "chatId" = $1),
         coalesce(lag(m.id) over (order by m.index), $4::text, (select id from messages where "chatId" = $1 and "isActive" order by ordinal desc limit 1)),
         m.role, m.content, m.parts, m."toolCalls", m."toolCallId", m."toolStatus", m.citations, m."runId", m.status, m.context, m."isHidden", m.item,
         $4::text is null, case when m.role = 'assistant' then (select "agentVersion" from runs where id = m."runId") end
       from jsonb_to_recordset($2::jsonb) as m(id text, "createdAt" timestamptz, index int, role text, content text, parts jsonb,
         "toolCalls" jsonb, "toolCallId" text, "toolStatus" text, citations jsonb, "runId" text, status text, context jsonb, "isHidden" boolean, item json))
     insert into agent_message_counts ("agentId", change) select "agentId", $3::int from chats where id = $1 and "agentId" is not null and $3 > 0`,
    [chatId, JSON.stringify(rows), messages.filter(isSpoken).length, behindId ?? null],
  );
}

/** The last `limit` messages of a chat's active branch, in order, with those that only models get. */
export function findMessages(sql: Sql, chatId: string, limit: number): Promise<readonly ChatMessage[]> {
  return sql.query<ChatMessage>(
    `select ${columns} from (select * from messages where "chatId" = $1 and "isActive" order by ordinal desc limit $2) m order by ordinal`,
    [chatId, limit],
  );
}

/** The last message of a line: of a run, or a message itself. */
export type LineEnd = { readonly runId: string } | { readonly messageId: string };

/** The same of the branch that ends with a message, or with the last one of a run (see ChatStore.history), also when it is not active. */
export function findLine(sql: Sql, chatId: string, limit: number, end: LineEnd): Promise<readonly ChatMessage[]> {
  const [endSql, id] = 'runId' in end ? [lastOfRunSql, end.runId] : ['$3', end.messageId];
  return sql.query<ChatMessage>(
    `with recursive last as (select id, ordinal, "isActive" from messages where id = ${endSql} and "chatId" = $1),
       line as (
         select id, 1 as place from last where not "isActive"
         union all
         select m."parentId", place + 1 from line join messages m on m.id = line.id where m."parentId" is not null and place < $2)
     select ${columns} from (
       (select m.* from messages m, last where m."chatId" = $1 and m."isActive" and last."isActive" and m.ordinal <= last.ordinal
        order by m.ordinal desc limit $2)
       union all
       select m.* from line join messages m on m.id = line.id) m order by ordinal`,
    [chatId, limit, id],
  );
}

const columns = `id, "createdAt", "updatedAt", "chatId", ordinal, "parentId", "isActive", role, content, parts, "toolCalls", "toolCallId", "toolStatus", citations,
  "runId", status, context, "isHidden", compression, item, "modelName", "agentVersion"`;

/** A run that has written nothing yet ends before the messages of later runs. */
const lastOfRunSql = `coalesce(
  (select id from messages where "chatId" = $1 and "runId" = $3 order by ordinal desc limit 1),
  (select m.id from messages m left join runs r on r.id = m."runId"
   where m."chatId" = $1 and m."isActive" and (r.id is null or r."createdAt" < (select "createdAt" from runs where id = $3))
   order by m.ordinal desc limit 1))`;

/**
 * The last `limit` messages on the active branch of each chat that people may read, by chat and in order.
 *
 * @throws DomainError REPLY_TOO_LARGE when they do not fit a reply.
 */
export async function listMessages(db: Database, chatIds: readonly string[], limit: number): Promise<readonly ChatMessage[]> {
  const shownMessages = { isHidden: false, isActive: true };
  const last = {
    where: shownMessages,
    orderBy: { ordinal: 'desc' as const },
    skip: limit - 1,
    take: 1,
    select: { ordinal: true },
  };
  const chats = await db.prisma.chat.findMany({ where: { id: { in: [...chatIds] } }, select: { id: true, messages: last } });
  if (chats.length === 0) return [];
  const spans = chats.map(({ id, messages }) => ({ chatId: id, ordinal: { gte: messages[0]?.ordinal ?? 0 } }));
  return readAll(db, { OR: spans, ...shownMessages });
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

/**
 * One page of the active branch of each chat for people, in the order of `chatIds`. The chats share the bytes of a page; each page holds a message at
 * least, unless there is none. Cost: one statement, which reads no more rows than the pages have.
 *
 * @param order  that of the list.
 */
export async function pagesOfMessages(
  db: Database,
  chatIds: readonly string[],
  page: PageRequest,
  order: 'asc' | 'desc',
): Promise<readonly Page<ChatMessage>[]> {
  const reading = readingOrder(order, page);
  const isFalling = reading === 'desc';
  const [from = isFalling ? ordinalMax : -1] = page.after ?? [];
  // A whole number of the column's type, so that the index begins at it; a cursor may be forged.
  const ordinalLimit = Math.min(Math.max(isFalling ? Math.ceil(Number(from)) : Math.floor(Number(from)), -1), ordinalMax);
  const rows = await db.query<ChatMessage & { readonly foundCount: number }>(
    `select ${columns}, "foundCount" from unnest($1::text[]) as c("of") cross join lateral (
       select *, count(*) over ()::int as "foundCount",
         sum("rowBytes") over (order by ordinal ${reading} rows between unbounded preceding and 1 preceding) as "bytesBefore"
       from (
         select * from messages where "chatId" = c."of" and "isActive" and not "isHidden" and ordinal ${isFalling ? '<' : '>'} $2
         order by ordinal ${reading} limit $3) found) m
     where coalesce("bytesBefore", 0) < $4 order by ordinal ${reading}`,
    [chatIds, ordinalLimit, page.limit + 1, Math.floor(db.pageMaxBytes / Math.max(1, chatIds.length))],
  );
  const byChat = Map.groupBy(rows, ({ chatId }) => chatId);
  return chatIds.map((chatId) => {
    const matches = byChat.get(chatId) ?? [];
    const where = { chatId, isHidden: false, isActive: true };
    return toPage(
      matches.map(({ foundCount: _count, ...message }) => message),
      page,
      ({ ordinal }) => [ordinal],
      (take) => db.prisma.message.count({ where, take }),
      matches[0]?.foundCount ?? 0,
    );
  });
}

/**
 * One page of what users and agents say on a branch, for people: of the branch that ends with `leafId`, also when it is not active, or of the active one.
 * Cost: one statement; on the active branch it reads no more rows than the page has.
 */
export async function pageOfLine(
  db: Database,
  chatId: string,
  leafId: string | null,
  page: PageRequest,
): Promise<Page<ChatMessage>> {
  const reading = readingOrder('asc', page);
  const isFalling = reading === 'desc';
  const [from = isFalling ? ordinalMax : -1] = page.after ?? [];
  const ordinalLimit = Math.min(Math.max(isFalling ? Math.ceil(Number(from)) : Math.floor(Number(from)), -1), ordinalMax);
  const shown = `not m."isHidden" and m.role in ('user', 'assistant')`;
  const beyond = `m.ordinal ${isFalling ? '<' : '>'} $3`;
  const rows = await db.query<ChatMessage & { readonly foundCount: number }>(
    `${lineSql} select ${columns}, "foundCount" from (
       select *, count(*) over ()::int as "foundCount",
         sum("rowBytes") over (order by ordinal ${reading} rows between unbounded preceding and 1 preceding) as "bytesBefore"
       from (
         (select m.* from messages m, leaf where m."chatId" = $1 and m."isActive" and leaf."isActive" and m.ordinal <= leaf.ordinal
            and ${shown} and ${beyond} order by m.ordinal ${reading} limit $4)
         union all
         (select m.* from line join messages m on m.id = line.id where ${shown} and ${beyond} order by m.ordinal ${reading} limit $4)) matches) m
     where coalesce("bytesBefore", 0) < $5 order by ordinal ${reading}`,
    [chatId, leafId, ordinalLimit, page.limit + 1, db.pageMaxBytes],
  );
  const countAll = async (most: number) => {
    const [row] = await db.query<{ readonly count: number }>(
      `${lineSql} select count(*)::int as count from (
         (select 1 from messages m, leaf where m."chatId" = $1 and m."isActive" and leaf."isActive" and m.ordinal <= leaf.ordinal and ${shown} limit $3)
         union all
         (select 1 from line join messages m on m.id = line.id where ${shown} limit $3)) m`,
      [chatId, leafId, most],
    );
    return row?.count ?? 0;
  };
  const messages = rows.map(({ foundCount: _count, ...message }) => message);
  return toPage(messages, page, ({ ordinal }) => [ordinal], countAll, rows[0]?.foundCount ?? 0);
}

/** The end of a branch, and, where that is not active, the ids of its messages. $1: the chat, $2: its last message; null for the active branch. */
const lineSql = `with recursive leaf as (
    select id, ordinal, "isActive" from messages where "chatId" = $1 and id = coalesce($2::text,
      (select id from messages where "chatId" = $1 and "isActive" order by ordinal desc limit 1))),
  line as (
    select id from leaf where not "isActive"
    union all
    select m."parentId" from line join messages m on m.id = line.id where m."parentId" is not null)`;

/** See ChatChangeStore.compress. */
export async function compress({ prisma }: Database, chatId: string, firstKeptId: string, summary: string): Promise<boolean> {
  const firstKeptMessage = await prisma.message.findFirst({ where: { id: firstKeptId, chatId }, select: { parentId: true } });
  if (typeof firstKeptMessage?.parentId !== 'string') return false;
  const last = await prisma.message.findUnique({
    where: { id: firstKeptMessage.parentId },
    select: { id: true, updatedAt: true },
  });
  if (last === null) return false;
  const { id, updatedAt } = last;
  // The time of the message stays: people see no change of it.
  return (await prisma.message.updateMany({ where: { id }, data: { compression: summary, updatedAt } })).count === 1;
}

function isSpoken({ role, isHidden }: NewMessage): boolean {
  if (isHidden) return false;
  return role === 'user' || role === 'assistant';
}
