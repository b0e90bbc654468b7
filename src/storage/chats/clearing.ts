import type { Transaction } from '../database/database.ts';

/** Messages that people see. The agent's counter counts these. */
export const spoken = { role: { in: ['user', 'assistant'] }, isHidden: false };

/** Removes all messages of a chat with its runs; the ledger stays. The chat must be locked. @returns how many messages the agent's counter counted. */
export async function clearTurns({ prisma }: Transaction, chatId: string): Promise<number> {
  const runs = await prisma.run.findMany({ where: { chatId }, select: { id: true } });
  const ofRuns = { runId: { in: runs.map(({ id }) => id) } };
  // Delete the runs first: an active run writes its events under a lock on its row, and would leave some of them behind for ever.
  await prisma.run.deleteMany({ where: { chatId } });
  await prisma.runEventBatch.deleteMany({ where: ofRuns });
  await prisma.responseItem.deleteMany({ where: ofRuns });
  const messageCount = await prisma.message.count({ where: { chatId, ...spoken } });
  await prisma.message.deleteMany({ where: { chatId } });
  return messageCount;
}
