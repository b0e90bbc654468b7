import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { AccessLevel, Caller } from '../../../entities/people/caller.ts';
import type { Session, SessionEnd, SignInMethod } from '../../../entities/people/session.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import type { InvalidatedCache } from '../../ground/invalidated-cache.ts';
import { newestFirst } from '../../ground/lists/paging.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { PublishingStore } from '../../ground/store.ts';
import { callerAt, createCallerCache, type KnownSession, loadSession } from '../keys/known-callers.ts';

export interface NewSession {
  readonly id: string;
  readonly hash: string;
  readonly createdAt: Date;
  readonly userId: string;
  readonly orgId: string;
  readonly method: SignInMethod;
  readonly level: AccessLevel;
  readonly expiresAt: Date;
  readonly userAgent: string | null;
  readonly network: string | null;
  /** Of one that a provider began. */
  readonly identityId?: string | null;
  readonly providerSessionHash?: string | null;
  /** The key that acts for the user. */
  readonly throughKeyId?: string | null;
  /** Of one that a passkey began. */
  readonly passkeyId?: string | null;
}

/** The use of a session is written at most this often. */
const noteEveryMs = 3_600_000;

/** Browsers in which people have signed in. What waits for the end of a session watches it as it would watch a key (key-watch.ts). `ttlMs`: a session expires so long after its last use. */
export class SessionStore extends PublishingStore {
  readonly #ttlMs: number;
  readonly #cache: InvalidatedCache<KnownSession>;
  readonly #noting = new Map<string, Promise<void>>();

  constructor(db: Database, signals: Signals, ttlMs: number) {
    super(db, signals);
    this.#ttlMs = ttlMs;
    this.#cache = createCallerCache<KnownSession>(signals);
  }

  /** Whether a caller is cached for this hash. Asks no database. */
  isFamiliar(hash: string): boolean {
    return this.#cache.has(hash);
  }

  /** The caller of the session with this hash: as `KeyCallers.find`. Notes the use of the session. */
  findCaller(hash: string, nowMs: number): Caller | undefined | Promise<Caller | undefined> {
    const found = this.#cache.find(hash, nowMs, (value) => loadSession(this.db, { hash: value }));
    return found instanceof Promise ? found.then((session) => this.#noted(session, nowMs)) : this.#noted(found, nowMs);
  }

  async create(session: NewSession): Promise<Session> {
    const row = await this.db.prisma.session.create({ data: { ...session, lastUsedAt: session.createdAt } });
    // An instance may have looked for the hash before.
    this.signals.publish('key-changed', session.id);
    return toSession(row);
  }

  /** Also those that have ended, in any order. */
  async findMany(ids: readonly string[]): Promise<readonly Session[]> {
    return (await this.db.prisma.session.findMany({ where: { id: { in: [...ids] } } })).map(toSession);
  }

  /** The sessions of a user that have not ended, newest first. */
  async list(userId: string, at: Date, page: PageRequest): Promise<Page<Session>> {
    const where = { userId, endedAt: null, expiresAt: { gt: at } };
    const rows = await this.db.prisma.session.findMany(newestFirst(where, page));
    return toPage(rows.map(toSession), page, timeKey, (take) => this.db.prisma.session.count({ where, take }));
  }

  /** @returns false when it had ended before. */
  async end(id: string, by: SessionEnd, at: Date): Promise<boolean> {
    const { count } = await this.db.prisma.session.updateMany({
      where: { id, endedAt: null },
      data: { endedAt: at, endedBy: by },
    });
    this.signals.publish('key-changed', id);
    return count > 0;
  }

  /** Those that have not ended, by the identities or by the session at the provider that they were begun by. */
  async findProvided(
    by: { readonly identityIds: readonly string[] } | { readonly hash: string },
    limit: number,
  ): Promise<readonly string[]> {
    const sessionFilter = 'hash' in by ? { providerSessionHash: by.hash } : { identityId: { in: [...by.identityIds] } };
    const where = { ...sessionFilter, endedAt: null };
    const rows = await this.db.prisma.session.findMany({ where, select: { id: true }, orderBy: { id: 'asc' }, take: limit });
    return rows.map(({ id }) => id);
  }

  /** The hash of a session that a trusted proxy began for the person, through that key, and that has not ended. */
  async findTrustedHash(
    { userId, orgId, throughKeyId }: { readonly userId: string; readonly orgId: string; readonly throughKeyId: string | null },
    at: Date,
  ): Promise<string | undefined> {
    const method: SignInMethod = 'PROXY';
    const where = { userId, orgId, throughKeyId, method, endedAt: null, expiresAt: { gt: at } };
    const found = await this.db.prisma.session.findFirst({ where, select: { hash: true }, orderBy: { createdAt: 'desc' } });
    return found?.hash;
  }

  /** The identity that a session was begun by. */
  async findIdentityId(id: string): Promise<string | undefined> {
    return (await this.db.prisma.session.findUnique({ where: { id }, select: { identityId: true } }))?.identityId ?? undefined;
  }

  /** Ends all other sessions of the user. @returns how many had not ended before. */
  async endOthers(userId: string, exceptId: string | undefined, by: SessionEnd, at: Date): Promise<number> {
    const others = { userId, endedAt: null, ...(exceptId === undefined ? {} : { id: { not: exceptId } }) };
    const { count } = await this.db.prisma.session.updateMany({ where: others, data: { endedAt: at, endedBy: by } });
    this.signals.publish('user-changed', userId);
    return count;
  }

  /** Deletes what ended or expired before. */
  async sweep(before: Date): Promise<void> {
    await this.db.prisma.session.deleteMany({ where: { OR: [{ expiresAt: { lt: before } }, { endedAt: { lt: before } }] } });
  }

  /** Waits for the notes of uses. */
  async close(): Promise<void> {
    return void (await Promise.all(this.#noting.values()));
  }

  #noted(known: KnownSession | undefined, nowMs: number): Caller | undefined {
    const caller = callerAt(known, nowMs);
    if (known === undefined || caller === undefined) return undefined;
    const { keyId } = caller;
    if (nowMs - known.lastUsedAtMs < noteEveryMs || this.#noting.has(keyId)) return caller;
    const note = writeUse(this.db, keyId, nowMs, this.#ttlMs)
      // The database does not answer: a later use is written.
      .catch(() => undefined)
      .then(() => this.#cache.forget((entry) => entry.caller.keyId === keyId))
      .finally(() => this.#noting.delete(keyId));
    this.#noting.set(keyId, note);
    return caller;
  }
}

/** Ends the sessions of a member whose rights in the organization have changed, in the transaction of the change, which publishes `user-changed`. */
export async function endSessionsOfMember(
  { prisma }: Transaction,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
): Promise<void> {
  const data = { endedAt: new Date(), endedBy: 'RIGHTS_CHANGED' satisfies SessionEnd };
  await prisma.session.updateMany({ where: { orgId, userId, endedAt: null }, data });
}

async function writeUse({ prisma }: Database, id: string, nowMs: number, ttlMs: number): Promise<void> {
  const isOlder = { lastUsedAt: { lt: new Date(nowMs) } };
  const data = { lastUsedAt: new Date(nowMs), expiresAt: new Date(nowMs + ttlMs) };
  await prisma.session.updateMany({ where: { id, endedAt: null, ...isOlder }, data });
}

type SessionRow = Omit<Session, 'method'> & { readonly method: string };

function toSession({
  id,
  createdAt,
  userId,
  orgId,
  method,
  lastUsedAt,
  expiresAt,
  endedAt,
  userAgent,
  network,
}: SessionRow): Session {
  const times = { createdAt, lastUsedAt, expiresAt, endedAt };
  return { id, ...times, userId, orgId, method: method as SignInMethod, userAgent, network };
}
