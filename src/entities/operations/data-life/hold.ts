import { DomainError } from '../../ground/errors.ts';

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

const holdSentence = 'A legal hold keeps this since';

/** The refusal of a deletion. It does not say why there is a hold: administrators read that. @param day  on which the hold began: `2026-11-28`. */
export function heldSince(day: string): DomainError {
  return new DomainError('CONFLICT', `${holdSentence} ${day}: nothing of it can be deleted until an administrator ends the hold`);
}

export function isHeldError(error: unknown): boolean {
  return error instanceof DomainError && error.message.startsWith(holdSentence);
}
