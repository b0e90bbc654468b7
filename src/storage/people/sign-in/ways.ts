import type { SessionEnd } from '../../../entities/people/session.ts';
import type { Database } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';

/** A password or a passkey. */
export type OwnWay = { readonly passwordOf: string } | { readonly passkeyId: string };

/** Which organizations passwords and passkeys open. */
export interface WayStore {
  /** Where a user acts after a sign-in by a way that opens `orgIds`: the organization of the last session, else that of the oldest membership. */
  findPlace(userId: string, orgIds: readonly string[]): Promise<string | undefined>;
  /** The way in by which a session was begun; undefined for links, providers and others that belong to one organization. */
  findOfSession(sessionId: string): Promise<OwnWay | undefined>;
  /** From now on the way opens this organization too. */
  confirm(way: OwnWay, orgId: string): Promise<void>;
  /** Whether somebody has proved to have the mailbox of a user. */
  isEmailVerified(userId: string): Promise<boolean>;
  noteEmailVerified(userId: string, at: Date): Promise<void>;
  /** What `takeAway` would end. */
  heldBy(userId: string): Promise<readonly HeldWay[]>;
  /** Deletes password, passkeys and open links of a user, and ends all sessions. Of an operator those stay that reach the installation. */
  takeAway(userId: string, at: Date): Promise<void>;
}

export type HeldWay = 'password' | 'passkeys' | 'sessions' | 'links';

const placesMax = 1_000;

export function createWayStore(db: Database, signals: Signals): WayStore {
  /** An operator sets a way that reaches the installation in a session of that reach, which no organization gives. */
  async function takenOf(userId: string): Promise<{ readonly userId: string; readonly level?: { readonly not: string } }> {
    const isOperator = (await db.prisma.user.count({ where: { id: userId, isOperator: true } })) > 0;
    return isOperator ? { userId, level: { not: 'INSTANCE' } } : { userId };
  }

  return {
    async findPlace(userId, orgIds) {
      const memberships = await db.prisma.membership.findMany({
        where: { userId, orgId: { in: [...orgIds] } },
        select: { orgId: true },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
        take: placesMax,
      });
      const open = memberships.map(({ orgId }) => orgId);
      const last = await db.prisma.session.findFirst({
        where: { userId, orgId: { in: open } },
        select: { orgId: true },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      });
      return last?.orgId ?? open[0];
    },
    async findOfSession(id) {
      const select = { userId: true, method: true, passkeyId: true };
      const found = await db.prisma.session.findUnique({ where: { id }, select });
      if (found?.method === 'PASSWORD') return { passwordOf: found.userId };
      return typeof found?.passkeyId === 'string' ? { passkeyId: found.passkeyId } : undefined;
    },
    async confirm(way, orgId) {
      const data = { orgIds: { push: orgId } };
      const isNew = { NOT: { orgIds: { has: orgId } } };
      if ('passwordOf' in way) await db.prisma.password.updateMany({ where: { userId: way.passwordOf, ...isNew }, data });
      else await db.prisma.passkey.updateMany({ where: { id: way.passkeyId, ...isNew }, data });
    },
    isEmailVerified: async (id) => (await db.prisma.user.count({ where: { id, emailVerifiedAt: { not: null } } })) > 0,
    async noteEmailVerified(id, at) {
      await db.prisma.user.updateMany({ where: { id }, data: { emailVerifiedAt: at } });
    },
    async heldBy(userId) {
      const where = await takenOf(userId);
      const counts = {
        password: await db.prisma.password.count({ where }),
        passkeys: await db.prisma.passkey.count({ where }),
        sessions: await db.prisma.session.count({ where: { ...where, endedAt: null } }),
        links: await db.prisma.signInLink.count({ where: { ...where, usedAt: null } }),
      };
      return (['password', 'passkeys', 'sessions', 'links'] as const).filter((way) => counts[way] > 0);
    },
    async takeAway(userId, at) {
      const where = await takenOf(userId);
      const data = { endedAt: at, endedBy: 'REVOKED' satisfies SessionEnd };
      await db.prisma.password.deleteMany({ where });
      await db.prisma.passkey.deleteMany({ where });
      await db.prisma.session.updateMany({ where: { ...where, endedAt: null }, data });
      await db.prisma.signInLink.deleteMany({ where: { ...where, usedAt: null } });
      signals.publish('user-changed', userId);
    },
  };
}
