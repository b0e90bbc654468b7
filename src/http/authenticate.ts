import type { IncomingMessage } from 'node:http';
import type { Caller } from '../entities/caller.ts';
import { DomainError } from '../entities/errors.ts';
import { noteKey } from './access-log.ts';

/** Who a secret belongs to; undefined for one that is unknown, revoked or expired. Answers without a promise when it knows. */
export type Authenticate = (secret: string) => Caller | undefined | Promise<Caller | undefined>;

const bearer = /^bearer +([\x21-\x7e]+) *$/i;

/** The secret of `Authorization: Bearer …`, the only place one is taken from. */
export function bearerSecret(req: IncomingMessage): string | undefined {
  const header = req.headers.authorization;
  if (header === undefined) return undefined;
  if (header.startsWith('Bearer ') && header.indexOf(' ', 7) === -1 && header.length > 7) return header.slice(7);
  return bearer.exec(header)?.[1];
}

/**
 * The door of both faces: answers before anything of a body is read.
 *
 * @returns the caller, at once when the key is known in memory.
 * @throws DomainError INVALID_API_KEY, thrown or rejected.
 */
export function authenticate(req: IncomingMessage, lookUp: Authenticate): Caller | Promise<Caller> {
  const secret = bearerSecret(req);
  if (secret === undefined) {
    throw new DomainError('INVALID_API_KEY', 'No API key was given; send it in the header "Authorization: Bearer <API_KEY>"');
  }
  const found = lookUp(secret);
  return found instanceof Promise ? found.then((caller) => admit(req, caller)) : admit(req, found);
}

function admit(req: IncomingMessage, caller: Caller | undefined): Caller {
  if (caller === undefined) throw new DomainError('INVALID_API_KEY', 'The API key is unknown, revoked or expired');
  noteKey(req, caller.keyId);
  return caller;
}
