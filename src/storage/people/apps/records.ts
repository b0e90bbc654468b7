import { hash } from 'node:crypto';
import type { Prisma } from '../../generated/client.ts';
import { Store } from '../../ground/store.ts';

export type RecordPayload = Readonly<Record<string, unknown>>;

export interface OauthRecord {
  readonly keyId: string | null;
  readonly payload: RecordPayload;
  readonly consumedAt: Date | null;
}
export interface NewOauthRecord {
  readonly kind: string;
  /** The code, the token, or the id of what is no secret. It is not stored. */
  readonly secret: string;
  readonly keyId: string | null;
  readonly payload: RecordPayload;
  readonly expiresAt: Date;
}

/** What the library of OAuth keeps, by hashes: requests of clients, codes, tokens, grants. */
export class OauthRecordStore extends Store {
  async put({ kind, secret, keyId, payload, expiresAt }: NewOauthRecord): Promise<void> {
    const id = hashRecord(kind, secret);
    const row = { kind, keyId, payload: payload as Prisma.InputJsonObject, expiresAt };
    await this.db.prisma.oauthRecord.upsert({ where: { hash: id }, create: { hash: id, ...row }, update: row });
  }

  /** One that has expired is not there. */
  async find(kind: string, secret: string, at: Date): Promise<OauthRecord | undefined> {
    const where = { hash: hashRecord(kind, secret), expiresAt: { gt: at } };
    const select = { keyId: true, payload: true, consumedAt: true };
    const row = await this.db.prisma.oauthRecord.findFirst({ where, select });
    return row === null ? undefined : { ...row, payload: row.payload as RecordPayload };
  }

  /** @returns false when it was used before: of two requests at one moment, one gets true. */
  async consume(kind: string, secret: string, at: Date): Promise<boolean> {
    const where = { hash: hashRecord(kind, secret), consumedAt: null };
    return (await this.db.prisma.oauthRecord.updateMany({ where, data: { consumedAt: at } })).count > 0;
  }

  async remove(kind: string, secret: string): Promise<void> {
    await this.db.prisma.oauthRecord.deleteMany({ where: { hash: hashRecord(kind, secret) } });
  }

  /** Deletes all of a key. */
  async removeOfKey(keyId: string): Promise<void> {
    await this.db.prisma.oauthRecord.deleteMany({ where: { keyId } });
  }

  /** Deletes what has expired, and what is of a key that has ended: a grant has no end of its own. */
  async sweep(at: Date): Promise<void> {
    const hasExpired = { expiresAt: { lt: at } };
    const hasEnded = { OR: [hasExpired, { revokedAt: { not: null } }] };
    await this.db.prisma.oauthRecord.deleteMany({ where: { OR: [hasExpired, { key: hasEnded }] } });
  }
}

/** By it, codes and tokens are looked up. They have 256 random bits, so no slow hash is needed. */
export function hashRecord(kind: string, secret: string): string {
  return hash('sha256', `${kind} ${secret}`);
}
