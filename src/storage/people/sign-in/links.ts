import type { AccessLevel } from '../../../entities/people/caller.ts';
import type { SignInLink } from '../../../entities/people/session.ts';
import type { Database } from '../../ground/database.ts';
import { Store } from '../../ground/store.ts';

export interface LinkedPerson {
  /** Of the link. */
  readonly id: string;
  readonly userId: string;
  readonly orgId: string;
  readonly level: AccessLevel;
  readonly createdByUserId: string | null;
  readonly createdByKeyId: string | null;
}

/** Links that sign one person in, once. */
export class SignInLinkStore extends Store {
  async create(link: SignInLink): Promise<void> {
    const membershipId = await findMembership(this.db, link);
    await this.db.prisma.signInLink.create({ data: { ...link, membershipId: membershipId ?? null } });
  }

  /** Whom a link signs in that is neither used nor expired; undefined too when the membership has ended that it was made for. */
  async find(hash: string, at: Date): Promise<LinkedPerson | undefined> {
    const where = { hash, usedAt: null, expiresAt: { gt: at } };
    const makerColumns = { level: true, createdByUserId: true, createdByKeyId: true, membershipId: true };
    const row = await this.db.prisma.signInLink.findFirst({
      where,
      select: { id: true, userId: true, orgId: true, ...makerColumns },
    });
    if (row === null) return undefined;
    const { membershipId, level, ...link } = row;
    if (membershipId !== null && membershipId !== (await findMembership(this.db, row))) return undefined;
    return { ...link, level: level as AccessLevel };
  }

  /** Uses the link up. @returns false for one that is used or expired: of two calls at one moment one gets true. */
  async use(id: string, at: Date): Promise<boolean> {
    const where = { id, usedAt: null, expiresAt: { gt: at } };
    return (await this.db.prisma.signInLink.updateMany({ where, data: { usedAt: at } })).count === 1;
  }

  /** Deletes what expired before. */
  async sweep(before: Date): Promise<void> {
    await this.db.prisma.signInLink.deleteMany({ where: { expiresAt: { lt: before } } });
  }
}

async function findMembership(
  { prisma }: Database,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
): Promise<string | undefined> {
  const where = { orgId_userId: { orgId, userId } };
  return (await prisma.membership.findUnique({ where, select: { id: true } }))?.id;
}
