import type { Transaction } from '../../ground/database.ts';

/** Messages that people see. The agent's counter counts these. */
export const spoken = { role: { in: ['user', 'assistant'] }, isHidden: false };

/** What was said in a chat, once it is removed. */
export interface ClearedTurns {
  /** How many messages the agent's counter counted. */
  readonly messageCount: number;
  readonly runIds: readonly string[];
}

/** Removes all messages of a chat with its runs; the ledger stays. The chat must be locked. */
export async function clearTurns({ prisma }: Transaction, chatId: string): Promise<ClearedTurns> {
  const runs = await prisma.run.findMany({ where: { chatId }, select: { id: true } });
  const runIds = runs.map(({ id }) => id);
  const ofRuns = { runId: { in: runIds } };
  // Delete the runs first: an active run writes its events under a lock on its row, and would leave some of them behind for ever.
  await prisma.run.deleteMany({ where: { chatId } });
  await prisma.runEventBatch.deleteMany({ where: ofRuns });
  await prisma.responseItem.deleteMany({ where: ofRuns });
  const messageCount = await prisma.message.count({ where: { chatId, ...spoken } });
  await prisma.message.deleteMany({ where: { chatId } });
  return { messageCount, runIds };
}
