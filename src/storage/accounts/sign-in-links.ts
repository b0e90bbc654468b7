import type { AccessLevel } from '../../entities/accounts/caller.ts';
import type { SignInLink } from '../../entities/accounts/session.ts';
import type { Database } from '../database/database.ts';

/** Links that sign one person in, once. */
export interface SignInLinkStore {
  create(link: SignInLink): Promise<void>;
  /** Whom a link signs in that is neither used nor expired. */
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
}

export function createSignInLinkStore(db: Database): SignInLinkStore {
  return {
    async create(link) {
      await db.prisma.signInLink.create({ data: link });
    },
    async find(hash, at) {
      const where = { hash, usedAt: null, expiresAt: { gt: at } };
      const select = { id: true, userId: true, orgId: true, level: true };
      const row = await db.prisma.signInLink.findFirst({ where, select });
      return row === null ? undefined : { ...row, level: row.level as AccessLevel };
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
