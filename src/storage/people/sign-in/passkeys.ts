import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { AccessLevel } from '../../../entities/people/caller.ts';
import type { Passkey } from '../../../entities/people/passkey.ts';
import { settled } from '../../ground/conflicts.ts';
import { newestFirst } from '../../ground/lists/paging.ts';
import { Store } from '../../ground/store.ts';

/** Passkeys of people, and the challenges that their devices sign. */
export class PasskeyStore extends Store {
  /** @throws DomainError CONFLICT when the device's key is stored already. */
  async create(passkey: Passkey): Promise<Passkey> {
    const data = {
      ...passkey,
      transports: [...passkey.transports],
      orgIds: [...passkey.orgIds],
      counter: BigInt(passkey.counter),
    };
    return toPasskey(await settled(this.db.prisma.passkey.create({ data }), 'passkey'));
  }

  async findByCredential(credentialId: string): Promise<Passkey | undefined> {
    const row = await this.db.prisma.passkey.findUnique({ where: { credentialId } });
    return row === null ? undefined : toPasskey(row);
  }

  /** Those of a user among `ids`, in any order. */
  async findMany(ids: readonly string[], userId: string): Promise<readonly Passkey[]> {
    return (await this.db.prisma.passkey.findMany({ where: { id: { in: [...ids] }, userId } })).map(toPasskey);
  }

  /** Newest first. */
  async list(userId: string, page: PageRequest): Promise<Page<Passkey>> {
    const where = { userId };
    const rows = await this.db.prisma.passkey.findMany(newestFirst(where, page));
    return toPage(rows.map(toPasskey), page, timeKey, (take) => this.db.prisma.passkey.count({ where, take }));
  }

  count(userId: string): Promise<number> {
    return this.db.prisma.passkey.count({ where: { userId } });
  }

  /** What its devices call the passkeys of a user. */
  async credentialIdsOf(userId: string): Promise<readonly string[]> {
    const rows = await this.db.prisma.passkey.findMany({ where: { userId }, select: { credentialId: true }, take: idsMax });
    return rows.map(({ credentialId }) => credentialId);
  }

  /** @returns undefined when the user has no such passkey. */
  async rename(id: string, userId: string, name: string): Promise<Passkey | undefined> {
    const [row] = await this.db.prisma.passkey.updateManyAndReturn({ where: { id, userId }, data: { name } });
    return row === undefined ? undefined : toPasskey(row);
  }

  async delete(id: string, userId: string): Promise<Passkey | undefined> {
    const row = await this.db.prisma.passkey.findFirst({ where: { id, userId } });
    if (row === null || (await this.db.prisma.passkey.deleteMany({ where: { id, userId } })).count === 0) return undefined;
    return toPasskey(row);
  }

  /** Notes a use. @returns false when the passkey is gone, or its device has counted further since. */
  async noteUse(id: string, counter: number, lastUsedAt: Date): Promise<boolean> {
    const where = { id, counter: { lte: BigInt(counter) } };
    return (await this.db.prisma.passkey.updateMany({ where, data: { counter: BigInt(counter), lastUsedAt } })).count === 1;
  }

  async addChallenge(data: { readonly hash: string; readonly userId: string | null; readonly expiresAt: Date }): Promise<void> {
    await this.db.prisma.passkeyChallenge.create({ data });
  }

  /** Uses a challenge up. @returns false for one that is unknown, used, expired, or of another user: of two calls at one moment one gets true. */
  async takeChallenge(hash: string, userId: string | null, at: Date): Promise<boolean> {
    return (await this.db.prisma.passkeyChallenge.deleteMany({ where: { hash, userId, expiresAt: { gt: at } } })).count === 1;
  }

  /** Deletes challenges that have expired. */
  async sweep(at: Date): Promise<void> {
    await this.db.prisma.passkeyChallenge.deleteMany({ where: { expiresAt: { lt: at } } });
  }
}

/** More than a user may have. */
const idsMax = 100;

function toPasskey(row: Omit<Passkey, 'counter' | 'level'> & { readonly counter: bigint; readonly level: string }): Passkey {
  return { ...row, counter: Number(row.counter), level: row.level as AccessLevel };
}
