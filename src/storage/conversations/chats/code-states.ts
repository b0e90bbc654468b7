import { lockChat } from '../../ground/sql/locks.ts';
import { Store } from '../../ground/store.ts';

/** Where the state of the programs of each chat lies: see engine/tools/code/states.ts. */
export class CodeStateStore extends Store {
  /** @returns the key of the blob; undefined when there is no state, or it has expired. */
  async find(chatId: string, now: Date): Promise<string | undefined> {
    const state = await this.db.prisma.codeState.findFirst({ where: { chatId, expiresAt: { gt: now } } });
    return state?.blobKey;
  }

  /** @returns the key of the blob before it, if any; false when the chat is deleted. */
  set(chatId: string, blobKey: string, expiresAt: Date): Promise<{ readonly before: string | undefined } | false> {
    return this.db.transaction(async (tx) => {
      const chat = await lockChat(tx, chatId);
      if (chat === undefined || chat.deletedAt !== null) return false;
      const before = await tx.prisma.codeState.findUnique({ where: { chatId } });
      const data = { blobKey, expiresAt };
      await tx.prisma.codeState.upsert({ where: { chatId }, create: { chatId, ...data }, update: data });
      return { before: before?.blobKey };
    });
  }

  /** Deletes expired states. @returns the keys of their blobs. */
  expire(now: Date, limit: number): Promise<readonly string[]> {
    return this.db.transaction(async ({ prisma: own }) => {
      const expiredStates = await own.codeState.findMany({ where: { expiresAt: { lte: now } }, take: limit });
      const keys = expiredStates.map(({ blobKey }) => blobKey);
      await own.codeState.deleteMany({ where: { blobKey: { in: keys }, expiresAt: { lte: now } } });
      return keys;
    });
  }
}
