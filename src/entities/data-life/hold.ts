/** While it lasts, nothing of an organization, or of one person in it, is deleted. */
export interface LegalHold {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  /** Null: the whole organization. */
  readonly userId: string | null;
  readonly reason: string;
  readonly createdByUserId: string;
  readonly endedAt: Date | null;
  readonly endedByUserId: string | null;
}
