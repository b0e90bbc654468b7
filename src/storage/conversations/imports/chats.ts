// Raw SQL: all messages of an imported chat are written by one statement, with their places in its tree.
import type { ChatImportFormat } from '../../../entities/conversations/chats/import.ts';
import { noteMessageCount } from '../../agents/counters.ts';
import type { Transaction } from '../../ground/database.ts';

export interface ImportedMessage {
  readonly id: string;
  readonly createdAt: Date;
  readonly parentId: string | null;
  readonly isActive: boolean;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly status: 'completed' | 'incomplete';
  readonly modelName: string | null;
}

export interface NewImportedChat {
  readonly id: string;
  readonly origin: string;
  readonly format: ChatImportFormat;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly name: string;
  /** Each behind the one that it follows. */
  readonly messages: readonly ImportedMessage[];
}

interface PlacedChat extends NewImportedChat {
  readonly importId: string;
  readonly orgId: string;
  readonly userId: string;
  readonly agentId: string | null;
}

/** Whether a live chat of the person comes from there, or is what was exported. The person's row must be locked, so that no other import brings it meanwhile. */
export async function hasOrigin(
  { prisma }: Transaction,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
  origin: string,
): Promise<boolean> {
  const where = { orgId, userId, deletedAt: null };
  const [kind, id] = origin.split(':', 2);
  if (
    kind === 'PARLEY' &&
    id !== undefined &&
    (await prisma.chat.findFirst({ where: { ...where, id }, select: { id: true } })) !== null
  ) {
    return true;
  }
  const found = await prisma.chatOrigin.findFirst({
    where: { orgId, userId, origin, chat: { deletedAt: null } },
    select: { chatId: true },
  });
  return found !== null;
}

/** Writes a chat with all its branches. Nobody else reads it before the transaction ends. */
export async function addImportedChat(tx: Transaction, chat: PlacedChat): Promise<void> {
  const { id, createdAt, updatedAt, orgId, userId, agentId, name, origin, importId } = chat;
  await tx.prisma.chat.create({ data: { id, createdAt, updatedAt, orgId, userId, agentId, name } });
  await tx.prisma.chatOrigin.create({ data: { chatId: id, orgId, userId, origin, importId } });
  const rows = chat.messages.map((message, ordinal) => ({ ...message, ordinal }));
  await tx.execute(
    `insert into messages (id, "createdAt", "updatedAt", "chatId", ordinal, "parentId", "isActive", role, content, status, "modelName")
     select m.id, m."createdAt", m."createdAt", $1, m.ordinal, m."parentId", m."isActive", m.role, m.content, m.status, m."modelName"
     from jsonb_to_recordset($2::jsonb) as m(id text, "createdAt" timestamptz, ordinal int, "parentId" text, "isActive" boolean, role text,
       content text, status text, "modelName" text)`,
    [id, JSON.stringify(rows)],
  );
  await noteMessageCount(tx, agentId, rows.length);
}
