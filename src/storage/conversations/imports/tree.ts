import type { ChatMessage } from '../../../entities/conversations/chats/chat.ts';
import type { Database } from '../../ground/database.ts';
import { requireShortList } from '../../ground/lists/paging.ts';

/** A message with the model that wrote it, as far as that is known. */
export type TreeMessage = ChatMessage & { readonly modelName: string | null };

/**
 * All messages of a chat on all branches, also hidden ones, in the order in which they were written. Cost: three statements.
 *
 * @throws DomainError REPLY_TOO_LARGE when they do not fit a reply.
 */
export async function readTree(db: Database, chatId: string): Promise<readonly TreeMessage[]> {
  const { message, run } = db.prisma;
  const { _sum: sum } = await message.aggregate({ where: { chatId }, _sum: { rowBytes: true } });
  requireShortList(db, sum.rowBytes);
  const rows = (await message.findMany({ where: { chatId }, orderBy: { ordinal: 'asc' } })) as unknown as readonly TreeMessage[];
  const runIds = [...new Set(rows.flatMap(({ runId }) => (runId === null ? [] : [runId])))];
  const runs = await run.findMany({ where: { chatId, id: { in: runIds } }, select: { id: true, modelId: true } });
  const models = new Map(runs.map(({ id, modelId }) => [id, modelId]));
  return rows.map((row) => ({ ...row, modelName: row.modelName ?? models.get(row.runId ?? '') ?? null }));
}
