import { isId } from '../../../entities/ground/ids.ts';
import type { MemberRole } from '../../../entities/people/caller.ts';
import type { SessionEnd } from '../../../entities/people/session.ts';
import type { Database } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { type KnownCaller, loadActingKey, loadKey } from './known-callers.ts';

/** The check also finds expiry, which no signal announces, and changes whose signal was lost. */
const checkEveryMs = 3_000;

interface Listener {
  readonly ends: (now: KeyState | undefined) => boolean;
  readonly onEnd: () => void;
}

/** What a key that is not revoked allows. */
interface KeyState {
  readonly isExpired: boolean;
  readonly role: string;
}

/** Ends long work (streams, runs) when its key or its session ends. */
export class KeyWatch {
  readonly #db: Database;
  readonly #listeners = new Map<string, Set<Listener>>();
  #timer: NodeJS.Timeout | undefined;
  readonly #unsubscribe: readonly (() => void)[];
  readonly #check = (): void => {
    const keyIds = [...this.#listeners.keys()];
    if (keyIds.length === 0) return;
    // An unreachable database ends no stream: the next check asks again.
    this.#db
      .runForAll(() => findLiving(this.#db, keyIds))
      .then(
        (living) => {
          for (const keyId of keyIds) this.#tell(keyId, living.get(keyId));
        },
        () => undefined,
      );
  };

  constructor(db: Database, signals: Signals) {
    this.#db = db;
    this.#unsubscribe = [
      signals.subscribe('key-changed', (keyId) => {
        if (this.#listeners.has(keyId)) this.#check();
      }),
      signals.subscribe('user-changed', this.#check),
      signals.subscribe('organization-changed', this.#check),
      signals.onGap(this.#check),
    ];
  }

  /**
   * Calls `onEnd` once, within 5 seconds after the key was revoked or expired, or its user left the organization, on any instance. For a session: after
   * it ended or expired.
   *
   * @returns a function that stops watching.
   */
  watch(keyId: string, onEnd: () => void): () => void {
    return this.#add(keyId, { ends: (now) => now === undefined || now.isExpired, onEnd });
  }

  /** Like `watch`, for work that may outlive the expiry of its key: calls only when the key was revoked, or its user left the organization. A session may
   * be outlived unless it was REVOKED. */
  watchRevocation(keyId: string, onRevoked: () => void): () => void {
    return this.#add(keyId, { ends: (now) => now === undefined, onEnd: onRevoked });
  }

  /** Calls `onChanged` once, as soon after, when the user of the key gets another role in its organization. */
  watchRole(keyId: string, role: MemberRole, onChanged: () => void): () => void {
    return this.#add(keyId, { ends: (now) => now !== undefined && now.role !== role, onEnd: onChanged });
  }

  close(): void {
    clearInterval(this.#timer);
    for (const stop of this.#unsubscribe) stop();
    this.#listeners.clear();
  }

  #tell(keyId: string, now: KeyState | undefined): void {
    const ofKey = this.#listeners.get(keyId) ?? new Set();
    const endedListeners = [...ofKey].filter(({ ends }) => ends(now));
    for (const listener of endedListeners) ofKey.delete(listener);
    if (ofKey.size === 0) this.#listeners.delete(keyId);
    for (const { onEnd } of endedListeners) onEnd();
  }

  #add(keyId: string, listener: Listener): () => void {
    const ofKey = this.#listeners.get(keyId) ?? new Set();
    this.#listeners.set(keyId, ofKey.add(listener));
    this.#timer ??= setInterval(this.#check, checkEveryMs).unref();
    return () => {
      ofKey.delete(listener);
      if (ofKey.size === 0 && this.#listeners.get(keyId) === ofKey) this.#listeners.delete(keyId);
    };
  }
}

/** Those of some keys that open anything but for their time: not revoked, the user still there, and the maker still one who may make them. */
export async function livingKeys(db: Database, ids: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set((await findLiving(db, ids)).keys());
}

/** The keys and sessions that are alive. Those that were revoked, or whose user left the organization, are absent. */
async function findLiving(db: Database, ids: readonly string[]): Promise<ReadonlyMap<string, KeyState>> {
  const sessionIds = ids.filter((id) => isId('session', id));
  const scheduleIds = ids.filter((id) => isId('schedule', id));
  const experimentIds = ids.filter((id) => isId('experiment', id));
  const keyIds = ids.filter((id) => !isId('session', id) && !isId('schedule', id) && !isId('experiment', id));
  const living = [
    ...(keyIds.length === 0 ? [] : await findLivingKeys(db, keyIds)),
    ...(scheduleIds.length === 0 ? [] : await findLivingSchedules(db, scheduleIds)),
    ...(experimentIds.length === 0 ? [] : await findLivingExperiments(db, experimentIds)),
    ...(sessionIds.length === 0 ? [] : await findLivingSessions(db, sessionIds)),
  ];
  if (living.length === 0) return new Map();
  const where = { OR: living.map(({ orgId, userId }) => ({ orgId, userId })) };
  const select = { id: true, orgId: true, userId: true, role: true };
  const livingMembers = await db.prisma.membership.findMany({ where, select });
  const members = new Map(livingMembers.map((member) => [`${member.orgId} ${member.userId}`, member]));
  return new Map(
    living.flatMap(({ id, isExpired, orgId, userId, membershipId = null }) => {
      const member = members.get(`${orgId} ${userId}`);
      if (member === undefined || (membershipId !== null && membershipId !== member.id)) return [];
      return [[id, { isExpired, role: member.role }] as const];
    }),
  );
}

interface Living {
  readonly id: string;
  readonly orgId: string;
  readonly userId: string;
  readonly isExpired: boolean;
  /** The only membership that it is of. */
  readonly membershipId?: string | null;
}

/** A key that was made for another person lives while its maker may make it. */
async function findLivingKeys(db: Database, ids: readonly string[]): Promise<readonly Living[]> {
  const select = { id: true, expiresAt: true, orgId: true, userId: true, membershipId: true, lentKeyId: true };
  const keys = await db.prisma.apiKey.findMany({ where: { id: { in: [...ids] }, revokedAt: null }, select });
  const living: Living[] = [];
  const nowMs = Date.now();
  for (const { lentKeyId, expiresAt, ...key } of keys) {
    if (lentKeyId !== null && (await loadKey(db, { id: key.id })) === undefined) continue;
    living.push({ ...key, isExpired: expiresAt !== null && expiresAt.getTime() <= nowMs });
  }
  return living;
}

/** Runs that a schedule began carry its id in the place of a key: they end when it is deleted, and when its person leaves. */
async function findLivingSchedules({ prisma }: Database, ids: readonly string[]): Promise<readonly Living[]> {
  const select = { id: true, orgId: true, userId: true };
  const schedules = await prisma.schedule.findMany({ where: { id: { in: [...ids] } }, select });
  return schedules.map((schedule) => ({ ...schedule, isExpired: false }));
}

/** So do those of experiments. */
async function findLivingExperiments({ prisma }: Database, ids: readonly string[]): Promise<readonly Living[]> {
  const select = { id: true, orgId: true, userId: true };
  const experiments = await prisma.experiment.findMany({ where: { id: { in: [...ids] } }, select });
  return experiments.map((experiment) => ({ ...experiment, isExpired: false }));
}

function callerHasExpired(key: KnownCaller | undefined, nowMs: number): boolean {
  return key !== undefined && key.expiresAtMs <= nowMs;
}

/** A session that ended by itself, by its user or by a new sign-in counts as expired. */
async function findLivingSessions(db: Database, ids: readonly string[]): Promise<readonly Living[]> {
  const select = { id: true, expiresAt: true, endedAt: true, endedBy: true, orgId: true, userId: true, throughKeyId: true };
  const sessions = await db.prisma.session.findMany({ where: { id: { in: [...ids] } }, select });
  const keyIds = [...new Set(sessions.flatMap(({ throughKeyId }) => throughKeyId ?? []))];
  const keys = new Map<string | null, KnownCaller | undefined>();
  for (const id of keyIds) keys.set(id, await loadActingKey(db, id));
  const nowMs = Date.now();
  return sessions
    .filter(({ endedBy }) => endedBy !== ('REVOKED' satisfies SessionEnd))
    .filter(({ throughKeyId }) => throughKeyId === null || keys.get(throughKeyId) !== undefined)
    .map(({ id, orgId, userId, endedAt, expiresAt, throughKeyId }) => ({
      ...{ id, orgId, userId },
      isExpired: endedAt !== null || expiresAt.getTime() <= nowMs || callerHasExpired(keys.get(throughKeyId), nowMs),
    }));
}
