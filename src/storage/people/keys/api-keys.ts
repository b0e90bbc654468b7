import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { ApiKey } from '../../../entities/people/api-key.ts';
import type { AccessLevel, Caller, MemberRole, Scope } from '../../../entities/people/caller.ts';
import type { Database } from '../../ground/database.ts';
import { newestFirst } from '../../ground/lists/paging.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { PublishingStore } from '../../ground/store.ts';
import { KeyCallers } from './callers.ts';
import type { Maker } from './known-callers.ts';
import { KeyUses } from './uses.ts';
import { KeyWatch, livingKeys } from './watch.ts';

export interface NewApiKey {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly userId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly level: AccessLevel;
  readonly prefix: string;
  readonly hash: string;
  readonly expiresAt: Date | null;
  readonly createdByUserId?: string;
  readonly createdByKeyId?: string;
  /** Of a client of OAuth, with the address that its tokens open. */
  readonly clientId?: string;
  readonly resource?: string;
}

export class ApiKeyStore extends PublishingStore {
  readonly #callers: KeyCallers;
  readonly #uses: KeyUses;
  readonly #keyWatch: KeyWatch;

  constructor(db: Database, signals: Signals) {
    super(db, signals);
    this.#callers = new KeyCallers(db, signals);
    this.#uses = new KeyUses(db);
    this.#keyWatch = new KeyWatch(db, signals);
  }

  /** See key-callers.ts: a value when warm, a promise when the database must be asked. */
  findCaller(hash: string, nowMs: number): Caller | undefined | Promise<Caller | undefined> {
    return this.#callers.find(hash, nowMs);
  }

  /** Whether the caller of this key is cached. Asks no database. */
  isFamiliar(hash: string): boolean {
    return this.#callers.isFamiliar(hash);
  }

  /** The caller of a key by the key's id, for a link that the key signed or work that it began earlier. */
  findCallerById(keyId: string, nowMs: number): Promise<Caller | undefined> {
    return this.#callers.findById(keyId, nowMs);
  }

  /** Who made a link or an invitation, with the rights of now. Undefined when the key or the session was revoked, or the person is gone. */
  findMaker(maker: Maker, nowMs: number): Promise<Caller | undefined> {
    return this.#callers.findMaker(maker, nowMs);
  }

  /** Notes that a key was used. The times are written in batches, after the replies. */
  noteUse(keyId: string, atMs: number): void {
    this.#uses.note(keyId, atMs);
  }

  /** Calls `onEnd` once, within 5 seconds after the key ended (see key-watch.ts). */
  watch(keyId: string, onEnd: () => void): () => void {
    return this.#keyWatch.watch(keyId, onEnd);
  }

  /** Like `watch`, but does not call when the key only expired. */
  watchRevocation(keyId: string, onRevoked: () => void): () => void {
    return this.#keyWatch.watchRevocation(keyId, onRevoked);
  }

  /** Calls `onChanged` once, within 5 seconds after the user of the key got another role. */
  watchRole(keyId: string, role: MemberRole, onChanged: () => void): () => void {
    return this.#keyWatch.watchRole(keyId, role, onChanged);
  }

  async create(key: NewApiKey): Promise<ApiKey> {
    const { orgId, userId, createdAt } = key;
    const place = { orgId_userId: { orgId, userId } };
    const membership = await this.db.prisma.membership.findUnique({ where: place, select: { id: true } });
    const origin = { membershipId: membership?.id ?? null, lentKeyId: await findLentKey(this.db, key) };
    const row = await this.db.prisma.apiKey.create({
      data: { ...key, ...origin, scopes: [...key.scopes], updatedAt: createdAt },
    });
    this.signals.publish('key-changed', key.id);
    const [created] = await this.#withEmails([row]);
    if (created === undefined) throw new Error('a key that was just made is missing');
    return created;
  }

  async find(id: string): Promise<ApiKey | undefined> {
    const row = await this.db.prisma.apiKey.findUnique({ where: { id } });
    return row === null ? undefined : this.#first([row]);
  }

  /** Also revoked ones, in any order. */
  async findMany(ids: readonly string[]): Promise<readonly ApiKey[]> {
    return this.#withEmails(await this.db.prisma.apiKey.findMany({ where: { id: { in: [...ids] } } }));
  }

  /** Those that still have their user and their maker; see key-watch.ts. Cost: two statements, and for each key that was made for another person those of its maker. */
  living(ids: readonly string[]): Promise<ReadonlySet<string>> {
    return livingKeys(this.db, ids);
  }

  /** Active and expired keys, newest first. Revoked keys are in no list, and those of connected clients in one of their own. */
  async list(
    { orgId, userId }: { readonly orgId: string; readonly userId: string | undefined },
    page: PageRequest,
  ): Promise<Page<ApiKey>> {
    const where = { orgId, revokedAt: null, clientId: null, ...(userId === undefined ? {} : { userId }) };
    const rows = await this.db.prisma.apiKey.findMany(newestFirst(where, page));
    return toPage(await this.#withEmails(rows), page, timeKey, (take) => this.db.prisma.apiKey.count({ where, take }));
  }

  /** Whether a usable key of one of the levels exists. */
  async hasLiving({
    levels,
    ...holder
  }: {
    readonly orgId?: string;
    readonly userId?: string;
    readonly levels: readonly AccessLevel[];
  }): Promise<boolean> {
    const isInTime = { OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }] };
    const where = { ...holder, revokedAt: null, level: { in: [...levels] }, ...isInTime };
    return (await this.db.prisma.apiKey.findFirst({ where, select: { id: true } })) !== null;
  }

  /** @returns false when the key was revoked before. */
  async revoke(id: string, at: Date): Promise<boolean> {
    const { count } = await this.db.prisma.apiKey.updateMany({
      where: { id, revokedAt: null },
      data: { revokedAt: at, updatedAt: at },
    });
    this.signals.publish('key-changed', id);
    return count > 0;
  }

  /** Writes the noted uses. */
  async close(): Promise<void> {
    this.#keyWatch.close();
    await this.#uses.close();
  }

  async #withEmails(rows: readonly KeyRow[]): Promise<ApiKey[]> {
    const ids = [...new Set(rows.map(({ userId }) => userId))];
    const users = await this.db.prisma.user.findMany({ where: { id: { in: ids } }, select: { id: true, email: true } });
    const emails = new Map(users.map(({ id, email }) => [id, email]));
    return rows.map((row) => toApiKey(row, emails.get(row.userId) ?? ''));
  }

  async #first(rows: readonly KeyRow[]): Promise<ApiKey | undefined> {
    return (await this.#withEmails(rows))[0];
  }
}

/** The key itself when its maker is another person; else the one that its maker's key comes from. */
async function findLentKey(
  { prisma }: Database,
  { id, userId, createdByUserId, createdByKeyId }: NewApiKey,
): Promise<string | null> {
  if (createdByUserId !== undefined && createdByUserId !== userId) return id;
  const where = { id: createdByKeyId ?? '' };
  return (await prisma.apiKey.findUnique({ where, select: { lentKeyId: true } }))?.lentKeyId ?? null;
}

type KeyRow = Omit<ApiKey, 'userEmail' | 'scopes' | 'level'> & { readonly scopes: readonly string[]; readonly level: string };

function toApiKey({ id, createdAt, updatedAt, orgId, userId, name, ...row }: KeyRow, userEmail: string): ApiKey {
  return {
    id,
    createdAt,
    updatedAt,
    orgId,
    userId,
    userEmail,
    name,
    scopes: row.scopes as readonly Scope[],
    level: row.level as AccessLevel,
    prefix: row.prefix,
    lastUsedAt: row.lastUsedAt,
    expiresAt: row.expiresAt,
    revokedAt: row.revokedAt,
    createdByUserId: row.createdByUserId,
    createdByKeyId: row.createdByKeyId,
  };
}
