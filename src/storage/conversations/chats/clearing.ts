import type { Transaction } from '../../ground/database.ts';
import { deleteBinnedRuns, deleteRuns } from '../runs/binned.ts';

/** Messages that people see. The agent's counter counts these. */
export const spoken = { role: { in: ['user', 'assistant'] }, isHidden: false };

/** What was said in a chat, once it is removed. */
export interface ClearedTurns {
  /** How many messages the agent's counter counted. */
  readonly messageCount: number;
  readonly runIds: readonly string[];
}

/** Removes all messages of a chat with its runs; the ledger stays. The chat must be locked. */
export async function clearTurns(tx: Transaction, chatId: string): Promise<ClearedTurns> {
  const runIds = await clearRuns(tx, chatId);
  const messageCount = await countSpoken(tx, chatId);
  await tx.prisma.message.deleteMany({ where: { chatId } });
  return { messageCount, runIds };
}

/** What the agent's counter counts of a chat. */
export function countSpoken({ prisma }: Transaction, chatId: string): Promise<number> {
  return prisma.message.count({ where: { chatId, ...spoken } });
}

/** Removes all runs of a chat, those in the bin too; its messages and the ledger stay. The chat must be locked. @returns their ids. */
async function clearRuns(tx: Transaction, chatId: string): Promise<readonly string[]> {
  const runs = await tx.prisma.run.findMany({ where: { chatId }, select: { id: true } });
  const runIds = [...runs.map(({ id }) => id), ...(await deleteBinnedRuns(tx, chatId))];
  await deleteRuns(tx, runIds);
  return runIds;
}
