import { randomBytes } from 'node:crypto';
import { isId } from '../ground/ids.ts';
import { hashSecret } from './api-key.ts';
import type { AccessLevel, Caller } from './caller.ts';

/** How a person has signed in. */
export const signInMethods = ['LINK', 'PASSWORD', 'OIDC', 'INVITATION', 'PASSKEY', 'PROXY'] as const;
export type SignInMethod = (typeof signInMethods)[number];

/**
 * Why a session ended before its time. What runs for a session that was REVOKED ends too; after any other end, a run that the person began goes on.
 */
export const sessionEnds = ['SIGNED_OUT', 'REPLACED', 'RIGHTS_CHANGED', 'REVOKED'] as const;
export type SessionEnd = (typeof sessionEnds)[number];

/** A browser in which a person has signed in, for one organization. */
export interface Session {
  readonly id: string;
  readonly createdAt: Date;
  readonly userId: string;
  readonly orgId: string;
  readonly method: SignInMethod;
  /** Give or take an hour. */
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
  readonly endedAt: Date | null;
  /** What the browser calls itself. */
  readonly userAgent: string | null;
  /** The network that it signed in from. */
  readonly network: string | null;
}

/** A link works for so long, and once. */
export const linkTtlMs = 3_600_000;

const secretPattern = /^[\w-]{43}$/;

/** Makes the secret of a session or of a link: 256 random bits in base64url. */
export function makeSignInSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** False for text that cannot be such a secret: it is refused without a look-up. */
export function isSignInSecret(text: string): boolean {
  return secretPattern.test(text);
}

export interface SignInLink {
  readonly id: string;
  readonly hash: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly userId: string;
  readonly orgId: string;
  /** The level of the caller who made it. */
  readonly level: AccessLevel;
  /** Who made it, and with which key or session; null for the link of a first start. */
  readonly createdByUserId: string | null;
  readonly createdByKeyId: string | null;
}

/** A link that signs one person in, as it is stored, and its secret. */
export function newSignInLink(linkFacts: Omit<SignInLink, 'hash' | 'expiresAt'>): {
  readonly link: SignInLink;
  readonly secret: string;
} {
  const secret = makeSignInSecret();
  const expiresAt = new Date(linkFacts.createdAt.getTime() + linkTtlMs);
  return { link: { ...linkFacts, hash: hashSecret(secret), expiresAt }, secret };
}

/** Where a link leads. The secret stands in the fragment, which a browser sends to nobody: it gets into no log. */
export function signInPath(secret: string): string {
  return `/sign-in#link=${secret}`;
}

/** Whether the caller is a browser in which a person has signed in, not a key. */
export function isSession({ keyId }: Caller): boolean {
  return isId('session', keyId);
}
