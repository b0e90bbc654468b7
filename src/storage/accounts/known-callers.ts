import { type Caller, keyScopesOfRole, type MemberRole, type Scope, scopesOfRole } from '../../entities/accounts/caller.ts';
import type { Database } from '../database/database.ts';
import { createInvalidatedCache, type InvalidatedCache } from '../database/invalidated-cache.ts';
import type { Signals } from '../database/signals/signals.ts';

/** A caller as it is cached, with the time at which its key or its session ends by itself. */
export interface KnownCaller {
  readonly caller: Caller;
  readonly expiresAtMs: number;
}
export interface KnownSession extends KnownCaller {
  readonly lastUsedAtMs: number;
}

const callersMax = 20_000;

/** Callers by the hash of a secret. Changes of their key or session, their user and their organization drop them. */
export function createCallerCache<Known extends KnownCaller>(signals: Signals): InvalidatedCache<Known> {
  const cache = createInvalidatedCache<Known>(signals, callersMax);
  signals.subscribe('key-changed', (keyId) => cache.forget(({ caller }) => caller.keyId === keyId));
  signals.subscribe('user-changed', (userId) => cache.forget(({ caller }) => caller.userId === userId));
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
  const caller = { keyId: id, userId, orgId, ...member, level, scopes };
  return { caller: Object.freeze(caller as Caller), expiresAtMs: expiresAt?.getTime() ?? Number.POSITIVE_INFINITY };
}

/** The caller of a session: it may what the role of its user allows. Undefined when it is unknown or has ended. Cost: two statements. */
export async function loadSession({ prisma }: Database, session: Named): Promise<KnownSession | undefined> {
  const select = { id: true, userId: true, orgId: true, lastUsedAt: true, expiresAt: true };
  const found = await prisma.session.findUnique({ where: { ...session, endedAt: null }, select });
  const member = found === null ? undefined : await findMember(prisma, found);
  if (found === null || member === undefined) return undefined;
  const { id, userId, orgId, lastUsedAt, expiresAt } = found;
  const scopes = new Set(scopesOfRole(member.role));
  const caller: Caller = { keyId: id, userId, orgId, ...member, level: 'ORGANIZATION', scopes };
  return { caller: Object.freeze(caller), lastUsedAtMs: lastUsedAt.getTime(), expiresAtMs: expiresAt.getTime() };
}

/** The caller, unless its time is over. */
export function callerAt(known: KnownCaller | undefined, nowMs: number): Caller | undefined {
  return known !== undefined && nowMs < known.expiresAtMs ? known.caller : undefined;
}

async function findMember(
  { membership }: Database['prisma'],
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
): Promise<{ readonly role: MemberRole; readonly tenantId: string } | undefined> {
  const found = await membership.findUnique({
    where: { orgId_userId: { orgId, userId } },
    select: { role: true, organization: { select: { tenantId: true } } },
  });
  return found === null ? undefined : { role: found.role as MemberRole, tenantId: found.organization.tenantId };
}
