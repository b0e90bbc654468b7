import type { UserInputValues } from '../../../entities/agents/part.ts';
import type { Chat, ChatMessage, NewMessage } from '../../../entities/conversations/chats/chat.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { ChatFilter } from '../../../entities/people/access.ts';
import { noteMessageCount } from '../../agents/counters.ts';
import type { Prisma } from '../../generated/client.ts';
import { unlessMissing } from '../../ground/conflicts.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { clearTurns } from './clearing.ts';
import {
  addMessages,
  findLine,
  findMessages,
  type LineEnd,
  listMessages,
  listMessagesOfRuns,
  pagesOfMessages,
} from './messages.ts';
import { type ChatQuery, findChats, findUserNames, listChats } from './queries.ts';
import { beginTurn, type Turn, type TurnResult } from './turns.ts';

export interface NewChat {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly userId: string;
  readonly agentId: string | null;
  /** The model of a thread without an agent. */
  readonly modelId?: string;
  readonly name: string;
  readonly userInputs?: UserInputValues;
  readonly isVisibleToEditors: boolean;
}

export interface ChatStore {
  find(id: string, filter: ChatFilter): Promise<Chat | undefined>;
  findMany(ids: readonly string[], filter: ChatFilter): Promise<readonly Chat[]>;
  /** The names of users who own the agents of chats; a deleted user has none. */
  ownerNames(userIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The chat changed last comes first. Two statements; their cost does not depend on the depth of the page. */
  list(query: ChatQuery, page: PageRequest): Promise<Page<Chat>>;
  /** With the messages that it begins with. */
  create(chat: NewChat, messages: readonly NewMessage[]): Promise<void>;
  update(id: string, changes: { readonly name?: string; readonly pinPosition?: number | null }): Promise<void>;
  /**
   * Deletes a chat with its messages; the ledger stays.
   *
   * @param unchangedSince  only when nothing changed in it from then on, and no run holds it.
   * @returns false when it was deleted before, or has changed.
   */
  delete(id: string, unchangedSince?: Date): Promise<boolean>;
  /** The last `limit` messages of each chat's active branch, by chat and in order, without hidden ones. */
  messagesOf(chatIds: readonly string[], limit: number): Promise<readonly ChatMessage[]>;
  /** Messages of the active branch of each chat without hidden ones, in order or newest first. One statement; its cost does not depend on the length of the chats. */
  messagePages(chatIds: readonly string[], page: PageRequest, order: 'asc' | 'desc'): Promise<readonly Page<ChatMessage>[]>;
  /**
   * The last `limit` messages for a model, with hidden ones: those of the active branch, or, with `end`, those of the branch that it is on, up to it. A
   * run that has no messages ends before those of later runs.
   */
  history(chatId: string, limit: number, end?: LineEnd): Promise<readonly ChatMessage[]>;
  /** A message of any branch, also a hidden one. */
  findMessage(chatId: string, messageId: string): Promise<ChatMessage | undefined>;
  /** The newest run of a chat; undefined when it has none. */
  findLastRunId(chatId: string): Promise<string | undefined>;
  messagesOfRuns(runIds: readonly string[]): Promise<readonly ChatMessage[]>;
  startTurn(turn: Turn): Promise<TurnResult>;
}

export function createChatStore(db: Database, signals: Signals): ChatStore {
  return {
    find: async (id, filter) => (await findChats(db, [id], filter))[0],
    findMany: (ids, filter) => findChats(db, ids, filter),
    ownerNames: (userIds) => findUserNames(db, userIds),
    list: (query, page) => listChats(db, query, page),
    async create(chat, messages) {
      if (messages.length === 0) await addChat(db, chat);
      else
        await db.transaction(async (tx) => {
          await addChat(tx, chat);
          await addMessages(tx, chat.id, messages);
        });
      signals.publish('chat-changed', chat.id);
    },
    async update(id, changes) {
      await db.prisma.chat.updateMany({ where: { id, deletedAt: null }, data: { ...changes, updatedAt: new Date() } });
      signals.publish('chat-changed', id);
    },
    async delete(id, unchangedSince) {
      const isOld = unchangedSince === undefined ? {} : { updatedAt: { lt: unchangedSince }, activeRunId: null };
      const runIds = await db.transaction((tx) => deleteChat(tx, id, isOld));
      if (runIds === undefined && unchangedSince !== undefined) return false;
      signals.publish('chat-changed', id);
      for (const runId of runIds ?? []) signals.publish('run-changed', runId);
      return runIds !== undefined;
    },
    messagesOf: (chatIds, limit) => listMessages(db, chatIds, limit),
    messagePages: (chatIds, page, order) => pagesOfMessages(db, chatIds, page, order),
    history: (chatId, limit, end) => (end === undefined ? findMessages(db, chatId, limit) : findLine(db, chatId, limit, end)),
    findLastRunId: async (id) =>
      (await db.prisma.chat.findUnique({ where: { id }, select: { lastRunId: true } }))?.lastRunId ?? undefined,
    async findMessage(chatId, id) {
      const found = await db.prisma.message.findFirst({ where: { id, chatId } });
      return found === null ? undefined : (found as unknown as ChatMessage);
    },
    messagesOfRuns: (runIds) => listMessagesOfRuns(db, runIds),
    async startTurn(turn) {
      const result = await db.transaction((tx) => beginTurn(tx, turn));
      if (result.kind === 'started') {
        signals.publish('chat-changed', turn.chatId);
        signals.publish('run-changed', turn.run.id);
      }
      return result;
    },
  };
}

export async function addChat({ prisma }: Pick<Transaction, 'prisma'>, { userInputs = {}, ...chat }: NewChat): Promise<void> {
  await prisma.chat.create({ data: { ...chat, updatedAt: chat.createdAt, userInputs } });
}

/** @returns the ids of its runs; undefined when it was deleted before, or does not fit `condition`. */
async function deleteChat(
  tx: Transaction,
  id: string,
  condition: Pick<Prisma.ChatWhereInput, 'updatedAt' | 'activeRunId'>,
): Promise<readonly string[] | undefined> {
  const { chat, chatRead } = tx.prisma;
  const data = { deletedAt: new Date(), activeRunId: null, name: '' };
  const deleted = await unlessMissing(
    chat.update({ where: { id, deletedAt: null, ...condition }, data, select: { agentId: true } }),
  );
  if (deleted === undefined) return undefined;
  await chatRead.deleteMany({ where: { chatId: id } });
  const { messageCount, runIds } = await clearTurns(tx, id);
  await noteMessageCount(tx, deleted.agentId, -messageCount);
  return runIds;
}
