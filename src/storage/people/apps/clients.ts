import type { Prisma } from '../../generated/client.ts';
import { Store } from '../../ground/store.ts';
import type { RecordPayload } from './records.ts';

export interface OauthClient {
  readonly id: string;
  /** When it registered, or was first connected. */
  readonly createdAt: Date;
  readonly name: string;
  /** The network that it registered from. */
  readonly network: string | null;
  /** Null: read from its address. */
  readonly metadata: RecordPayload | null;
}

const noteEveryMs = 86_400_000;

/** Clients of OAuth: those that registered themselves, and those with an address that somebody has connected. */
export class OauthClientStore extends Store {
  async add({ id, createdAt, name, network, metadata }: OauthClient): Promise<void> {
    const row = { id, createdAt, usedAt: createdAt, name, network };
    const shown = metadata === null ? {} : { metadata: metadata as Prisma.InputJsonObject };
    await this.db.prisma.oauthClient.createMany({ data: [{ ...row, ...shown }], skipDuplicates: true });
  }

  async find(id: string): Promise<OauthClient | undefined> {
    const select = { id: true, createdAt: true, name: true, network: true, metadata: true };
    const row = await this.db.prisma.oauthClient.findUnique({ where: { id }, select });
    return row === null ? undefined : { ...row, metadata: row.metadata as RecordPayload | null };
  }

  /** Notes a use, at most once a day. */
  async noteUse(id: string, at: Date): Promise<void> {
    const before = new Date(at.getTime() - noteEveryMs);
    await this.db.prisma.oauthClient.updateMany({ where: { id, usedAt: { lt: before } }, data: { usedAt: at } });
  }

  async remove(id: string): Promise<void> {
    await this.db.prisma.oauthClient.deleteMany({ where: { id } });
  }

  /** Deletes those that nobody has used since. */
  async sweep(before: Date): Promise<void> {
    await this.db.prisma.oauthClient.deleteMany({ where: { usedAt: { lt: before } } });
  }
}
