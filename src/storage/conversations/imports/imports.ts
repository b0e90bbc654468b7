import type {
  ChatImport,
  ChatImportFormat,
  ChatImportOmission,
  ChatImportOmissionKind,
  ChatImportStatus,
} from '../../../entities/conversations/chats/import.ts';
import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Transaction } from '../../ground/database.ts';
import { newestFirst } from '../../ground/lists/paging.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import { PublishingStore } from '../../ground/store.ts';
import { addImportedChat, hasOrigin, type NewImportedChat } from './chats.ts';

/** Whose imports. */
export interface ImportOwner {
  readonly orgId: string;
  readonly userId: string;
}

export type NewChatImport = Pick<ChatImport, 'id' | 'createdAt' | 'orgId' | 'userId' | 'agentId' | 'filename' | 'sizeBytes'> & {
  readonly blobKey: string;
};

/** How far a job is in the file: `done` chats of the window that begins at `start`. */
export interface ImportPlace {
  readonly start: number;
  readonly done: number;
}

/** `passed`: another job has brought it before. `stopped`: the import is not being read any more. */
export type BroughtChat = 'imported' | 'existing' | 'passed' | 'stopped' | GoneReason;
/** Without its agent nobody goes on with the chats; without its person they are nobody's, and an erasure would leave them. */
export type GoneReason = 'agent-gone' | 'person-gone';

/** What was left out of one chat, or of chats that were left out whole. */
export interface NewOmission {
  readonly kind: ChatImportOmissionKind;
  readonly count: number;
  /** '' for a chat without a name, and for several. */
  readonly chatName: string;
}

/** Ended imports of one person that are listed; older ones are forgotten. */
const listedMax = 100;
const chatNamesMax = 5;
const openStatuses = ['WAITING', 'READING', 'UNDOING'];
const readStatuses = ['WAITING', 'READING'];

export class ChatImportStore extends PublishingStore {
  /** @returns false when its person has as many imports under way as may be. */
  async create(row: NewChatImport, openMax: number): Promise<boolean> {
    const isCreated = await this.db.transaction(async (tx) => {
      const { orgId, userId } = row;
      await lockRow(tx, 'users', userId);
      const { chatImport } = tx.prisma;
      if ((await chatImport.count({ where: { orgId, userId, endedAt: null } })) >= openMax) return false;
      const older = { where: { orgId, userId, endedAt: { not: null } }, orderBy: { createdAt: 'desc' as const } };
      const forgotten = await chatImport.findMany({ ...older, skip: listedMax - 1, take: listedMax, select: { id: true } });
      if (forgotten.length > 0) await chatImport.deleteMany({ where: { id: { in: forgotten.map(({ id }) => id) } } });
      await chatImport.create({ data: { ...row, status: 'WAITING' } });
      return true;
    });
    if (isCreated) this.#announce(row.id);
    return isCreated;
  }

  async find(id: string): Promise<(ChatImport & { readonly place: ImportPlace }) | undefined> {
    const row = await this.db.prisma.chatImport.findUnique({ where: { id } });
    return row === null ? undefined : { ...toImport(row), place: { start: row.windowStart, done: row.windowDone } };
  }

  async findMany(ids: readonly string[], { orgId, userId }: ImportOwner): Promise<readonly ChatImport[]> {
    return (await this.db.prisma.chatImport.findMany({ where: { id: { in: [...ids] }, orgId, userId } })).map(toImport);
  }

  /** Newest first. */
  async list({ orgId, userId }: ImportOwner, page: PageRequest): Promise<Page<ChatImport>> {
    const where = { orgId, userId };
    const rows = await this.db.prisma.chatImport.findMany(newestFirst(where, page));
    return toPage(rows.map(toImport), page, timeKey, (take) => this.db.prisma.chatImport.count({ where, take }));
  }

  /** Begins or goes on to read. @returns false when it has ended. */
  begin(id: string): Promise<boolean> {
    return this.#change(id, readStatuses, { status: 'READING' });
  }

  /** Notes how many chats the file has. */
  noteTotal(id: string, totalCount: number): Promise<boolean> {
    return this.#change(id, readStatuses, { totalCount });
  }

  /**
   * Brings a chat of the file, in one transaction with the place behind it: a job that is cut off, and another that takes over, bring it once. One that
   * its person has from an earlier import is not brought again.
   */
  async bring(id: string, place: ImportPlace, chat: NewImportedChat, omissions: readonly NewOmission[]): Promise<BroughtChat> {
    const result = await this.db.transaction(async (tx): Promise<BroughtChat> => {
      const row = await lockImport(tx, id);
      if (row?.status !== 'READING') return 'stopped';
      if (row.windowStart !== place.start || row.windowDone !== place.done) return 'passed';
      const goneReason = await findGone(tx, row);
      if (goneReason !== undefined) return goneReason;
      await lockRow(tx, 'users', row.userId);
      const isExisting = await hasOrigin(tx, row, chat.origin);
      if (!isExisting)
        await addImportedChat(tx, { ...chat, importId: id, orgId: row.orgId, userId: row.userId, agentId: row.agentId });
      const counts = isExisting
        ? { existingCount: { increment: 1 } }
        : { importedCount: { increment: 1 }, messageCount: { increment: chat.messages.length } };
      const merged = isExisting ? {} : { omissions: merge(row.omissions, omissions) };
      const data = { ...counts, ...merged, format: chat.format, windowDone: place.done + 1 };
      await tx.prisma.chatImport.update({ where: { id }, data });
      return isExisting ? 'existing' : 'imported';
    });
    if (result === 'imported') this.signals.publish('chat-changed', chat.id);
    if (result === 'imported' || result === 'existing') this.#announce(id);
    return result;
  }

  /** Passes a chat over, as `bring` does, and notes why. */
  leaveOut(id: string, place: ImportPlace, format: ChatImportFormat, omission: NewOmission): Promise<boolean> {
    return this.#advance(id, place, { start: place.start, done: place.done + 1 }, [omission], format);
  }

  /** Goes on behind a window. @param omissions  chats of the window that could not be read. */
  endWindow(id: string, place: ImportPlace, next: number, omissions: readonly NewOmission[]): Promise<boolean> {
    return this.#advance(id, place, { start: next, done: 0 }, omissions);
  }

  /** Ends it; whoever asked is told of the error. @param from  only while it has one of these statuses. */
  async end(
    id: string,
    from: readonly ChatImportStatus[],
    changes: {
      readonly status: ChatImportStatus;
      readonly endedAt: Date;
      readonly error?: string;
      readonly retainedCount?: number;
    },
  ): Promise<boolean> {
    return this.#change(id, from, { ...changes, blobKey: null });
  }

  /** Begins to undo. @returns false when it is under way, or was undone. */
  beginUndo(id: string): Promise<boolean> {
    return this.#change(id, ['DONE', 'FAILED', 'CANCELLED', 'UNDONE'], { status: 'UNDOING', endedAt: null, error: null });
  }

  /** Chats that it brought and that are not deleted, by id. */
  async chatsOf(
    importId: string,
    after: string,
    limit: number,
  ): Promise<readonly { readonly id: string; readonly isContinued: boolean }[]> {
    const rows = await this.db.prisma.chatOrigin.findMany({
      where: { importId, chatId: { gt: after }, chat: { deletedAt: null } },
      orderBy: { chatId: 'asc' },
      take: limit,
      select: {
        chatId: true,
        chat: { select: { lastRunId: true, messages: { where: { runId: { not: null } }, take: 1, select: { id: true } } } },
      },
    });
    return rows.map(({ chatId, chat: { lastRunId, messages } }) => ({
      id: chatId,
      isContinued: lastRunId !== null || messages.length > 0,
    }));
  }

  /** Imports whose jobs have given up. */
  async abandoned(before: Date, limit: number): Promise<readonly ChatImport[]> {
    const where = { endedAt: null, status: { in: openStatuses }, updatedAt: { lt: before } };
    return (await this.db.prisma.chatImport.findMany({ where, take: limit })).map(toImport);
  }

  /** The imports that chats come from, by chat. */
  async ofChats(chatIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const where = { chatId: { in: [...chatIds] }, importId: { not: null } };
    const rows = await this.db.prisma.chatOrigin.findMany({ where, select: { chatId: true, importId: true } });
    return new Map(rows.flatMap(({ chatId, importId }) => (importId === null ? [] : [[chatId, importId] as const])));
  }

  async #advance(
    id: string,
    from: ImportPlace,
    to: ImportPlace,
    omissions: readonly NewOmission[],
    format?: ChatImportFormat,
  ): Promise<boolean> {
    const isAdvanced = await this.db.transaction(async (tx) => {
      const row = await lockImport(tx, id);
      if (row?.status !== 'READING') return false;
      if (row.windowStart !== from.start || row.windowDone !== from.done) return true;
      const data = { windowStart: to.start, windowDone: to.done, omissions: merge(row.omissions, omissions) };
      await tx.prisma.chatImport.update({ where: { id }, data: { ...data, ...(format === undefined ? {} : { format }) } });
      return true;
    });
    if (isAdvanced) this.#announce(id);
    return isAdvanced;
  }

  async #change(id: string, from: readonly string[], data: Prisma.ChatImportUpdateManyMutationInput): Promise<boolean> {
    const { count } = await this.db.prisma.chatImport.updateMany({ where: { id, status: { in: [...from] } }, data });
    if (count > 0) this.#announce(id);
    return count > 0;
  }

  #announce(id: string): void {
    this.signals.publish('chat-import-changed', id);
  }
}

async function findGone(
  { prisma }: Transaction,
  { orgId, userId, agentId }: ImportOwner & { readonly agentId: string | null },
): Promise<GoneReason | undefined> {
  if ((await prisma.membership.count({ where: { orgId, userId } })) === 0) return 'person-gone';
  const isThere = agentId !== null && (await prisma.agent.count({ where: { id: agentId, isDeleted: false } })) > 0;
  return isThere ? undefined : 'agent-gone';
}

async function lockImport(tx: Transaction, id: string) {
  await lockRow(tx, 'chat_imports', id);
  return tx.prisma.chatImport.findUnique({ where: { id } });
}

/** One entry a kind, with the names of the first chats. */
function merge(stored: unknown, added: readonly NewOmission[]): Prisma.InputJsonArray {
  const byKind = new Map((stored as readonly ChatImportOmission[]).map((omission) => [omission.kind, omission]));
  for (const { kind, count, chatName } of added) {
    const before = byKind.get(kind) ?? { kind, count: 0, chatNames: [] };
    const isNamed = chatName !== '' && before.chatNames.length < chatNamesMax && !before.chatNames.includes(chatName);
    const chatNames = isNamed ? [...before.chatNames, chatName] : before.chatNames;
    byKind.set(kind, { kind, count: before.count + count, chatNames });
  }
  return [...byKind.values()] as unknown as Prisma.InputJsonArray;
}

type ImportRow = Omit<ChatImport, 'status' | 'format' | 'omissions' | 'readCount'> & {
  readonly status: string;
  readonly format: string | null;
  readonly omissions: unknown;
  readonly windowStart: number;
  readonly windowDone: number;
};

function toImport({ windowStart, windowDone, ...row }: ImportRow): ChatImport {
  return {
    ...row,
    status: row.status as ChatImportStatus,
    format: row.format as ChatImportFormat | null,
    omissions: row.omissions as readonly ChatImportOmission[],
    readCount: windowStart + windowDone,
  };
}
