import { DomainError } from '../../../entities/ground/errors.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import { hashSecret } from '../../../entities/people/api-key.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { isSession, isSignInSecret, type Session } from '../../../entities/people/session.ts';
import type { Deps } from '../../deps.ts';

/**
 * The caller of a session; undefined for one that is unknown, has ended or expired, or whose user left its organization. Cached as keys are: an end
 * reaches every instance within a second. Notes the use of the session, which moves its expiry.
 */
export function authenticateSession(deps: Deps, secret: string): Caller | undefined | Promise<Caller | undefined> {
  if (!isSignInSecret(secret)) return undefined;
  return deps.storage.people.sessions.findCaller(hashSecret(secret), deps.now().getTime());
}

/** Whether the session is cached, without a statement. */
export function isFamiliarSession(deps: Deps, secret: string): boolean {
  return deps.storage.people.sessions.isFamiliar(hashSecret(secret));
}

/** The caller's own sessions in all organizations, newest first; without those that have ended. */
export function listSessions(deps: Deps, caller: Caller, page: PageRequest): Promise<Page<Session>> {
  return deps.storage.people.sessions.list(caller.userId, deps.now(), page);
}

/** The caller's own sessions among `ids`, in any order, also those that have ended. */
export async function getSessions(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly Session[]> {
  return (await deps.storage.people.sessions.findMany(ids)).filter(({ userId }) => userId === caller.userId);
}

/**
 * Ends one of the caller's own sessions: after a second no instance accepts it, and within five its open streams and its runs end.
 *
 * @throws DomainError NOT_FOUND for one that is not the caller's own, or has ended.
 */
export async function endSession(deps: Deps, caller: Caller, id: string): Promise<Session> {
  const [session] = await getSessions(deps, caller, [id]);
  if (session === undefined) throw missingSession();
  const endedAt = deps.now();
  return deps.audit.change(caller, async () => {
    if (!(await deps.storage.people.sessions.end(id, 'REVOKED', endedAt))) throw missingSession();
    return { ...session, endedAt };
  });
}

/** Ends all sessions of the caller's user but the one of this call, and all connected clients. A call with a key ends all. @returns how many sessions. */
export async function endOtherSessions(deps: Deps, caller: Caller): Promise<number> {
  const endedSessions = await deps.audit.change(caller, async () => {
    const keptId = isSession(caller) ? caller.keyId : undefined;
    const count = await deps.storage.people.sessions.endOthers(caller.userId, keptId, 'REVOKED', deps.now());
    await deps.storage.people.apps.endAll(caller.userId, deps.now());
    return { id: caller.userId, orgId: caller.orgId, count };
  });
  return endedSessions.count;
}

function missingSession(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such session', { param: 'id' });
}
