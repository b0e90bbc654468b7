import type { AuditedCall, AuditedRequest } from '../operations/audit.ts';

export const resources = [
  'AGENTS',
  'CHATS',
  'DATA_SOURCES',
  'GROUPS',
  'API_KEYS',
  'USAGE',
  'SKILLS',
  'CONNECTIONS',
  'ADMIN',
] as const;
export type Resource = (typeof resources)[number];
/** SCIM:WRITE stands apart: only keys of identity providers have it, and nothing else. */
export type Scope = `${Resource}:${'READ' | 'WRITE'}` | 'SCIM:WRITE';
/** The scopes of the operations of both APIs. */
export const scopes: readonly Scope[] = resources.flatMap((resource) => [`${resource}:READ`, `${resource}:WRITE`] as const);
/** The scopes that a key may have. */
export const keyScopes: readonly Scope[] = [...scopes, 'SCIM:WRITE'];

/** What a key reaches: its organization, all organizations of its tenant, or everything. */
export const accessLevels = ['ORGANIZATION', 'TENANT', 'INSTANCE'] as const;
export type AccessLevel = (typeof accessLevels)[number];

/** An AUDITOR reads what an ADMIN reads, and changes nothing. */
export const memberRoles = ['MEMBER', 'ADMIN', 'AUDITOR'] as const;
export type MemberRole = (typeof memberRoles)[number];

/** All scopes that a person with the role may use: those of its sessions. */
export function scopesOfRole(role: MemberRole): readonly Scope[] {
  // API_KEYS:WRITE lets auditors end their own sessions and set their password; policy.ts refuses them every other mutation.
  if (role === 'AUDITOR') return [...scopes.filter(isRead), 'API_KEYS:WRITE'];
  return role === 'ADMIN' ? scopes : scopes.filter((scope) => !scope.startsWith('ADMIN:'));
}

/** The scopes of a session: those of the role, and of a session that reaches the whole installation all; an AUDITOR reads only, at any level. */
export function scopesOfSession(role: MemberRole, level: AccessLevel): readonly Scope[] {
  return level === 'INSTANCE' && role !== 'AUDITOR' ? scopes : scopesOfRole(role);
}

/** The scopes of a key that count while its user has the role: only those that read, for an AUDITOR. */
export function keyScopesOfRole(role: MemberRole, wantedScopes: readonly Scope[]): readonly Scope[] {
  return role === 'AUDITOR' ? wantedScopes.filter(isRead) : wantedScopes;
}

function isRead(scope: Scope): boolean {
  return scope.endsWith(':READ');
}

/** Who makes a call: one API key, or one session of a browser, acting as one user in one organization. The server sets every member. */
export interface Caller {
  /** Of a browser, the id of its session. */
  readonly keyId: string;
  readonly userId: string;
  readonly orgId: string;
  readonly tenantId: string;
  readonly level: AccessLevel;
  /** The user's role in `orgId`. */
  readonly role: MemberRole;
  readonly scopes: ReadonlySet<Scope>;
  /** The request that this caller makes; absent where its reads become no entries: of plain members, in jobs, for keys that are only checked. */
  readonly request?: AuditedRequest;
  /** The mutation that this caller makes; absent in queries, and for keys that are only checked. */
  readonly call?: AuditedCall;
}

/** What stands for the key of a command on the data itself (`--local`): whoever has the data needs no key, and is asked for none later. */
export const localKeyId = 'local';
