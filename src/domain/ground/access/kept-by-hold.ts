import { heldSince } from '../../../entities/operations/data-life/hold.ts';

/**
 * Refuses what a legal hold keeps, for a function that stops something before it deletes: the database itself refuses every deletion of a row that a hold
 * keeps, and takes back what was written with it. Call it once it is known that the caller may delete the thing: nobody else is told of a hold.
 *
 * @throws DomainError CONFLICT.
 */
export function refuseHeld(since: Date | undefined): void {
  if (since !== undefined) throw heldSince(since.toISOString().slice(0, 10));
}
