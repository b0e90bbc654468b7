import type { PoolClient } from 'pg';
import type { PromptPart } from '../../entities/chats/chat.ts';
import type { Database } from '../database/database.ts';
import type { Signals } from '../database/signals/signals.ts';
import { clearChatFiles, copyChatFiles } from './files.ts';

/** `run-active`: a run holds the chat. `missing`: it is gone. */
export type ResetResult =
  | { readonly kind: 'done'; readonly blobKeys: readonly string[] }
  | { readonly kind: 'missing' }
  | { readonly kind: 'run-active'; readonly runId: string };

export interface NewCopy {
  readonly id: string;
  readonly createdAt: Date;
  newId(kind: 'message' | 'chatFile'): string;
}

/** What changes a chat as a whole. */
export interface ChatChangeStore {
  /** Copies a chat with its messages and files into a new one of its user. @returns false when it is gone. */
  duplicate(chatId: string, copy: NewCopy): Promise<boolean>;
  /** Takes away all that was said, with its runs and files; the ledger stays. */
  reset(chatId: string): Promise<ResetResult>;
  /** What each of some chats is about; null for one that was not summarized. */
  summariesOf(chatIds: readonly string[]): Promise<readonly (string | null)[]>;
  setSummary(chatId: string, summary: string): Promise<void>;
  /** The last message that a summary stands for, and that summary. */
  compressionOf(chatId: string): Promise<{ readonly ordinal: number; readonly summary: string } | undefined>;
  /** From here on models are given `summary` in place of all that stands before a message. @returns false when that is gone. */
  compress(chatId: string, firstKeptId: string, summary: string): Promise<boolean>;
}

export function createChatChangeStore(db: Database, signals: Signals): ChatChangeStore {
  const { pool } = db;
  return {
    duplicate: (chatId, copy) => db.transaction((client) => duplicate(client, chatId, copy)),
    async reset(chatId) {
      const result = await db.transaction((client) => reset(client, chatId));
      if (result.kind === 'done') signals.publish('chat-changed', chatId);
      return result;
    },
    async summariesOf(chatIds) {
      const { rows } = await pool.query<{ summary: string | null }>(
        'select c.summary from unnest($1::text[]) with ordinality as wanted(id, place) left join chats c on c.id = wanted.id order by place',
        [chatIds],
      );
      return rows.map(({ summary }) => summary);
    },
    async setSummary(chatId, summary) {
      await pool.query('update chats set summary = $2 where id = $1 and "deletedAt" is null', [chatId, summary]);
      signals.publish('chat-changed', chatId);
    },
    async compressionOf(chatId) {
      const { rows } = await pool.query<{ ordinal: number; summary: string }>(
        `select ordinal, compression as summary from messages where "chatId" = $1 and compression is not null
         order by ordinal desc limit 1`,
        [chatId],
      );
      return rows[0];
    },
    async compress(chatId, firstKeptId, summary) {
      const { rowCount } = await pool.query(
        `update messages set compression = $3 where id = (
           select id from messages where "chatId" = $1
             and ordinal < (select ordinal from messages where id = $2 and "chatId" = $1)
           order by ordinal desc limit 1)`,
        [chatId, firstKeptId, summary],
      );
      return rowCount === 1;
    },
  };
}

async function duplicate(client: PoolClient, chatId: string, { id, createdAt, newId }: NewCopy): Promise<boolean> {
  const { rows } = await client.query<{ agentId: string | null }>(
    'select "agentId" from chats where id = $1 and "deletedAt" is null for update',
    [chatId],
  );
  if (rows[0] === undefined) return false;
  await client.query(
    `insert into chats (id, "createdAt", "updatedAt", "orgId", "userId", "agentId", name, "modelId", "userInputs", summary)
     select $2, $3, $3, "orgId", "userId", "agentId", name, "modelId", "userInputs", summary from chats where id = $1`,
    [chatId, id, createdAt],
  );
  const fileIds = await copyChatFiles(client, chatId, id, () => newId('chatFile'));
  const { rows: messages } = await client.query<{ id: string; parts: readonly PromptPart[] | null; isSpoken: boolean }>(
    `select id, parts, (role in ('user', 'assistant') and not "isHidden") as "isSpoken" from messages where "chatId" = $1 order by ordinal`,
    [chatId],
  );
  const copies = messages.map(({ id: from, parts }) => ({
    from,
    to: newId('message'),
    parts: parts?.map((part) => (part.type === 'id' ? { ...part, id: fileIds.get(part.id) ?? part.id } : part)) ?? null,
  }));
  await client.query(
    `insert into messages (id, "createdAt", "updatedAt", "chatId", ordinal, role, content, parts, "toolCalls", "toolCallId",
       "toolStatus", citations, status, context, "isHidden", compression)
     select copy."to", m."createdAt", m."updatedAt", $1, m.ordinal, m.role, m.content, copy.parts, m."toolCalls", m."toolCallId",
       m."toolStatus", m.citations, m.status, m.context, m."isHidden", m.compression
     from jsonb_to_recordset($2::jsonb) as copy("from" text, "to" text, parts jsonb) join messages m on m.id = copy."from"`,
    [id, JSON.stringify(copies)],
  );
  const spoken = messages.filter(({ isSpoken }) => isSpoken).length;
  await countMessages(client, rows[0].agentId, spoken);
  return true;
}

async function reset(client: PoolClient, chatId: string): Promise<ResetResult> {
  const { rows } = await client.query<{ agentId: string | null; activeRunId: string | null }>(
    'select "agentId", "activeRunId" from chats where id = $1 and "deletedAt" is null for update',
    [chatId],
  );
  const chat = rows[0];
  if (chat === undefined) return { kind: 'missing' };
  // Also one that is paused, or waits for its turn.
  const { rows: open } = await client.query<{ id: string }>(
    `select id from runs where "chatId" = $1 and (status = 'in_progress' or "incompleteReason" = 'paused') limit 1`,
    [chatId],
  );
  const runId = chat.activeRunId ?? open[0]?.id;
  if (runId !== undefined) return { kind: 'run-active', runId };
  const runs = 'select id from runs where "chatId" = $1';
  await client.query(`delete from run_event_batches where "runId" in (${runs})`, [chatId]);
  await client.query(`delete from response_items where "runId" in (${runs})`, [chatId]);
  await client.query('delete from runs where "chatId" = $1', [chatId]);
  const { rows: removed } = await client.query<{ isSpoken: boolean }>(
    `delete from messages where "chatId" = $1 returning (role in ('user', 'assistant') and not "isHidden") as "isSpoken"`,
    [chatId],
  );
  const blobKeys = await clearChatFiles(client, chatId);
  await client.query('update chats set summary = null, "lastRunId" = null, "updatedAt" = now() where id = $1', [chatId]);
  await countMessages(client, chat.agentId, -removed.filter(({ isSpoken }) => isSpoken).length);
  return { kind: 'done', blobKeys };
}

async function countMessages(client: PoolClient, agentId: string | null, change: number): Promise<void> {
  if (change === 0 || agentId === null) return;
  await client.query('update agents set "messageCount" = "messageCount" + $2 where id = $1', [agentId, change]);
}
