import type { AccessLevel } from '../../../entities/people/caller.ts';
import type { SignInLink } from '../../../entities/people/session.ts';
import type { Database } from '../../ground/database.ts';

/** Links that sign one person in, once. */
export interface SignInLinkStore {
  create(link: SignInLink): Promise<void>;
  /** Whom a link signs in that is neither used nor expired; undefined too when the membership has ended that it was made for. */
  find(hash: string, at: Date): Promise<LinkedPerson | undefined>;
  /** Uses the link up. @returns false for one that is used or expired: of two calls at one moment one gets true. */
  use(id: string, at: Date): Promise<boolean>;
  /** Deletes what expired before. */
  sweep(before: Date): Promise<void>;
}

export interface LinkedPerson {
  /** Of the link. */
  readonly id: string;
  readonly userId: string;
  readonly orgId: string;
  readonly level: AccessLevel;
  readonly createdByUserId: string | null;
  readonly createdByKeyId: string | null;
}

export function createSignInLinkStore(db: Database): SignInLinkStore {
  return {
    async create(link) {
      const membershipId = await membershipOf(db, link);
      await db.prisma.signInLink.create({ data: { ...link, membershipId: membershipId ?? null } });
    },
    async find(hash, at) {
      const where = { hash, usedAt: null, expiresAt: { gt: at } };
      const made = { level: true, createdByUserId: true, createdByKeyId: true, membershipId: true };
      const row = await db.prisma.signInLink.findFirst({ where, select: { id: true, userId: true, orgId: true, ...made } });
      if (row === null) return undefined;
      const { membershipId, level, ...link } = row;
      if (membershipId !== null && membershipId !== (await membershipOf(db, row))) return undefined;
      return { ...link, level: level as AccessLevel };
    },
    async use(id, at) {
      const where = { id, usedAt: null, expiresAt: { gt: at } };
      return (await db.prisma.signInLink.updateMany({ where, data: { usedAt: at } })).count === 1;
    },
    async sweep(before) {
      await db.prisma.signInLink.deleteMany({ where: { expiresAt: { lt: before } } });
    },
  };
}

async function membershipOf(
  { prisma }: Database,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
): Promise<string | undefined> {
  const where = { orgId_userId: { orgId, userId } };
  return (await prisma.membership.findUnique({ where, select: { id: true } }))?.id;
}
