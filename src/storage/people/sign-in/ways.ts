import type { SessionEnd } from '../../../entities/people/session.ts';
import { PublishingStore } from '../../ground/store.ts';

/** A password or a passkey. */
export type OwnWay = { readonly passwordOf: string } | { readonly passkeyId: string };

export type HeldWay = 'password' | 'passkeys' | 'sessions' | 'links';

const placesMax = 1_000;

/** Which organizations passwords and passkeys open. */
export class WayStore extends PublishingStore {
  /** Where a user acts after a sign-in by a way that opens `orgIds`: the organization of the last session, else that of the oldest membership. */
  async findPlace(userId: string, orgIds: readonly string[]): Promise<string | undefined> {
    const memberships = await this.db.prisma.membership.findMany({
      where: { userId, orgId: { in: [...orgIds] } },
      select: { orgId: true },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      take: placesMax,
    });
    const open = memberships.map(({ orgId }) => orgId);
    const last = await this.db.prisma.session.findFirst({
      where: { userId, orgId: { in: open } },
      select: { orgId: true },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    });
    return last?.orgId ?? open[0];
  }

  /** The way in by which a session was begun; undefined for links, providers and others that belong to one organization. */
  async findOfSession(id: string): Promise<OwnWay | undefined> {
    const select = { userId: true, method: true, passkeyId: true };
    const found = await this.db.prisma.session.findUnique({ where: { id }, select });
    if (found?.method === 'PASSWORD') return { passwordOf: found.userId };
    return typeof found?.passkeyId === 'string' ? { passkeyId: found.passkeyId } : undefined;
  }

  /** From now on the way opens this organization too. */
  async confirm(way: OwnWay, orgId: string): Promise<void> {
    const data = { orgIds: { push: orgId } };
    const isNew = { NOT: { orgIds: { has: orgId } } };
    if ('passwordOf' in way) await this.db.prisma.password.updateMany({ where: { userId: way.passwordOf, ...isNew }, data });
    else await this.db.prisma.passkey.updateMany({ where: { id: way.passkeyId, ...isNew }, data });
  }

  /** Whether somebody has proved to have the mailbox of a user. */
  async isEmailVerified(id: string): Promise<boolean> {
    return (await this.db.prisma.user.count({ where: { id, emailVerifiedAt: { not: null } } })) > 0;
  }

  async noteEmailVerified(id: string, at: Date): Promise<void> {
    await this.db.prisma.user.updateMany({ where: { id }, data: { emailVerifiedAt: at } });
  }

  /** What `takeAway` would end. */
  async heldBy(userId: string): Promise<readonly HeldWay[]> {
    const where = await this.#takenOf(userId);
    const counts = {
      password: await this.db.prisma.password.count({ where }),
      passkeys: await this.db.prisma.passkey.count({ where }),
      sessions: await this.db.prisma.session.count({ where: { ...where, endedAt: null } }),
      links: await this.db.prisma.signInLink.count({ where: { ...where, usedAt: null } }),
    };
    return (['password', 'passkeys', 'sessions', 'links'] as const).filter((way) => counts[way] > 0);
  }

  /** Deletes password, passkeys and open links of a user, and ends all sessions and connected clients. Of an operator those stay that reach the installation. */
  async takeAway(userId: string, at: Date): Promise<void> {
    const where = await this.#takenOf(userId);
    const data = { endedAt: at, endedBy: 'REVOKED' satisfies SessionEnd };
    await this.db.prisma.password.deleteMany({ where });
    await this.db.prisma.passkey.deleteMany({ where });
    await this.db.prisma.session.updateMany({ where: { ...where, endedAt: null }, data });
    await this.db.prisma.signInLink.deleteMany({ where: { ...where, usedAt: null } });
    const openClients = { userId, clientId: { not: null }, revokedAt: null };
    await this.db.prisma.apiKey.updateMany({ where: openClients, data: { revokedAt: at, updatedAt: at } });
    this.signals.publish('user-changed', userId);
  }

  /** An operator sets a way that reaches the installation in a session of that reach, which no organization gives. */
  async #takenOf(userId: string): Promise<{ readonly userId: string; readonly level?: { readonly not: string } }> {
    const isOperator = (await this.db.prisma.user.count({ where: { id: userId, isOperator: true } })) > 0;
    return isOperator ? { userId, level: { not: 'INSTANCE' } } : { userId };
  }
}
