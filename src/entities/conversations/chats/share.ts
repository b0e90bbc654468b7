import { randomBytes } from 'node:crypto';
import type { AccessLevel } from '../../people/caller.ts';

/** What readers get: the chat as it was when the link was made, or what is said later too. */
export const chatShareModes = ['FROZEN', 'GROWING'] as const;
export type ChatShareMode = (typeof chatShareModes)[number];

/** Who may open it. */
export const chatShareAudiences = ['PEOPLE', 'ORGANIZATION', 'ANYONE'] as const;
export type ChatShareAudience = (typeof chatShareAudiences)[number];

export const chatShareStatuses = ['ACTIVE', 'EXPIRED', 'REVOKED', 'SUSPENDED'] as const;
export type ChatShareStatus = (typeof chatShareStatuses)[number];

/** A link under which others read a chat. */
export interface ChatShare {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  /** The user of the chat. */
  readonly userId: string;
  readonly chatId: string;
  readonly mode: ChatShareMode;
  readonly audience: ChatShareAudience;
  /** The last message that readers of a frozen one get. */
  readonly leafId: string | null;
  /** With which key or session it was made, and its level. */
  readonly makerKeyId: string;
  readonly makerLevel: AccessLevel;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** When somebody else last opened it, and how often. */
  readonly openedAt: Date | null;
  readonly openCount: number;
  /** The people whom it names. */
  readonly readerIds: readonly string[];
}

const secretPattern = /^[\w-]{43}$/;

/** Makes the secret of a link: 256 random bits in base64url. */
export function makeShareSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** False for text that cannot be such a secret: it is refused without a look-up. */
export function isShareSecret(text: string): boolean {
  return secretPattern.test(text);
}

/** Where a link leads. The secret stands in the fragment, which a browser sends to nobody: it gets into no log. */
export function sharePath(secret: string): string {
  return `/shared#${secret}`;
}
