import { noteMessageCount } from '../../agents/counters.ts';
import type { Transaction } from '../../ground/database.ts';
import { lockChat } from '../../ground/sql/locks.ts';
import { PublishingStore } from '../../ground/store.ts';
import { findOpenRun } from '../runs/queries.ts';
import { clearTurns } from './clearing.ts';
import { duplicate, type NewCopy } from './copies.ts';
import { clearFiles } from './files.ts';
import { compress } from './messages.ts';

/** `run-active`: a run holds the chat. `missing`: the chat is deleted. */
export type ResetResult =
  | { readonly kind: 'done'; readonly blobKeys: readonly string[]; readonly runIds: readonly string[] }
  | { readonly kind: 'missing' }
  | { readonly kind: 'run-active'; readonly runId: string };

/** Changes of a whole chat. */
export class ChatChangeStore extends PublishingStore {
  /** Copies a chat with its messages and files into a new chat of the same user. @returns false when the chat is deleted. */
  async duplicate(chatId: string, copy: NewCopy): Promise<boolean> {
    const wasCopied = await this.db.transaction((tx) => duplicate(tx, chatId, copy));
    if (wasCopied) this.signals.publish('chat-changed', copy.id);
    return wasCopied;
  }

  /** Takes away all that was said, with its runs and files; the ledger stays. */
  async reset(chatId: string): Promise<ResetResult> {
    const result = await this.db.transaction((tx) => reset(tx, chatId));
    if (result.kind !== 'done') return result;
    this.signals.publish('chat-changed', chatId);
    for (const runId of result.runIds) this.signals.publish('run-changed', runId);
    return result;
  }

  /** What each of some chats is about; null for one that was not summarized. */
  async summariesOf(chatIds: readonly string[]): Promise<readonly (string | null)[]> {
    const found = await this.db.prisma.chat.findMany({
      where: { id: { in: [...chatIds] } },
      select: { id: true, summary: true },
    });
    const summaries = new Map(found.map(({ id, summary }) => [id, summary]));
    return chatIds.map((id) => summaries.get(id) ?? null);
  }

  async setSummary(chatId: string, summary: string): Promise<void> {
    await this.db.prisma.chat.updateMany({ where: { id: chatId, deletedAt: null }, data: { summary } });
    this.signals.publish('chat-changed', chatId);
  }

  /** The last message that a summary replaces, and that summary. */
  async compressionOf(chatId: string): Promise<{ readonly ordinal: number; readonly summary: string } | undefined> {
    const found = await this.db.prisma.message.findFirst({
      where: { chatId, isActive: true, compression: { not: null } },
      orderBy: { ordinal: 'desc' },
      select: { ordinal: true, compression: true },
    });
    return found === null ? undefined : { ordinal: found.ordinal, summary: found.compression ?? '' };
  }

  /** From now on models get `summary` in place of all messages before the given one. @returns false when that message is deleted. */
  async compress(chatId: string, firstKeptId: string, summary: string): Promise<boolean> {
    const wasCompressed = await compress(this.db, chatId, firstKeptId, summary);
    if (wasCompressed) this.signals.publish('chat-changed', chatId);
    return wasCompressed;
  }
}

async function reset(tx: Transaction, chatId: string): Promise<ResetResult> {
  const lockedChat = await lockChat(tx, chatId);
  if (lockedChat === undefined || lockedChat.deletedAt !== null) return { kind: 'missing' };
  const runId = await findOpenRun(tx, lockedChat);
  if (runId !== undefined) return { kind: 'run-active', runId };
  const { messageCount, runIds } = await clearTurns(tx, chatId);
  const blobKeys = await clearFiles(tx, chatId);
  const data = { summary: null, lastRunId: null, answeredAt: null, updatedAt: new Date() };
  await tx.prisma.chat.update({ where: { id: chatId }, data });
  await noteMessageCount(tx, lockedChat.agentId, -messageCount);
  return { kind: 'done', blobKeys, runIds };
}
