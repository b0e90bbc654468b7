import { DomainError } from '../../entities/ground/errors.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Deps } from '../deps.ts';

/** The permission in a signed link: one upload of one file, of exactly this size and type, by the key that asked for it, to one agent. */
export interface UploadTicket {
  readonly id: string;
  readonly keyId: string;
  readonly agentId: string;
  readonly filename: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** Milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

/** Valid for an hour: long enough for a slow upload to begin, too short to be worth stealing. */
export const ticketLifeMs = 60 * 60 * 1_000;

export function signTicket(deps: Deps, ticket: UploadTicket): string {
  return deps.storage.links.sign('upload', JSON.stringify(ticket));
}

/** @throws DomainError INVALID_API_KEY for a ticket that Parley did not sign, or that was changed or has expired. */
export function readTicket(deps: Deps, ticketText: string): UploadTicket {
  const text = deps.storage.links.verify('upload', ticketText);
  if (text === undefined) throw refused('The link was not made by this service');
  const ticket = JSON.parse(text) as UploadTicket;
  if (ticket.expiresAtMs <= deps.now().getTime()) throw refused('The link has expired; ask for another one');
  return ticket;
}

/**
 * Authenticates the holder of a ticket: the caller is the key that asked for it, with its current rights.
 *
 * @returns the caller, and the most bytes it may send.
 * @throws DomainError INVALID_API_KEY, also when the key is no longer valid.
 */
export async function admitTicket(
  deps: Deps,
  ticketText: string,
): Promise<{ readonly caller: Caller; readonly sizeBytesMax: number }> {
  const { keyId, sizeBytes } = readTicket(deps, ticketText);
  const caller = await deps.storage.people.apiKeys.findCallerById(keyId, deps.now().getTime());
  if (caller === undefined) throw refused('The key that this link was made with has ended');
  return { caller, sizeBytesMax: sizeBytes };
}

function refused(message: string): DomainError {
  return new DomainError('INVALID_API_KEY', message, { param: 'ticket' });
}
