import { Store } from '../../ground/store.ts';

/** A client that has ended its session does not come back after this. */
const keptMs = 30 * 86_400_000;

/** Sessions of MCP clients that have ended, kept like used tickets: no session has a row while it lives, so any instance serves it. */
export class EndedSessionStore extends Store {
  /** @param id  a hash of the session and its key. */
  async add(id: string): Promise<void> {
    const now = Date.now();
    await this.db.prisma.usedTicket.deleteMany({ where: { expiresAt: { lt: new Date(now) } } });
    await this.db.prisma.usedTicket.createMany({ data: [{ id, expiresAt: new Date(now + keptMs) }], skipDuplicates: true });
  }

  async has(id: string): Promise<boolean> {
    return (await this.db.prisma.usedTicket.findUnique({ where: { id }, select: { id: true } })) !== null;
  }
}
