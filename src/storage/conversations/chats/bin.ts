import { type Page, type PageRequest, type SortKey, toPage } from '../../../entities/ground/page.ts';
import { noteMessageCount } from '../../agents/counters.ts';
import { unlessMissing } from '../../ground/conflicts.ts';
import type { Transaction } from '../../ground/database.ts';
import { byTime } from '../../ground/lists/paging.ts';
import { PublishingStore } from '../../ground/store.ts';
import { binRuns, restoreRuns } from '../runs/binned.ts';
import { countSpoken } from './clearing.ts';

/** A chat in the bin. */
export interface BinnedChat {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly deletedAt: Date;
  readonly name: string;
}
export interface BinOwner {
  readonly orgId: string;
  readonly userId: string;
}

/** Chats that their users deleted and can restore. Nothing else finds them: `deletedAt` hides them. */
export class ChatBinStore extends PublishingStore {
  /** Puts a chat into the bin: what is under way in it ends there. @returns false when it was deleted before. */
  async put(id: string): Promise<boolean> {
    const runIds = await this.db.transaction((tx) => putIntoBin(tx, id));
    this.signals.publish('chat-changed', id);
    for (const runId of runIds ?? []) this.signals.publish('run-changed', runId);
    return runIds !== undefined;
  }

  /** @returns false for one that is not in the bin of this person. */
  async restore(id: string, owner: BinOwner): Promise<boolean> {
    const runIds = await this.db.transaction((tx) => takeFromBin(tx, id, owner));
    if (runIds === undefined) return false;
    this.signals.publish('chat-changed', id);
    for (const runId of runIds) this.signals.publish('run-changed', runId);
    return true;
  }

  /** The ids that are in the bin of this person. */
  async findIds(ids: readonly string[], owner: BinOwner): Promise<readonly string[]> {
    const where = { id: { in: [...ids] }, ...owner, isBinned: true };
    return (await this.db.prisma.chat.findMany({ where, select: { id: true } })).map(({ id }) => id);
  }

  /** The one deleted last comes first. */
  async list({ orgId, userId }: BinOwner, page: PageRequest): Promise<Page<BinnedChat>> {
    const where = { orgId, userId, isBinned: true };
    const rows = await this.db.prisma.chat.findMany({ ...byTime('deletedAt', 'desc', where, page), select: columns });
    const chats = rows.flatMap(({ deletedAt, ...chat }) => (deletedAt === null ? [] : [{ ...chat, deletedAt }]));
    return toPage(chats, page, deletionKey, (take) => this.db.prisma.chat.count({ where, take }));
  }
}

const columns = { id: true, createdAt: true, updatedAt: true, deletedAt: true, name: true } as const;

function deletionKey({ deletedAt, id }: BinnedChat): SortKey {
  return [deletedAt.toISOString(), id];
}

/** @returns the ids of its runs; undefined when it was deleted before. */
async function putIntoBin(tx: Transaction, id: string): Promise<readonly string[] | undefined> {
  const data = { deletedAt: new Date(), isBinned: true, activeRunId: null };
  const select = { agentId: true };
  const binnedChat = await unlessMissing(tx.prisma.chat.update({ where: { id, deletedAt: null }, data, select }));
  if (binnedChat === undefined) return undefined;
  // A link that has ended stays so, also when the chat comes back.
  await tx.prisma.chatShare.deleteMany({ where: { chatId: id } });
  const runIds = await binRuns(tx, id);
  await noteMessageCount(tx, binnedChat.agentId, -(await countSpoken(tx, id)));
  return runIds;
}

/** @returns the ids of its runs; undefined when it is not in the bin of this person. */
async function takeFromBin(tx: Transaction, id: string, { orgId, userId }: BinOwner): Promise<readonly string[] | undefined> {
  const where = { id, orgId, userId, isBinned: true };
  const data = { deletedAt: null, isBinned: false };
  const select = { agentId: true, lastRunId: true };
  const restoredChat = await unlessMissing(tx.prisma.chat.update({ where, data, select }));
  if (restoredChat === undefined) return undefined;
  const { agentId, lastRunId } = restoredChat;
  const runIds = await restoreRuns(tx, id);
  if (lastRunId !== null && !runIds.includes(lastRunId)) await renewLastRun(tx, id);
  await noteMessageCount(tx, agentId, await countSpoken(tx, id));
  return runIds;
}

/** The newest run was under way when the chat was deleted, or too old to be kept. */
async function renewLastRun({ prisma }: Transaction, chatId: string): Promise<void> {
  const where = { chatId, besideMessageId: null };
  const lastRun = await prisma.run.findFirst({ where, orderBy: { createdAt: 'desc' }, select: { id: true } });
  await prisma.chat.update({ where: { id: chatId }, data: { lastRunId: lastRun?.id ?? null } });
}
