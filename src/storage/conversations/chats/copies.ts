import type { NewMessage } from '../../../entities/conversations/chats/chat.ts';
import { noteMessageCount } from '../../agents/counters.ts';
import { type Message, Prisma } from '../../generated/client.ts';
import type { Transaction } from '../../ground/database.ts';
import { lockChat } from '../../ground/sql/locks.ts';
import { spoken } from './clearing.ts';

export interface NewCopy {
  readonly id: string;
  readonly createdAt: Date;
  newId(kind: 'message' | 'chatFile'): string;
}

/** Bounds the memory that a copy takes: a chat may be long. */
const messagesAtOnce = 100;

/** See ChatChangeStore.duplicate. */
export async function duplicate(tx: Transaction, chatId: string, { id, createdAt, newId }: NewCopy): Promise<boolean> {
  const { chat, message } = tx.prisma;
  const lockedChat = await lockChat(tx, chatId);
  if (lockedChat === undefined || lockedChat.deletedAt !== null) return false;
  const original = await chat.findUniqueOrThrow({ where: { id: chatId } });
  const {
    pinPosition: _pin,
    activeRunId: _active,
    comparedMessageId: _compared,
    lastRunId: _last,
    answeredAt: _answered,
    archivedAt: _archived,
    userInputs,
    metadata,
    ...own
  } = original;
  const json = { userInputs: userInputs as Prisma.InputJsonObject, metadata: metadata as Prisma.InputJsonObject };
  await chat.create({ data: { ...own, ...json, id, createdAt, updatedAt: createdAt } });
  const fileIds = await copyFiles(tx, chatId, id, () => newId('chatFile'));
  let after = -1;
  let parentId: string | null = null;
  for (;;) {
    const where = { chatId, isActive: true, ordinal: { gt: after } };
    const messages = await message.findMany({ where, orderBy: { ordinal: 'asc' }, take: messagesAtOnce });
    const last = messages.at(-1);
    if (last === undefined) break;
    after = last.ordinal;
    const copies = messages.map((row) => {
      const copy = { ...toCopy(row, fileIds), id: newId('message'), chatId: id, parentId };
      parentId = copy.id;
      return copy;
    });
    await message.createMany({ data: copies });
  }
  await noteMessageCount(tx, lockedChat.agentId, await message.count({ where: { chatId: id, ...spoken } }));
  return true;
}

/** A copy belongs to no run. */
function toCopy(message: Omit<Message, 'rowBytes'>, fileIds: ReadonlyMap<string, string>) {
  const { parts, toolCalls, citations, context, item, ...own } = withFiles(message, fileIds);
  const json = { parts, toolCalls, citations, context, item };
  const columns = Object.fromEntries(Object.entries(json).map(([name, value]) => [name, value ?? Prisma.DbNull]));
  return { ...own, ...(columns as Record<keyof typeof json, Prisma.InputJsonValue>), runId: null };
}

/** The files that a new chat takes over from another one. */
export interface FilesOfOther {
  readonly chatId: string;
  /** Only files that were there at that time; null for all. */
  readonly until: Date | null;
  newId(): string;
}

/** Copies the files of another chat into a new one. @returns the first messages of the new chat, with the ids of the copies. */
export async function takeOverFiles(
  tx: Transaction,
  toChatId: string,
  { chatId, until, newId }: FilesOfOther,
  messages: readonly NewMessage[],
): Promise<readonly NewMessage[]> {
  // As in `duplicate`: a deletion of the other chat's files comes before or after, so that no copy names bytes that are gone.
  await lockChat(tx, chatId);
  const ids = await copyFiles(tx, chatId, toChatId, newId, until);
  return messages.map((message) => withFiles(message, ids));
}

/** Copies the completed files of a chat. @returns the new id of each. */
async function copyFiles(
  tx: Transaction,
  fromChatId: string,
  toChatId: string,
  newId: () => string,
  until: Date | null = null,
): Promise<ReadonlyMap<string, string>> {
  const condition = until === null ? {} : { createdAt: { lte: until } };
  return copyMatchingFiles(tx, fromChatId, toChatId, condition, newId);
}

/** Copies those of some files of a chat that are completed, without what its user noted at them. @param newIds  by the ids of the files. @returns the new id of each that was copied. */
export async function copyChosenFiles(
  tx: Transaction,
  fromChatId: string,
  toChatId: string,
  newIds: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  if (newIds.size === 0) return newIds;
  const chosen = { id: { in: [...newIds.keys()] } };
  return copyMatchingFiles(tx, fromChatId, toChatId, chosen, (id) => newIds.get(id) ?? id, false);
}

async function copyMatchingFiles(
  { prisma: { chatFile } }: Transaction,
  fromChatId: string,
  toChatId: string,
  condition: Prisma.ChatFileWhereInput,
  newId: (id: string) => string,
  keepsMetadata = true,
): Promise<ReadonlyMap<string, string>> {
  const files = await chatFile.findMany({
    where: { chatId: fromChatId, status: 'UPLOADED', deletedAt: null, ...condition },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  const ids = new Map(files.map(({ id }) => [id, newId(id)]));
  const copies = files.map(({ id, metadata, ...file }) => {
    const own = keepsMetadata ? (metadata as Prisma.InputJsonObject) : {};
    return { ...file, id: ids.get(id) ?? id, chatId: toChatId, metadata: own };
  });
  await chatFile.createMany({ data: copies });
  return ids;
}

/** Results of tools tell the model ids of files: in a copied message they must be those of the copies, or no tool finds them. */
function withFiles<M extends { readonly content: string; readonly parts: unknown; readonly context: unknown }>(
  message: M,
  ids: ReadonlyMap<string, string>,
): M {
  if (ids.size === 0) return message;
  const { content, parts, context } = message;
  const pattern = new RegExp([...ids.keys()].map((id) => RegExp.escape(id)).join('|'), 'g');
  const text = JSON.stringify({ content, parts, context }).replaceAll(pattern, (id) => ids.get(id) ?? id);
  return { ...message, ...(JSON.parse(text) as Pick<M, 'content' | 'parts' | 'context'>) };
}
