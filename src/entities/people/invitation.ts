import type { AccessLevel, MemberRole } from './caller.ts';

/** Whether an invitation was sent by mail. NONE: this installation sends no mail. */
export const invitationDeliveries = ['NONE', 'WAITING', 'SENT', 'FAILED'] as const;
export type InvitationDelivery = (typeof invitationDeliveries)[number];

export const invitationStatuses = ['PENDING', 'ACCEPTED', 'REVOKED', 'EXPIRED'] as const;
export type InvitationStatus = (typeof invitationStatuses)[number];

/** Asks the person of an e-mail address to become a member of an organization. */
export interface Invitation {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly groupIds: readonly string[];
  readonly expiresAt: Date;
  readonly invitedByUserId: string;
  /** The key or the session that invited; null for invitations of older versions. */
  readonly invitedByKeyId: string | null;
  /** The level of the key that invited. */
  readonly invitedByLevel: AccessLevel;
  readonly delivery: InvitationDelivery;
  /** What the mail server said at the last attempt that failed. */
  readonly deliveryProblem: string | null;
  readonly acceptedAt: Date | null;
  /** Who accepted it. */
  readonly userId: string | null;
  readonly revokedAt: Date | null;
}

/** An invitation can be accepted for so long. */
export const invitationTtlMs = 7 * 86_400_000;

export function invitationStatus({ acceptedAt, revokedAt, expiresAt }: Invitation, at: Date): InvitationStatus {
  if (acceptedAt !== null) return 'ACCEPTED';
  if (revokedAt !== null) return 'REVOKED';
  return expiresAt > at ? 'PENDING' : 'EXPIRED';
}

/** Where the link of an invitation leads. The secret stands in the fragment, as in a sign-in link. */
export function invitationPath(secret: string): string {
  return `/sign-in#invitation=${secret}`;
}
