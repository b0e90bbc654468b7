import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../entities/ground/errors.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { Connection } from '../connections/connection.ts';
import { noteKey } from '../log/access-log.ts';
import type { FailedKeys } from './failed-keys.ts';
import { type Addressing, readSessionSecret, requireOwnPage } from './session-cookie.ts';

/** Who a secret belongs to; undefined for one that is unknown, revoked or expired. Answers without a promise when it knows. */
export type Authenticate = (secret: string) => Caller | undefined | Promise<Caller | undefined>;

/** How keys are looked up, and how addresses that guess keys are slowed down. */
export interface KeyCheck {
  readonly lookUp: Authenticate;
  /** Whether this process has accepted the key before. Such a key is looked up even after its address sent too many unknown ones. */
  readonly isFamiliar: (secret: string) => boolean;
  readonly failedKeys: FailedKeys;
  /** Whether a trusted proxy names a person in the request. */
  readonly isNamed?: (req: IncomingMessage) => boolean;
  /** The caller that a trusted proxy names in the request, with its key or without; undefined where it names nobody. */
  readonly actFor?: (req: IncomingMessage, key: Caller | undefined) => Promise<Caller> | undefined;
}

const bearer = /^bearer +([\x21-\x7e]+) *$/i;

/** The secret of `Authorization: Bearer …`, the only place one is taken from. */
export function bearerSecret(req: IncomingMessage): string | undefined {
  const header = req.headers.authorization;
  if (header === undefined) return undefined;
  if (header.startsWith('Bearer ') && header.indexOf(' ', 7) === -1 && header.length > 7) return header.slice(7);
  return bearer.exec(header)?.[1];
}

/**
 * The first step of both APIs: runs before any byte of a body is read.
 *
 * @returns the caller, at once when the key is known in memory.
 * @throws DomainError INVALID_API_KEY; RATE_LIMIT_EXCEEDED for an address that sent too many unknown keys; OVERLOADED while clients of the
 *   organization leave too many bytes unread. Thrown or rejected.
 */
export function authenticate(req: IncomingMessage, check: KeyCheck): Caller | Promise<Caller> {
  const foundCaller = authenticateBy(req, bearerSecret(req), check, 'The API key is unknown, revoked or expired');
  return check.actFor === undefined
    ? foundCaller
    : Promise.resolve(foundCaller).then((key) => acting(req, check.actFor?.(req, key)) ?? key);
}

/** How sessions are looked up; addresses that guess share their bound with those that guess keys. */
export interface SessionCheck extends KeyCheck {
  readonly addressing: Addressing;
}

/**
 * The same for a way in that browsers use: a request without the header `Authorization` is of its session, if it has one.
 *
 * @throws DomainError as `authenticate`; FORBIDDEN for a request with a session that no page of this service made.
 */
export function authenticateBrowser(req: IncomingMessage, keys: KeyCheck, sessions: SessionCheck): Caller | Promise<Caller> {
  if (req.headers.authorization === undefined) {
    // The proxy knows who sits at the browser now; a cookie may be of the person before.
    if (keys.isNamed?.(req) === true) requireOwnPage(req, sessions.addressing);
    const namedCaller = acting(req, keys.actFor?.(req, undefined));
    if (namedCaller !== undefined) return namedCaller;
  }
  const secret = req.headers.authorization === undefined ? readSessionSecret(req, sessions.addressing) : undefined;
  if (secret === undefined) return authenticate(req, keys);
  requireOwnPage(req, sessions.addressing);
  return authenticateBy(req, secret, sessions, 'The session has ended; sign in again at /sign-in');
}

function authenticateBy(
  req: IncomingMessage,
  secret: string | undefined,
  { lookUp, isFamiliar, failedKeys }: KeyCheck,
  refusal: string,
): Caller | Promise<Caller> {
  if (failedKeys.isExhausted(req) && (secret === undefined || !isFamiliar(secret))) throw failedKeys.refusal();
  if (secret === undefined) {
    failedKeys.note(req);
    throw new DomainError('INVALID_API_KEY', 'No API key was given; send it in the header "Authorization: Bearer <API_KEY>"');
  }
  const foundCaller = lookUp(secret);
  const admitCaller = (caller: Caller | undefined) => admit(req, caller, failedKeys, refusal);
  return foundCaller instanceof Promise ? foundCaller.then(admitCaller) : admitCaller(foundCaller);
}

function acting(req: IncomingMessage, namedCaller: Promise<Caller> | undefined): Promise<Caller> | undefined {
  return namedCaller?.then((caller) => {
    noteKey(req, caller.keyId);
    Connection.of(req)?.enter(caller.orgId);
    return caller;
  });
}

function admit(req: IncomingMessage, caller: Caller | undefined, failedKeys: FailedKeys, refusal: string): Caller {
  if (caller === undefined) {
    failedKeys.note(req);
    throw new DomainError('INVALID_API_KEY', refusal);
  }
  noteKey(req, caller.keyId);
  Connection.of(req)?.enter(caller.orgId);
  return caller;
}
