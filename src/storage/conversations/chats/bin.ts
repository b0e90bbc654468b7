import { type Page, type PageRequest, type SortKey, toPage } from '../../../entities/ground/page.ts';
import { noteMessageCount } from '../../agents/counters.ts';
import { unlessMissing } from '../../ground/conflicts.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import { byTime } from '../../ground/lists/paging.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { clearRuns, countSpoken } from './clearing.ts';

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
export class ChatBinStore {
  readonly #db: Database;
  readonly #signals: Signals;

  constructor(db: Database, signals: Signals) {
    this.#db = db;
    this.#signals = signals;
  }

  /** Puts a chat into the bin: messages and files stay, its runs are deleted. @returns false when it was deleted before. */
  async put(id: string): Promise<boolean> {
    const runIds = await this.#db.transaction((tx) => putIntoBin(tx, id));
    this.#signals.publish('chat-changed', id);
    for (const runId of runIds ?? []) this.#signals.publish('run-changed', runId);
    return runIds !== undefined;
  }

  /** @returns false for one that is not in the bin of this person. */
  async restore(id: string, owner: BinOwner): Promise<boolean> {
    const isRestored = await this.#db.transaction((tx) => takeFromBin(tx, id, owner));
    if (isRestored) this.#signals.publish('chat-changed', id);
    return isRestored;
  }

  /** The ids that are in the bin of this person. */
  async findIds(ids: readonly string[], owner: BinOwner): Promise<readonly string[]> {
    const where = { id: { in: [...ids] }, ...owner, isBinned: true };
    return (await this.#db.prisma.chat.findMany({ where, select: { id: true } })).map(({ id }) => id);
  }

  /** The one deleted last comes first. */
  async list({ orgId, userId }: BinOwner, page: PageRequest): Promise<Page<BinnedChat>> {
    const where = { orgId, userId, isBinned: true };
    const rows = await this.#db.prisma.chat.findMany({ ...byTime('deletedAt', 'desc', where, page), select: columns });
    const chats = rows.flatMap(({ deletedAt, ...chat }) => (deletedAt === null ? [] : [{ ...chat, deletedAt }]));
    return toPage(chats, page, deletionKey, (take) => this.#db.prisma.chat.count({ where, take }));
  }
}

const columns = { id: true, createdAt: true, updatedAt: true, deletedAt: true, name: true } as const;

function deletionKey({ deletedAt, id }: BinnedChat): SortKey {
  return [deletedAt.toISOString(), id];
}

/** @returns the ids of its runs; undefined when it was deleted before. */
async function putIntoBin(tx: Transaction, id: string): Promise<readonly string[] | undefined> {
  const data = { deletedAt: new Date(), isBinned: true, activeRunId: null, comparedMessageId: null, lastRunId: null };
  const select = { agentId: true };
  const binnedChat = await unlessMissing(tx.prisma.chat.update({ where: { id, deletedAt: null }, data, select }));
  if (binnedChat === undefined) return undefined;
  // A link that has ended stays so, also when the chat comes back.
  await tx.prisma.chatShare.deleteMany({ where: { chatId: id } });
  const runIds = await clearRuns(tx, id);
  await noteMessageCount(tx, binnedChat.agentId, -(await countSpoken(tx, id)));
  return runIds;
}

async function takeFromBin(tx: Transaction, id: string, { orgId, userId }: BinOwner): Promise<boolean> {
  const where = { id, orgId, userId, isBinned: true };
  const data = { deletedAt: null, isBinned: false };
  const restoredChat = await unlessMissing(tx.prisma.chat.update({ where, data, select: { agentId: true } }));
  if (restoredChat === undefined) return false;
  await noteMessageCount(tx, restoredChat.agentId, await countSpoken(tx, id));
  return true;
}
