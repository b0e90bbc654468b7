// Raw SQL: thread order. A mark on a message is no change of it that people see, and the newest of each chat is read in one statement.
import type { ContextStart } from '../../../entities/conversations/chats/chat.ts';
import type { Transaction } from '../../ground/database.ts';
import { lockChat } from '../../ground/sql/locks.ts';
import { PublishingStore } from '../../ground/store.ts';
import { findOpenRun } from '../runs/queries.ts';

/** `missing`: the chat is deleted. `run-active`: a run holds it. `nothing`: there is nothing to change. */
export type ContextChange =
  | { readonly kind: 'done' | 'missing' | 'nothing' }
  | { readonly kind: 'run-active'; readonly runId: string };

/** Where the part of each chat begins that models get. */
export class ChatContextStore extends PublishingStore {
  /** By chat, on its active branch; without the chats of which models get everything. Cost: one statement. */
  async startsOf(chatIds: readonly string[]): Promise<ReadonlyMap<string, ContextStart>> {
    const rows = await this.db.query<ContextStart & { readonly chatId: string }>(
      `select distinct on ("chatId") "chatId", id as "messageId", compression as summary from messages
       where "chatId" = any($1::text[]) and compression is not null and "isActive" order by "chatId", ordinal desc`,
      [chatIds],
    );
    return new Map(rows.map(({ chatId, messageId, summary }) => [chatId, { messageId, summary }]));
  }

  /** From now on models get nothing of what was said until now. */
  clear(chatId: string): Promise<ContextChange> {
    return this.#change(
      chatId,
      `update messages set compression = '' where id = (
         select id from messages where "chatId" = $1 and "isActive" order by ordinal desc limit 1) and compression is distinct from ''`,
    );
  }

  /** Takes the last such mark or summary back: models get again what they got before it. */
  restore(chatId: string): Promise<ContextChange> {
    return this.#change(
      chatId,
      `update messages set compression = null where id = (
         select id from messages where "chatId" = $1 and "isActive" and compression is not null order by ordinal desc limit 1)`,
    );
  }

  async #change(chatId: string, sql: string): Promise<ContextChange> {
    const result = await this.db.transaction((tx) => change(tx, chatId, sql));
    if (result.kind === 'done') this.signals.publish('chat-changed', chatId);
    return result;
  }
}

async function change(tx: Transaction, chatId: string, sql: string): Promise<ContextChange> {
  const chat = await lockChat(tx, chatId);
  if (chat === undefined || chat.deletedAt !== null) return { kind: 'missing' };
  const runId = await findOpenRun(tx, chat);
  if (runId !== undefined) return { kind: 'run-active', runId };
  const count = await tx.execute(sql, [chatId]);
  return { kind: count === 0 ? 'nothing' : 'done' };
}
