import { isId } from '../../../entities/ground/ids.ts';
import {
  type AccessLevel,
  type Caller,
  keyScopesOfRole,
  localKeyId,
  type MemberRole,
  type Scope,
  scopes,
  scopesOfSession,
} from '../../../entities/people/caller.ts';
import type { SessionEnd } from '../../../entities/people/session.ts';
import type { Database } from '../../ground/database.ts';
import { InvalidatedCache } from '../../ground/invalidated-cache.ts';
import type { Signals } from '../../ground/signals/signals.ts';

/** A caller as it is cached, with the time at which its key or its session ends by itself. */
export interface KnownCaller {
  readonly caller: Caller;
  readonly expiresAtMs: number;
  /** What it ends with besides: the key that acts in a session, and who made a key for somebody else. */
  readonly through: readonly Caller[];
}
export interface KnownSession extends KnownCaller {
  readonly lastUsedAtMs: number;
}

const callersMax = 20_000;
const never = Number.POSITIVE_INFINITY;
const nobody: readonly Caller[] = [];

/** Callers by the hash of a secret. Changes of their key or session, their user and their organization drop them. */
export function createCallerCache<Known extends KnownCaller>(signals: Signals): InvalidatedCache<Known> {
  const cache = new InvalidatedCache<Known>(signals, callersMax);
  signals.subscribe('key-changed', (keyId) =>
    cache.forget(({ caller, through }) => caller.keyId === keyId || through.some((each) => each.keyId === keyId)),
  );
  signals.subscribe('user-changed', (userId) =>
    cache.forget(({ caller, through }) => caller.userId === userId || through.some((each) => each.userId === userId)),
  );
  signals.subscribe('organization-changed', (orgId) =>
    cache.forget(({ caller, through }) => caller.orgId === orgId || through.some((each) => each.orgId === orgId)),
  );
  return cache;
}

type Named = { readonly id: string } | { readonly hash: string };

/**
 * The caller of a key. Undefined when the key is unknown or revoked, its user left the organization, or who made it for its user may not any more.
 *
 * Cost: two statements, and for a key that somebody made for another person those of its maker.
 */
export async function loadKey(db: Database, key: Named): Promise<KnownCaller | undefined> {
  const { prisma } = db;
  const makerColumns = { createdByUserId: true, createdByKeyId: true, lentKeyId: true, membershipId: true };
  const select = { id: true, userId: true, orgId: true, level: true, scopes: true, expiresAt: true, ...makerColumns };
  const keyRow = await prisma.apiKey.findUnique({ where: { ...key, revokedAt: null }, select });
  const member = keyRow === null ? undefined : await findMember(prisma, keyRow);
  if (keyRow === null || member === undefined) return undefined;
  const { id, userId, orgId, level, expiresAt, membershipId } = keyRow;
  if (membershipId !== null && membershipId !== member.id) return undefined;
  const { role, tenantId } = member;
  const lender = keyRow.lentKeyId === null ? undefined : await loadLender(db, keyRow, tenantId);
  if (keyRow.lentKeyId !== null && lender === undefined) return undefined;
  const scopes = new Set(keyScopesOfRole(role, keyRow.scopes as Scope[]));
  const caller = { keyId: id, userId, orgId, role, tenantId, level, scopes };
  return {
    caller: Object.freeze(caller as Caller),
    expiresAtMs: Math.min(expiresAt?.getTime() ?? never, lender?.expiresAtMs ?? never),
    through: lender === undefined ? nobody : [lender.caller, ...lender.through],
  };
}

/** Who made something that is used later, and where. */
export interface Maker {
  readonly userId: string;
  /** The key or the session; null when it is not known. */
  readonly keyId: string | null;
  /** The organization of what was made. */
  readonly orgId: string;
  /** The reach that it was made with. */
  readonly level: AccessLevel;
}

/**
 * The maker of a link, an invitation or a key, with the rights of now. Undefined when the key was revoked, the session was revoked, or the person is gone.
 * A session that ended otherwise takes nothing back: then the role of its person counts.
 */
export async function loadMaker(db: Database, { userId, keyId, orgId, level }: Maker): Promise<KnownCaller | undefined> {
  if (keyId === localKeyId) {
    const caller: Caller = { keyId, userId, orgId, tenantId: '', role: 'ADMIN', level: 'INSTANCE', scopes: new Set(scopes) };
    return { caller, expiresAtMs: never, through: nobody };
  }
  if (keyId !== null && !isId('session', keyId)) return loadKey(db, { id: keyId });
  const { membership, session } = db.prisma;
  const revocation = { id: keyId ?? '', endedBy: 'REVOKED' satisfies SessionEnd };
  if ((await session.findFirst({ where: revocation, select: { id: true } })) !== null) return undefined;
  const isOperator = level === 'INSTANCE' ? [{ user: { isOperator: true } }] : [];
  const makerMembership = await membership.findFirst({
    where: { userId, OR: [{ orgId }, ...isOperator] },
    select: { orgId: true },
  });
  const member = makerMembership === null ? undefined : await findMember(db.prisma, { orgId: makerMembership.orgId, userId });
  if (makerMembership === null || member === undefined) return undefined;
  const { role, tenantId } = member;
  const reach = level === 'INSTANCE' && member.isOperator ? 'INSTANCE' : 'ORGANIZATION';
  const own = new Set(scopesOfSession(role, reach));
  const caller: Caller = { keyId: keyId ?? '', userId, orgId: makerMembership.orgId, tenantId, role, level: reach, scopes: own };
  return { caller, expiresAtMs: never, through: nobody };
}

/** What a key that somebody made for another person depends on: its maker, or the key that it was made with. Undefined when that one may not any more. */
async function loadLender(
  db: Database,
  key: {
    readonly id: string;
    readonly orgId: string;
    readonly lentKeyId: string | null;
    readonly createdByUserId: string | null;
    readonly createdByKeyId: string | null;
  },
  tenantId: string,
): Promise<KnownCaller | undefined> {
  const { id, orgId, lentKeyId, createdByUserId, createdByKeyId } = key;
  if (lentKeyId !== null && lentKeyId !== id) return loadKey(db, { id: lentKeyId });
  // A session of an operator makes keys everywhere.
  const maker = await loadMaker(db, { userId: createdByUserId ?? '', keyId: createdByKeyId, orgId, level: 'INSTANCE' });
  return maker !== undefined && mayLend(maker.caller, { orgId, tenantId }) ? maker : undefined;
}

/** Whether a caller may make keys for the members of an organization now, as `createApiKey` asks it. */
function mayLend({ level, role, scopes, ...own }: Caller, place: { readonly orgId: string; readonly tenantId: string }): boolean {
  if (role === 'AUDITOR' || !scopes.has('ADMIN:WRITE')) return false;
  if (level === 'INSTANCE') return true;
  return level === 'TENANT' ? own.tenantId === place.tenantId : role === 'ADMIN' && own.orgId === place.orgId;
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
  const sessionRow = await prisma.session.findUnique({ where: { ...session, endedAt: null }, select });
  const member = sessionRow === null ? undefined : await findMember(prisma, sessionRow);
  if (sessionRow === null || member === undefined) return undefined;
  const { id, userId, orgId, lastUsedAt, expiresAt, throughKeyId } = sessionRow;
  const key = throughKeyId === null ? undefined : await loadActingKey(db, throughKeyId);
  if (throughKeyId !== null && key === undefined) return undefined;
  const { role, tenantId, isOperator } = member;
  const level = isOperator && sessionRow.level === 'INSTANCE' && key === undefined ? 'INSTANCE' : 'ORGANIZATION';
  const own = scopesOfSession(role, level);
  const scopes = new Set(key === undefined ? own : actingScopes(own, key.caller));
  const caller: Caller = { keyId: id, userId, orgId, role, tenantId, level, scopes };
  return {
    caller: Object.freeze(caller),
    lastUsedAtMs: lastUsedAt.getTime(),
    expiresAtMs: Math.min(expiresAt.getTime(), key?.expiresAtMs ?? never),
    through: key === undefined ? nobody : [key.caller, ...key.through],
  };
}

/** The caller, unless its time is over. */
export function callerAt(knownCaller: KnownCaller | undefined, nowMs: number): Caller | undefined {
  return knownCaller !== undefined && nowMs < knownCaller.expiresAtMs ? knownCaller.caller : undefined;
}

async function findMember(
  { membership }: Database['prisma'],
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
): Promise<
  { readonly id: string; readonly role: MemberRole; readonly tenantId: string; readonly isOperator: boolean } | undefined
> {
  const membershipRow = await membership.findUnique({
    where: { orgId_userId: { orgId, userId } },
    select: { id: true, role: true, organization: { select: { tenantId: true } }, user: { select: { isOperator: true } } },
  });
  if (membershipRow === null) return undefined;
  return {
    id: membershipRow.id,
    role: membershipRow.role as MemberRole,
    tenantId: membershipRow.organization.tenantId,
    isOperator: membershipRow.user.isOperator,
  };
}
