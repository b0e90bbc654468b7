import type { UserInputValues } from '../../../entities/agents/part.ts';
import type { Chat, ChatMessage, NewMessage } from '../../../entities/conversations/chats/chat.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { ChatFilter } from '../../../entities/people/access.ts';
import { noteMessageCount } from '../../agents/counters.ts';
import type { Prisma } from '../../generated/client.ts';
import { unlessMissing } from '../../ground/conflicts.ts';
import type { Transaction } from '../../ground/database.ts';
import { PublishingStore } from '../../ground/store.ts';
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
  readonly projectId?: string | null;
}

export class ChatStore extends PublishingStore {
  async find(id: string, filter: ChatFilter): Promise<Chat | undefined> {
    return (await findChats(this.db, [id], filter))[0];
  }

  findMany(ids: readonly string[], filter: ChatFilter): Promise<readonly Chat[]> {
    return findChats(this.db, ids, filter);
  }

  /** The names of users who own the agents of chats; a deleted user has none. */
  ownerNames(userIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return findUserNames(this.db, userIds);
  }

  /** The chat changed last comes first. Two statements; their cost does not depend on the depth of the page. */
  list(query: ChatQuery, page: PageRequest): Promise<Page<Chat>> {
    return listChats(this.db, query, page);
  }

  /** With the messages that it begins with. */
  async create(chat: NewChat, messages: readonly NewMessage[]): Promise<void> {
    if (messages.length === 0) await addChat(this.db, chat);
    else
      await this.db.transaction(async (tx) => {
        await addChat(tx, chat);
        await addMessages(tx, chat.id, messages);
      });
    this.signals.publish('chat-changed', chat.id);
  }

  async update(id: string, changes: { readonly name?: string; readonly pinPosition?: number | null }): Promise<void> {
    await this.db.prisma.chat.updateMany({ where: { id, deletedAt: null }, data: { ...changes, updatedAt: new Date() } });
    this.signals.publish('chat-changed', id);
  }

  /** Names a chat that still has the name `before`. */
  async rename(id: string, before: string, name: string): Promise<void> {
    const { count } = await this.db.prisma.chat.updateMany({ where: { id, deletedAt: null, name: before }, data: { name } });
    if (count > 0) this.signals.publish('chat-changed', id);
  }

  /**
   * Deletes a chat for ever with its messages, also one in the bin; the ledger stays.
   *
   * @param onlyIf  `unchangedSince`: only when nothing changed in it from then on, and no run holds it. `isBinned`: only in the bin.
   * @returns false when it was deleted before, or is not so.
   */
  async delete(id: string, onlyIf: { readonly unchangedSince?: Date; readonly isBinned?: true } = {}): Promise<boolean> {
    const { unchangedSince, isBinned = false } = onlyIf;
    const isOld = unchangedSince === undefined ? {} : { updatedAt: { lt: unchangedSince }, activeRunId: null };
    const runIds = await this.db.transaction((tx) => deleteChat(tx, id, isOld, isBinned));
    if (runIds === undefined && (unchangedSince !== undefined || isBinned)) return false;
    this.signals.publish('chat-changed', id);
    for (const runId of runIds ?? []) this.signals.publish('run-changed', runId);
    return runIds !== undefined;
  }

  /** The last `limit` messages of each chat's active branch, by chat and in order, without hidden ones. */
  messagesOf(chatIds: readonly string[], limit: number): Promise<readonly ChatMessage[]> {
    return listMessages(this.db, chatIds, limit);
  }

  /** Messages of the active branch of each chat without hidden ones, in order or newest first. One statement; its cost does not depend on the length of the chats. */
  messagePages(chatIds: readonly string[], page: PageRequest, order: 'asc' | 'desc'): Promise<readonly Page<ChatMessage>[]> {
    return pagesOfMessages(this.db, chatIds, page, order);
  }

  /**
   * The last `limit` messages for a model, with hidden ones: those of the active branch, or, with `end`, those of the branch that it is on, up to it. A
   * run that has no messages ends before those of later runs.
   */
  history(chatId: string, limit: number, end?: LineEnd): Promise<readonly ChatMessage[]> {
    return end === undefined ? findMessages(this.db, chatId, limit) : findLine(this.db, chatId, limit, end);
  }

  /** The newest run of a chat; undefined when it has none. */
  async findLastRunId(id: string): Promise<string | undefined> {
    return (await this.db.prisma.chat.findUnique({ where: { id }, select: { lastRunId: true } }))?.lastRunId ?? undefined;
  }

  /** A message of any branch, also a hidden one. */
  async findMessage(chatId: string, id: string): Promise<ChatMessage | undefined> {
    const found = await this.db.prisma.message.findFirst({ where: { id, chatId } });
    return found === null ? undefined : (found as unknown as ChatMessage);
  }

  messagesOfRuns(runIds: readonly string[]): Promise<readonly ChatMessage[]> {
    return listMessagesOfRuns(this.db, runIds);
  }

  async startTurn(turn: Turn): Promise<TurnResult> {
    const result = await this.db.transaction((tx) => beginTurn(tx, turn));
    if (result.kind === 'started') {
      this.signals.publish('chat-changed', turn.chatId);
      this.signals.publish('run-changed', turn.run.id);
    }
    return result;
  }
}

export async function addChat({ prisma }: Pick<Transaction, 'prisma'>, { userInputs = {}, ...chat }: NewChat): Promise<void> {
  await prisma.chat.create({ data: { ...chat, updatedAt: chat.createdAt, userInputs } });
}

/** @returns the ids of its runs; undefined when it was deleted before, or does not fit `condition`. */
async function deleteChat(
  tx: Transaction,
  id: string,
  condition: Pick<Prisma.ChatWhereInput, 'updatedAt' | 'activeRunId'>,
  onlyInBin: boolean,
): Promise<readonly string[] | undefined> {
  const { chat, chatRead, chatShare } = tx.prisma;
  const data = { activeRunId: null, name: '', tags: [] };
  const select = { agentId: true };
  const emptiedChat = await unlessMissing(
    chat.update({ where: { id, isBinned: true, ...condition }, data: { ...data, isBinned: false }, select }),
  );
  const deletedChat =
    emptiedChat ??
    (onlyInBin
      ? undefined
      : await unlessMissing(
          chat.update({ where: { id, deletedAt: null, ...condition }, data: { ...data, deletedAt: new Date() }, select }),
        ));
  if (deletedChat === undefined) return undefined;
  await chatRead.deleteMany({ where: { chatId: id } });
  await chatShare.deleteMany({ where: { chatId: id } });
  const { messageCount, runIds } = await clearTurns(tx, id);
  // The messages of a chat in the bin are not counted.
  if (emptiedChat === undefined) await noteMessageCount(tx, deletedChat.agentId, -messageCount);
  return runIds;
}
