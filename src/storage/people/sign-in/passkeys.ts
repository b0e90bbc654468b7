import { type Page, type PageRequest, pageOf, timeKey } from '../../../entities/ground/page.ts';
import type { AccessLevel } from '../../../entities/people/caller.ts';
import type { Passkey } from '../../../entities/people/passkey.ts';
import { settled } from '../../ground/conflicts.ts';
import type { Database } from '../../ground/database.ts';
import { newestFirst } from '../../ground/lists/paging.ts';

/** Passkeys of people, and the challenges that their devices sign. */
export interface PasskeyStore {
  /** @throws DomainError CONFLICT when the device's key is stored already. */
  create(passkey: Passkey): Promise<Passkey>;
  findByCredential(credentialId: string): Promise<Passkey | undefined>;
  /** Those of a user among `ids`, in any order. */
  findMany(ids: readonly string[], userId: string): Promise<readonly Passkey[]>;
  /** Newest first. */
  list(userId: string, page: PageRequest): Promise<Page<Passkey>>;
  count(userId: string): Promise<number>;
  /** What its devices call the passkeys of a user. */
  credentialIdsOf(userId: string): Promise<readonly string[]>;
  /** @returns undefined when the user has no such passkey. */
  rename(id: string, userId: string, name: string): Promise<Passkey | undefined>;
  delete(id: string, userId: string): Promise<Passkey | undefined>;
  /** Notes a use. @returns false when the passkey is gone, or its device has counted further since. */
  noteUse(id: string, counter: number, at: Date): Promise<boolean>;
  addChallenge(challenge: { readonly hash: string; readonly userId: string | null; readonly expiresAt: Date }): Promise<void>;
  /** Uses a challenge up. @returns false for one that is unknown, used, expired, or of another user: of two calls at one moment one gets true. */
  takeChallenge(hash: string, userId: string | null, at: Date): Promise<boolean>;
  /** Deletes challenges that have expired. */
  sweep(at: Date): Promise<void>;
}

export function createPasskeyStore(db: Database): PasskeyStore {
  return {
    async create(passkey) {
      const data = {
        ...passkey,
        transports: [...passkey.transports],
        orgIds: [...passkey.orgIds],
        counter: BigInt(passkey.counter),
      };
      return passkeyOf(await settled(db.prisma.passkey.create({ data }), 'passkey'));
    },
    async findByCredential(credentialId) {
      const row = await db.prisma.passkey.findUnique({ where: { credentialId } });
      return row === null ? undefined : passkeyOf(row);
    },
    findMany: async (ids, userId) =>
      (await db.prisma.passkey.findMany({ where: { id: { in: [...ids] }, userId } })).map(passkeyOf),
    async list(userId, page) {
      const where = { userId };
      const rows = await db.prisma.passkey.findMany(newestFirst(where, page));
      return pageOf(rows.map(passkeyOf), page, timeKey, (take) => db.prisma.passkey.count({ where, take }));
    },
    count: (userId) => db.prisma.passkey.count({ where: { userId } }),
    async credentialIdsOf(userId) {
      const rows = await db.prisma.passkey.findMany({ where: { userId }, select: { credentialId: true }, take: idsMax });
      return rows.map(({ credentialId }) => credentialId);
    },
    async rename(id, userId, name) {
      const [row] = await db.prisma.passkey.updateManyAndReturn({ where: { id, userId }, data: { name } });
      return row === undefined ? undefined : passkeyOf(row);
    },
    async delete(id, userId) {
      const row = await db.prisma.passkey.findFirst({ where: { id, userId } });
      if (row === null || (await db.prisma.passkey.deleteMany({ where: { id, userId } })).count === 0) return undefined;
      return passkeyOf(row);
    },
    async noteUse(id, counter, lastUsedAt) {
      const where = { id, counter: { lte: BigInt(counter) } };
      return (await db.prisma.passkey.updateMany({ where, data: { counter: BigInt(counter), lastUsedAt } })).count === 1;
    },
    async addChallenge(data) {
      await db.prisma.passkeyChallenge.create({ data });
    },
    async takeChallenge(hash, userId, at) {
      return (await db.prisma.passkeyChallenge.deleteMany({ where: { hash, userId, expiresAt: { gt: at } } })).count === 1;
    },
    async sweep(at) {
      await db.prisma.passkeyChallenge.deleteMany({ where: { expiresAt: { lt: at } } });
    },
  };
}

/** More than a user may have. */
const idsMax = 100;

function passkeyOf(row: Omit<Passkey, 'counter' | 'level'> & { readonly counter: bigint; readonly level: string }): Passkey {
  return { ...row, counter: Number(row.counter), level: row.level as AccessLevel };
}
