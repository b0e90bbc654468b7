import { type Caller, keyScopesOfRole, type MemberRole, type Scope, scopesOfSession } from '../../entities/accounts/caller.ts';
import type { Database } from '../database/database.ts';
import { createInvalidatedCache, type InvalidatedCache } from '../database/invalidated-cache.ts';
import type { Signals } from '../database/signals/signals.ts';

/** A caller as it is cached, with the time at which its key or its session ends by itself. */
export interface KnownCaller {
  readonly caller: Caller;
  readonly expiresAtMs: number;
  /** Of a session that a key acts in: the session ends with it. */
  readonly throughKey?: Pick<Caller, 'keyId' | 'userId'>;
}
export interface KnownSession extends KnownCaller {
  readonly lastUsedAtMs: number;
}

const callersMax = 20_000;

/** Callers by the hash of a secret. Changes of their key or session, their user and their organization drop them. */
export function createCallerCache<Known extends KnownCaller>(signals: Signals): InvalidatedCache<Known> {
  const cache = createInvalidatedCache<Known>(signals, callersMax);
  signals.subscribe('key-changed', (keyId) =>
    cache.forget(({ caller, throughKey }) => caller.keyId === keyId || throughKey?.keyId === keyId),
  );
  signals.subscribe('user-changed', (userId) =>
    cache.forget(({ caller, throughKey }) => caller.userId === userId || throughKey?.userId === userId),
  );
  signals.subscribe('organization-changed', (orgId) => cache.forget(({ caller }) => caller.orgId === orgId));
  return cache;
}

type Named = { readonly id: string } | { readonly hash: string };

/** The caller of a key. Undefined when the key is unknown or revoked, or its user left the organization. Cost: two statements. */
export async function loadKey({ prisma }: Database, key: Named): Promise<KnownCaller | undefined> {
  const select = { id: true, userId: true, orgId: true, level: true, scopes: true, expiresAt: true };
  const found = await prisma.apiKey.findUnique({ where: { ...key, revokedAt: null }, select });
  const member = found === null ? undefined : await findMember(prisma, found);
  if (found === null || member === undefined) return undefined;
  const { id, userId, orgId, level, expiresAt } = found;
  const scopes = new Set(keyScopesOfRole(member.role, found.scopes as Scope[]));
  const { role, tenantId } = member;
  const caller = { keyId: id, userId, orgId, role, tenantId, level, scopes };
  return { caller: Object.freeze(caller as Caller), expiresAtMs: expiresAt?.getTime() ?? Number.POSITIVE_INFINITY };
}

/** The key through which a session acts for another person, while its user is an administrator. Cost: two statements. */
export async function loadActingKey(db: Database, id: string): Promise<KnownCaller | undefined> {
  const key = await loadKey(db, { id });
  return key?.caller.role === 'ADMIN' ? key : undefined;
}

/** A key that acts for somebody else makes no keys, and administers nothing. */
function actingScopes(own: readonly Scope[], key: Caller): readonly Scope[] {
  return own.filter((scope) => key.scopes.has(scope) && !/^(?:ADMIN|API_KEYS):/.test(scope));
}

/**
 * The caller of a session: it may what the role of its user allows, and what the key allows that it acts through; of an operator, whatever a key of level
 * INSTANCE may, where the session was begun with that reach. Undefined when it is unknown or has ended.
 * Cost: two statements, four with a key.
 */
export async function loadSession(db: Database, session: Named): Promise<KnownSession | undefined> {
  const { prisma } = db;
  const select = { id: true, userId: true, orgId: true, lastUsedAt: true, expiresAt: true, throughKeyId: true, level: true };
  const found = await prisma.session.findUnique({ where: { ...session, endedAt: null }, select });
  const member = found === null ? undefined : await findMember(prisma, found);
  if (found === null || member === undefined) return undefined;
  const { id, userId, orgId, lastUsedAt, expiresAt, throughKeyId } = found;
  const key = throughKeyId === null ? undefined : await loadActingKey(db, throughKeyId);
  if (throughKeyId !== null && key === undefined) return undefined;
  const { role, tenantId, isOperator } = member;
  const level = isOperator && found.level === 'INSTANCE' && key === undefined ? 'INSTANCE' : 'ORGANIZATION';
  const own = scopesOfSession(role, level);
  const scopes = new Set(key === undefined ? own : actingScopes(own, key.caller));
  const caller: Caller = { keyId: id, userId, orgId, role, tenantId, level, scopes };
  return {
    caller: Object.freeze(caller),
    lastUsedAtMs: lastUsedAt.getTime(),
    expiresAtMs: Math.min(expiresAt.getTime(), key?.expiresAtMs ?? Number.POSITIVE_INFINITY),
    ...(key === undefined ? {} : { throughKey: key.caller }),
  };
}

/** The caller, unless its time is over. */
export function callerAt(known: KnownCaller | undefined, nowMs: number): Caller | undefined {
  return known !== undefined && nowMs < known.expiresAtMs ? known.caller : undefined;
}

async function findMember(
  { membership }: Database['prisma'],
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
): Promise<{ readonly role: MemberRole; readonly tenantId: string; readonly isOperator: boolean } | undefined> {
  const found = await membership.findUnique({
    where: { orgId_userId: { orgId, userId } },
    select: { role: true, organization: { select: { tenantId: true } }, user: { select: { isOperator: true } } },
  });
  if (found === null) return undefined;
  return { role: found.role as MemberRole, tenantId: found.organization.tenantId, isOperator: found.user.isOperator };
}
