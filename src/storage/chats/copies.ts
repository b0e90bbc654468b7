// Raw SQL: the copied rows do not leave the database.
import type { PromptPart } from '../../entities/chats/chat.ts';
import { addToCounters } from '../agents/counters.ts';
import type { Transaction } from '../database/database.ts';
import { lockChat } from '../database/sql/locks.ts';

export interface NewCopy {
  readonly id: string;
  readonly createdAt: Date;
  newId(kind: 'message' | 'chatFile'): string;
}

/** See ChatChangeStore.duplicate. */
export async function duplicate(tx: Transaction, chatId: string, { id, createdAt, newId }: NewCopy): Promise<boolean> {
  const chat = await lockChat(tx, chatId);
  if (chat === undefined || chat.deletedAt !== null) return false;
  await tx.execute(
    `insert into chats (id, "createdAt", "updatedAt", "orgId", "userId", "agentId", name, "modelId", "userInputs", "isVisibleToEditors", summary, metadata)
     select $2, $3, $3, "orgId", "userId", "agentId", name, "modelId", "userInputs", "isVisibleToEditors", summary, metadata from chats where id = $1`,
    [chatId, id, createdAt],
  );
  const fileIds = await copyFiles(tx, chatId, id, () => newId('chatFile'));
  const messages = await tx.query<{ id: string; parts: readonly PromptPart[] | null; isSpoken: boolean }>(
    `select id, parts, (role in ('user', 'assistant') and not "isHidden") as "isSpoken" from messages where "chatId" = $1 order by ordinal`,
    [chatId],
  );
  const copies = messages.map(({ id: from, parts }) => ({
    from,
    to: newId('message'),
    parts: parts?.map((part) => (part.type === 'id' ? { ...part, id: fileIds.get(part.id) ?? part.id } : part)) ?? null,
  }));
  await tx.execute(
    `insert into messages (id, "createdAt", "updatedAt", "chatId", ordinal, role, content, parts, "toolCalls", "toolCallId",
       "toolStatus", citations, status, context, "isHidden", compression, item)
     select copy."to", m."createdAt", m."updatedAt", $1, m.ordinal, m.role, m.content, copy.parts, m."toolCalls", m."toolCallId",
       m."toolStatus", m.citations, m.status, m.context, m."isHidden", m.compression, m.item
     from jsonb_to_recordset($2::jsonb) as copy("from" text, "to" text, parts jsonb) join messages m on m.id = copy."from"`,
    [id, JSON.stringify(copies)],
  );
  await renameFiles(tx, id, fileIds);
  await addToCounters(tx, chat.agentId, { messageCount: messages.filter(({ isSpoken }) => isSpoken).length });
  return true;
}

/** The files that a new chat takes over from another one. */
export interface FilesOfOther {
  readonly chatId: string;
  /** Only files that were there at that time; null for all. */
  readonly until: Date | null;
  newId(): string;
}

/** Copies the files of another chat into one that has its messages already. */
export async function takeOverFiles(tx: Transaction, toChatId: string, { chatId, until, newId }: FilesOfOther): Promise<void> {
  // As in `duplicate`: a deletion of the other chat's files comes before or after, so that no copy names bytes that are gone.
  await lockChat(tx, chatId);
  await renameFiles(tx, toChatId, await copyFiles(tx, chatId, toChatId, newId, until));
}

/** Copies the completed files of a chat. @returns the new id of each. */
async function copyFiles(
  tx: Transaction,
  fromChatId: string,
  toChatId: string,
  newId: () => string,
  until: Date | null = null,
): Promise<ReadonlyMap<string, string>> {
  const files = await tx.prisma.chatFile.findMany({
    where: {
      ...{ chatId: fromChatId, status: 'UPLOADED', deletedAt: null },
      ...(until === null ? {} : { createdAt: { lte: until } }),
    },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    select: { id: true },
  });
  const ids = new Map(files.map(({ id }) => [id, newId()]));
  await tx.execute(
    `insert into chat_files (id, "createdAt", "chatId", source, filename, "sizeBytes", "mimeType", metadata, status, "blobKey")
     select copy."to", f."createdAt", $1, f.source, f.filename, f."sizeBytes", f."mimeType", f.metadata, f.status, f."blobKey"
     from jsonb_to_recordset($2::jsonb) as copy("from" text, "to" text) join chat_files f on f.id = copy."from"`,
    [toChatId, JSON.stringify([...ids].map(([from, to]) => ({ from, to })))],
  );
  return ids;
}

/** Results of tools tell the model ids of files: in the copied messages they must be those of the copies, or no tool finds them. */
async function renameFiles(tx: Transaction, chatId: string, ids: ReadonlyMap<string, string>): Promise<void> {
  if (ids.size === 0) return;
  const rows = await tx.query<{ texts: string | null }>(
    `select string_agg(concat(content, parts::text, context::text), '') as texts from messages where "chatId" = $1`,
    [chatId],
  );
  const texts = rows[0]?.texts ?? '';
  for (const [from, to] of ids) {
    if (!texts.includes(from)) continue;
    await tx.execute(
      `update messages set content = replace(content, $2, $3), parts = replace(parts::text, $2, $3)::jsonb,
         context = replace(context::text, $2, $3)::jsonb
       where "chatId" = $1 and position($2 in concat(content, parts::text, context::text)) > 0`,
      [chatId, from, to],
    );
  }
}
