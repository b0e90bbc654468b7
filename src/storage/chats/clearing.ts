import type { Transaction } from '../database/prisma.ts';

/** Messages that people see; those of an agent are counted. */
export const spoken = { role: { in: ['user', 'assistant'] }, isHidden: false };

/** Removes all that was said in a chat, with its runs; the ledger stays. The chat must be locked. @returns how many messages were counted. */
export async function clearTurns({ prisma }: Transaction, chatId: string): Promise<number> {
  const runs = await prisma.run.findMany({ where: { chatId }, select: { id: true } });
  const ofRuns = { runId: { in: runs.map(({ id }) => id) } };
  // The runs first: what is at work writes its events behind a lock on its run, and would leave some of them here for ever.
  await prisma.run.deleteMany({ where: { chatId } });
  await prisma.runEventBatch.deleteMany({ where: ofRuns });
  await prisma.responseItem.deleteMany({ where: ofRuns });
  const messageCount = await prisma.message.count({ where: { chatId, ...spoken } });
  await prisma.message.deleteMany({ where: { chatId } });
  return messageCount;
}
