/** A person at a provider of sign-ins, and the user whom it signs in. */
export interface Identity {
  readonly id: string;
  readonly createdAt: Date;
  readonly userId: string;
  /** Where it signs in. */
  readonly orgId: string;
  /** The name in the settings. */
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  /** As the provider gave it at the last sign-in. */
  readonly email: string | null;
  readonly lastUsedAt: Date;
  /** Whether the user is ADMIN by a group of the provider. */
  readonly isAdminByGroup: boolean;
  /** Groups that the user is a member of by the provider. */
  readonly groupIds: readonly string[];
}
