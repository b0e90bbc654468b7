import type { Pool } from 'pg';
import type { ChatFilter } from '../../entities/accounts/access.ts';
import type { UserInputValues } from '../../entities/agents/part.ts';
import type { Chat, ChatMessage, NewMessage } from '../../entities/chats/chat.ts';
import { type Page, type PageRequest, pageOf, type SortKey } from '../../entities/page.ts';
import type { NewRun } from '../../entities/runs/run.ts';
import type { Database } from '../database/database.ts';
import type { Signals } from '../database/signals/signals.ts';
import { readPage } from '../database/sql/bounded-rows.ts';
import { Parameters, prepared } from '../database/sql/where.ts';
import { addRun } from '../runs/runs.ts';
import { chatCondition } from './filter.ts';
import { addMessages, findMessages, listMessages, listMessagesOfRuns } from './messages.ts';

export interface NewChat {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly userId: string;
  readonly agentId: string | null;
  /** Of a thread without an agent. */
  readonly modelId?: string;
  readonly name: string;
  readonly userInputs?: UserInputValues;
}

/** What begins a run in a chat: its messages and its row, written together. */
export interface Turn {
  readonly chatId: string;
  readonly run: NewRun;
  readonly leaseMs: number;
  /** Sees the chat as it is once nobody else can change it, and says what to add. Throws to write nothing. */
  readonly messages: (last: readonly ChatMessage[]) => readonly NewMessage[];
  /** How many of the last messages `messages` wants to see. */
  readonly lastMessages: number;
}
/** `run-active`: another run holds the chat. `missing`: the chat is gone. */
export type TurnResult =
  | { readonly kind: 'started' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'run-active'; readonly runId: string };

export interface ChatQuery {
  readonly userId?: string;
  readonly orgId?: string;
  readonly agentId?: string;
  /** Stands in the name, or in a message that people may read. */
  readonly search?: string;
}

export interface ChatStore {
  find(id: string, filter: ChatFilter): Promise<Chat | undefined>;
  findMany(ids: readonly string[], filter: ChatFilter): Promise<readonly Chat[]>;
  /** The chat changed last comes first. Cost: one statement, flat in the depth of the page. */
  list(query: ChatQuery, page: PageRequest): Promise<Page<Chat>>;
  create(chat: NewChat): Promise<void>;
  update(id: string, changes: { readonly name?: string; readonly pinPosition?: number | null }): Promise<void>;
  /** Removes what was said; the ledger stays. @returns false when it was gone before. */
  delete(id: string): Promise<boolean>;
  /** The last `limit` messages of each of some chats, by chat and in order, without hidden ones. */
  messagesOf(chatIds: readonly string[], limit: number): Promise<readonly ChatMessage[]>;
  /** The last `limit` messages for a model: also hidden ones. With `upToRunId`: none behind the messages of that run, or of those begun before it when it has none. */
  history(chatId: string, limit: number, upToRunId?: string): Promise<readonly ChatMessage[]>;
  findMessage(chatId: string, messageId: string): Promise<ChatMessage | undefined>;
  messagesOfRuns(runIds: readonly string[]): Promise<readonly ChatMessage[]>;
  startTurn(turn: Turn): Promise<TurnResult>;
}

const chatColumns = `c.id, c."createdAt", c."updatedAt", c."orgId", c."userId", c."agentId", c.name, c."pinPosition", c."activeRunId", c."modelId", c."userInputs",
  json_build_object('id', coalesce(a.id, c."modelId", ''), 'name', coalesce(a.name, c."modelId", ''), 'src', coalesce(a.src, ''),
    'description', coalesce(a.description, ''), 'userId', coalesce(a."userId", ''), 'userName', coalesce(u.name, '')) as agent`;
const chatTables = `chats c left join agents a on a.id = c."agentId" left join users u on u.id = a."userId"`;

export function createChatStore(db: Database, signals: Signals): ChatStore {
  const { pool } = db;

  async function findMany(ids: readonly string[], filter: ChatFilter): Promise<readonly Chat[]> {
    const parameters = new Parameters();
    const text = `select ${chatColumns} from ${chatTables}
      where c.id = any(${parameters.add(ids)}::text[]) and c."deletedAt" is null and ${chatCondition(filter, parameters)}`;
    const { rows } = await pool.query<Chat>(prepared(text, parameters.values));
    return rows;
  }

  return {
    findMany,
    find: async (id, filter) => (await findMany([id], filter))[0],
    async list(query, page) {
      const parameters = new Parameters();
      const where = listCondition(query, parameters);
      const countAll = async () => {
        const counting = new Parameters();
        const { rows } = await pool.query<{ count: number }>(
          prepared(`select count(*)::int as count from chats c where ${listCondition(query, counting)}`, counting.values),
        );
        return rows[0]?.count ?? 0;
      };
      const text = `select ${chatColumns} from ${chatTables} where ${where} and ${afterCondition(page, parameters)}
        order by c."updatedAt" desc, c.id desc limit ${parameters.add(page.limit + 1)}`;
      const { rows, foundCount } = await readPage<Chat>(db, { text, values: parameters.values }, ['agent', 'userInputs']);
      return pageOf(rows, page, activityKey, countAll, foundCount);
    },
    create: (chat) => addChat(pool, chat),
    async update(id, { name, pinPosition }) {
      await pool.query(
        `update chats set name = coalesce($2, name), "pinPosition" = case when $3 then $4 else "pinPosition" end, "updatedAt" = now()
         where id = $1 and "deletedAt" is null`,
        [id, name, pinPosition !== undefined, pinPosition],
      );
      signals.publish('chat-changed', id);
    },
    async delete(id) {
      const wasThere = await db.transaction(async (client) => {
        const { rows } = await client.query<{ agentId: string }>(
          `update chats set "deletedAt" = now(), "activeRunId" = null, name = '' where id = $1 and "deletedAt" is null
           returning "agentId"`,
          [id],
        );
        if (rows[0] === undefined) return false;
        // The runs first: what is at work writes its events behind a lock on its run, and would leave some of them here for ever.
        const { rows: runs } = await client.query<{ id: string }>('delete from runs where "chatId" = $1 returning id', [id]);
        const runIds = runs.map((run) => run.id);
        await client.query('delete from run_event_batches where "runId" = any($1::text[])', [runIds]);
        await client.query('delete from response_items where "runId" = any($1::text[])', [runIds]);
        const { rows: removed } = await client.query<{ isSpoken: boolean }>(
          `delete from messages where "chatId" = $1 returning (role in ('user', 'assistant') and not "isHidden") as "isSpoken"`,
          [id],
        );
        const spoken = removed.filter(({ isSpoken }) => isSpoken).length;
        await client.query('update agents set "messageCount" = "messageCount" - $2 where id = $1', [rows[0].agentId, spoken]);
        return true;
      });
      signals.publish('chat-changed', id);
      return wasThere;
    },
    messagesOf: (chatIds, limit) => listMessages(db, chatIds, limit),
    async history(chatId, limit, upToRunId) {
      if (upToRunId === undefined) return findMessages(pool, [chatId], limit, true);
      const { rows } = await pool.query<ChatMessage>(
        `select * from (
           select * from messages where "chatId" = $1
             and ordinal <= coalesce((select max(ordinal) from messages where "chatId" = $1 and "runId" = $3),
               (select max(m.ordinal) from messages m left join runs r on r.id = m."runId"
                where m."chatId" = $1 and (r.id is null or r."createdAt" < (select "createdAt" from runs where id = $3))))
           order by ordinal desc limit $2) m order by ordinal`,
        [chatId, limit, upToRunId],
      );
      return rows;
    },
    async findMessage(chatId, messageId) {
      const { rows } = await pool.query<ChatMessage>('select * from messages where id = $2 and "chatId" = $1', [
        chatId,
        messageId,
      ]);
      return rows[0];
    },
    messagesOfRuns: (runIds) => listMessagesOfRuns(db, runIds),
    async startTurn({ chatId, run, leaseMs, messages, lastMessages }) {
      const result = await db.transaction<TurnResult>(async (client) => {
        const { rows } = await client.query<{ activeRunId: string | null }>(
          'select "activeRunId" from chats where id = $1 and "deletedAt" is null for update',
          [chatId],
        );
        if (rows[0] === undefined) return { kind: 'missing' };
        const { activeRunId } = rows[0];
        if (activeRunId !== null) return { kind: 'run-active', runId: activeRunId };
        const last = lastMessages === 0 ? [] : await findMessages(client, [chatId], lastMessages, true);
        await addMessages(client, chatId, messages(last));
        await addRun(client, run, leaseMs);
        await client.query('update chats set "activeRunId" = $2, "lastRunId" = $2, "updatedAt" = now() where id = $1', [
          chatId,
          run.id,
        ]);
        return { kind: 'started' };
      });
      if (result.kind === 'started') signals.publish('chat-changed', chatId);
      return result;
    },
  };
}

export async function addChat(
  client: Pick<Pool, 'query'>,
  { id, createdAt, orgId, userId, agentId, modelId, name, userInputs = {} }: NewChat,
): Promise<void> {
  await client.query(
    `insert into chats (id, "createdAt", "updatedAt", "orgId", "userId", "agentId", name, "modelId", "userInputs")
     values ($1, $2, $2, $3, $4, $5, $6, $7, $8)`,
    [id, createdAt, orgId, userId, agentId, name, modelId, JSON.stringify(userInputs)],
  );
}

function listCondition({ userId, orgId, agentId, search }: ChatQuery, parameters: Parameters): string {
  return [
    'c."deletedAt" is null',
    ...(userId === undefined ? [] : [`c."userId" = ${parameters.add(userId)}`]),
    ...(orgId === undefined ? [] : [`c."orgId" = ${parameters.add(orgId)}`]),
    ...(agentId === undefined ? [] : [`c."agentId" = ${parameters.add(agentId)}`]),
    ...(search === undefined ? [] : [searchCondition(parameters.add(`%${search.replaceAll(/[\\%_]/g, '\\$&')}%`))]),
  ].join(' and ');
}

function searchCondition(pattern: string): string {
  return `(c.name ilike ${pattern} or exists (select 1 from messages m
    where m."chatId" = c.id and not m."isHidden" and m.role <> 'system' and m.content ilike ${pattern}))`;
}

function afterCondition({ after }: PageRequest, parameters: Parameters): string {
  const [time, id] = after ?? [];
  if (time === undefined || id === undefined) return 'true';
  return `(c."updatedAt", c.id) < (${parameters.add(time)}::timestamptz, ${parameters.add(id)})`;
}

function activityKey({ updatedAt, id }: Chat): SortKey {
  return [updatedAt.toISOString(), id];
}
