// Raw SQL: thread order. What waits stands inside the rows of runs, and each change of it locks their chat.
import { type NewMessage, type PromptPart, withTimes } from '../../../entities/conversations/chats/chat.ts';
import type { QueuedMessage } from '../../../entities/conversations/chats/queue.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Transaction } from '../../ground/database.ts';
import { requireShortList } from '../../ground/lists/paging.ts';
import { lockChat, lockRows } from '../../ground/sql/locks.ts';
import { PublishingStore } from '../../ground/store.ts';
import { endQuietly } from './idle.ts';

/** What a message that waits says from now on. */
export interface QueuedContent {
  readonly text: string;
  readonly parts: readonly PromptPart[] | null;
  readonly context: readonly unknown[] | null;
}

/** A message that waits, with what a change of it needs of its run. */
export interface QueuedInRun {
  readonly message: NewMessage;
  readonly runId: string;
  readonly modelId: string;
  readonly inputTokensMax: number | undefined;
}

/** `gone`: the message does not wait any more. `emptied`: nothing waits for the run any more, which is cancelled. */
export type QueueChange =
  | { readonly kind: 'gone' }
  | { readonly kind: 'changed' }
  | { readonly kind: 'emptied'; readonly runId: string };

interface QueueRow {
  readonly id: string;
  readonly chatId: string;
  readonly isWaiting: boolean;
  /** Of the messages of all rows together. */
  readonly bytes: number;
  readonly pendingMessages: Prisma.JsonValue;
  readonly steers: readonly NewMessage[][];
}

/** Messages beyond the limit of a list stay in the database: `$1` ids of chats, `$2` the limit in bytes. */
const queuesSql = `
  select id, "chatId", "isWaiting", bytes::float8 as bytes,
    case when bytes <= $2 then "pendingMessages" end as "pendingMessages", case when bytes <= $2 then steers end as steers
  from (
    select id, "chatId", "isWaiting", "queuePosition", "pendingMessages", steers,
      sum(octet_length(coalesce("pendingMessages"::text, '')) + octet_length(steers::text)) over () as bytes
    from runs where "chatId" = any($1::text[]) and status = 'in_progress' and kind = 'chat'
  ) as queued
  order by "isWaiting", "queuePosition", id`;

/** Messages of chats that were sent while a run answered: they wait for its end, or join it at its next step. */
export class QueueStore extends PublishingStore {
  /**
   * By chat: first what joins the run that answers, then what waits, each in its order. Cost: one statement.
   *
   * @throws DomainError REPLY_TOO_LARGE when the messages are too long together.
   */
  async ofChats(chatIds: readonly string[]): Promise<ReadonlyMap<string, readonly QueuedMessage[]>> {
    const rows = await this.db.query<QueueRow>(queuesSql, [chatIds, this.db.listMaxBytes]);
    requireShortList(this.db, rows[0]?.bytes ?? 0);
    const queued = rows.flatMap(({ id: runId, chatId, isWaiting, pendingMessages, steers }) => {
      const messages = isWaiting ? readMessages(pendingMessages) : steers.flat();
      return messages
        .filter(isSaid)
        .map((message) => ({ chatId, ...toQueued(message, runId, isWaiting ? 'WAITING' : 'JOINING') }));
    });
    return Map.groupBy(queued, ({ chatId }) => chatId);
  }

  /** A message that waits in a chat; undefined when it does not, or not any more. */
  async find(chatId: string, messageId: string): Promise<QueuedInRun | undefined> {
    const rows = await this.db.prisma.run.findMany({
      where: { chatId, isWaiting: true, status: 'in_progress', kind: 'chat' },
      select: { id: true, modelId: true, pendingMessages: true, request: true },
    });
    for (const { id: runId, modelId, pendingMessages, request } of rows) {
      const message = readMessages(pendingMessages).find(({ id }) => id === messageId);
      if (message === undefined) continue;
      const { inputTokensMax } = request as { readonly inputTokensMax?: number };
      return { message: withTimes(message), runId, modelId, inputTokensMax };
    }
    return undefined;
  }

  /** Gives a message that waits another content. */
  edit(
    chatId: string,
    messageId: string,
    { text, parts, context }: QueuedContent,
    questionOf: QuestionReader,
  ): Promise<QueueChange> {
    return this.#change(chatId, messageId, questionOf, (messages) =>
      messages.map((message) => (message.id === messageId ? { ...message, content: text, parts, context } : message)),
    );
  }

  /** Takes a message out of the queue. A run for which nothing waits any more is cancelled. */
  withdraw(chatId: string, messageId: string, questionOf: QuestionReader): Promise<QueueChange> {
    return this.#change(chatId, messageId, questionOf, (messages) => messages.filter(({ id }) => id !== messageId));
  }

  async #change(
    chatId: string,
    messageId: string,
    questionOf: QuestionReader,
    change: (messages: readonly NewMessage[]) => readonly NewMessage[],
  ): Promise<QueueChange> {
    const result = await this.db.transaction(async (tx): Promise<QueueChange> => {
      const run = await lockWaiting(tx, chatId, messageId);
      if (run === undefined) return { kind: 'gone' };
      const messages = change(run.messages);
      if (messages.length === 0) {
        await endQuietly(tx, run.id, 'cancelled');
        return { kind: 'emptied', runId: run.id };
      }
      const request = { ...run.request, ...questionOf(run.request, messages) } as unknown as Prisma.InputJsonObject;
      const data = { pendingMessages: messages as unknown as Prisma.InputJsonArray, queuedRequests: messages.length, request };
      await tx.prisma.run.update({ where: { id: run.id }, data });
      return { kind: 'changed' };
    });
    if (result.kind !== 'gone') this.signals.publish('chat-changed', chatId);
    if (result.kind === 'emptied') this.signals.publish('run-changed', result.runId);
    return result;
  }
}

/** The members of a run's request that depend on what is asked: read from the messages that wait for it. */
export type QuestionReader = (request: object, messages: readonly NewMessage[]) => object;

interface WaitingRow {
  readonly id: string;
  readonly request: object;
  readonly pendingMessages: readonly NewMessage[] | null;
}

async function lockWaiting(
  tx: Transaction,
  chatId: string,
  messageId: string,
): Promise<{ readonly id: string; readonly request: object; readonly messages: readonly NewMessage[] } | undefined> {
  const chat = await lockChat(tx, chatId);
  if (chat === undefined || chat.deletedAt !== null) return undefined;
  const where = { chatId, isWaiting: true, status: 'in_progress', kind: 'chat' };
  const ids = (await tx.prisma.run.findMany({ where, select: { id: true } })).map(({ id }) => id);
  const rows = await lockRows<WaitingRow>(tx, 'runs', ids, 'id, request, "pendingMessages"');
  for (const { id, request, pendingMessages } of rows) {
    const messages = pendingMessages ?? [];
    if (messages.some((message) => message.id === messageId)) return { id, request, messages };
  }
  return undefined;
}

function readMessages(pendingMessages: unknown): readonly NewMessage[] {
  return (pendingMessages ?? []) as readonly NewMessage[];
}

function isSaid({ role, isHidden }: NewMessage): boolean {
  return role === 'user' && !isHidden;
}

function toQueued(message: NewMessage, runId: string, state: QueuedMessage['state']): QueuedMessage {
  const { id, createdAt, content, parts } = withTimes(message);
  return { id, createdAt, content, parts, runId, state };
}
