import { type Page, type PageRequest, pageOf, timeKey } from '../../../entities/ground/page.ts';
import type { AccessLevel, Caller } from '../../../entities/people/caller.ts';
import type { Session, SessionEnd, SignInMethod } from '../../../entities/people/session.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import { newestFirst } from '../../ground/lists/paging.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { callerAt, createCallerCache, type KnownSession, loadSession } from '../keys/known-callers.ts';

/** Browsers in which people have signed in. What waits for the end of a session watches it as it would watch a key (key-watch.ts). */
export interface SessionStore {
  /** The caller of the session with this hash: as `KeyCallers.find`. Notes the use of the session. */
  findCaller(hash: string, nowMs: number): Caller | undefined | Promise<Caller | undefined>;
  /** Whether a caller is cached for this hash. Asks no database. */
  isFamiliar(hash: string): boolean;
  create(session: NewSession): Promise<Session>;
  /** Also those that have ended, in any order. */
  findMany(ids: readonly string[]): Promise<readonly Session[]>;
  /** The sessions of a user that have not ended, newest first. */
  list(userId: string, at: Date, page: PageRequest): Promise<Page<Session>>;
  /** @returns false when it had ended before. */
  end(id: string, by: SessionEnd, at: Date): Promise<boolean>;
  /** Those that have not ended, by the identities or by the session at the provider that they were begun by. */
  findProvided(
    by: { readonly identityIds: readonly string[] } | { readonly hash: string },
    limit: number,
  ): Promise<readonly string[]>;
  /** The hash of a session that a trusted proxy began for the person, through that key, and that has not ended. */
  findTrustedHash(
    place: { readonly userId: string; readonly orgId: string; readonly throughKeyId: string | null },
    at: Date,
  ): Promise<string | undefined>;
  /** The identity that a session was begun by. */
  findIdentityId(id: string): Promise<string | undefined>;
  /** Ends all other sessions of the user. @returns how many had not ended before. */
  endOthers(userId: string, exceptId: string | undefined, by: SessionEnd, at: Date): Promise<number>;
  /** Deletes what ended or expired before. */
  sweep(before: Date): Promise<void>;
  /** Waits for the notes of uses. */
  close(): Promise<void>;
}

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

/** @param ttlMs  a session expires so long after its last use. */
export function createSessionStore(db: Database, signals: Signals, ttlMs: number): SessionStore {
  const cache = createCallerCache<KnownSession>(signals);
  const noting = new Map<string, Promise<void>>();

  function noted(known: KnownSession | undefined, nowMs: number): Caller | undefined {
    const caller = callerAt(known, nowMs);
    if (known === undefined || caller === undefined) return undefined;
    const { keyId } = caller;
    if (nowMs - known.lastUsedAtMs < noteEveryMs || noting.has(keyId)) return caller;
    const note = writeUse(db, keyId, nowMs, ttlMs)
      // The database does not answer: a later use is written.
      .catch(() => undefined)
      .then(() => cache.forget((entry) => entry.caller.keyId === keyId))
      .finally(() => noting.delete(keyId));
    noting.set(keyId, note);
    return caller;
  }

  return {
    isFamiliar: (hash) => cache.has(hash),
    findCaller: (hash, nowMs) => {
      const found = cache.find(hash, nowMs, (value) => loadSession(db, { hash: value }));
      return found instanceof Promise ? found.then((session) => noted(session, nowMs)) : noted(found, nowMs);
    },
    async create(session) {
      const row = await db.prisma.session.create({ data: { ...session, lastUsedAt: session.createdAt } });
      // An instance may have looked for the hash before.
      signals.publish('key-changed', session.id);
      return sessionOf(row);
    },
    findMany: async (ids) => (await db.prisma.session.findMany({ where: { id: { in: [...ids] } } })).map(sessionOf),
    async list(userId, at, page) {
      const where = { userId, endedAt: null, expiresAt: { gt: at } };
      const rows = await db.prisma.session.findMany(newestFirst(where, page));
      return pageOf(rows.map(sessionOf), page, timeKey, (take) => db.prisma.session.count({ where, take }));
    },
    async end(id, by, at) {
      const { count } = await db.prisma.session.updateMany({
        where: { id, endedAt: null },
        data: { endedAt: at, endedBy: by },
      });
      signals.publish('key-changed', id);
      return count > 0;
    },
    async findProvided(by, limit) {
      const named = 'hash' in by ? { providerSessionHash: by.hash } : { identityId: { in: [...by.identityIds] } };
      const where = { ...named, endedAt: null };
      const rows = await db.prisma.session.findMany({ where, select: { id: true }, orderBy: { id: 'asc' }, take: limit });
      return rows.map(({ id }) => id);
    },
    async findTrustedHash({ userId, orgId, throughKeyId }, at) {
      const method: SignInMethod = 'PROXY';
      const where = { userId, orgId, throughKeyId, method, endedAt: null, expiresAt: { gt: at } };
      const found = await db.prisma.session.findFirst({ where, select: { hash: true }, orderBy: { createdAt: 'desc' } });
      return found?.hash;
    },
    findIdentityId: async (id) =>
      (await db.prisma.session.findUnique({ where: { id }, select: { identityId: true } }))?.identityId ?? undefined,
    async endOthers(userId, exceptId, by, at) {
      const others = { userId, endedAt: null, ...(exceptId === undefined ? {} : { id: { not: exceptId } }) };
      const { count } = await db.prisma.session.updateMany({ where: others, data: { endedAt: at, endedBy: by } });
      signals.publish('user-changed', userId);
      return count;
    },
    async sweep(before) {
      await db.prisma.session.deleteMany({ where: { OR: [{ expiresAt: { lt: before } }, { endedAt: { lt: before } }] } });
    },
    close: async () => void (await Promise.all(noting.values())),
  };
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

function sessionOf({
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
