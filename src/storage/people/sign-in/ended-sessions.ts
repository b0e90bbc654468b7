import type { Database } from '../../ground/database.ts';

export interface EndedSessionStore {
  /** @param id  a hash of the session and its key. */
  add(id: string): Promise<void>;
  has(id: string): Promise<boolean>;
}

/** A client that has ended its session does not come back after this. */
const keptMs = 30 * 86_400_000;

/** Sessions of MCP clients that have ended, kept like used tickets: no session has a row while it lives, so any instance serves it. */
export function createEndedSessionStore(db: Database): EndedSessionStore {
  return {
    async add(id) {
      const now = Date.now();
      await db.prisma.usedTicket.deleteMany({ where: { expiresAt: { lt: new Date(now) } } });
      await db.prisma.usedTicket.createMany({ data: [{ id, expiresAt: new Date(now + keptMs) }], skipDuplicates: true });
    },
    has: async (id) => (await db.prisma.usedTicket.findUnique({ where: { id }, select: { id: true } })) !== null,
  };
}
