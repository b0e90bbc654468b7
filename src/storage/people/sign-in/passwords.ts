// Raw SQL: attempts at one moment must all be counted, so the count goes up and is read in one upsert with a condition.
import type { AccessLevel } from '../../../entities/people/caller.ts';
import type { Database } from '../../ground/database.ts';

/** Hashes of passwords, and attempts to guess them. */
export interface PasswordStore {
  /** The hash of a user's password; undefined when the user has none. */
  find(userId: string): Promise<string | undefined>;
  /** Users of any tenant with the e-mail and a password, the oldest first; at most `limit`. */
  findByEmail(email: string, limit: number): Promise<readonly KnownPassword[]>;
  /** Takes the place of the one that the user has. */
  set(password: NewPassword, at: Date): Promise<void>;
  /** Organizations that the password of a user opens. */
  orgIdsOf(userId: string): Promise<readonly string[]>;
}

export interface KnownPassword {
  readonly userId: string;
  readonly hash: string;
  readonly level: AccessLevel;
  /** Organizations that it opens. */
  readonly orgIds: readonly string[];
}
/** `level` is that of the session in which it is set. */
export type NewPassword = KnownPassword;

/** Counts attempts, for all instances together. */
export interface AttemptStore {
  /**
   * Counts an attempt, before it is made: attempts at one moment are all counted.
   *
   * @param subject  who makes it, or for whom: a hash.
   * @returns how many there were in this window, with this one, and when the window ends.
   */
  count(subject: string, windowMs: number): Promise<{ readonly count: number; readonly leftMs: number }>;
  /** Forgets the attempts of a subject. */
  clear(subject: string): Promise<void>;
  /** Takes one attempt back. */
  giveBack(subject: string): Promise<void>;
  /** Deletes what no longer counts. */
  sweep(): Promise<void>;
}

export function createPasswordStore(db: Database): PasswordStore {
  return {
    find: async (userId) => (await db.prisma.password.findUnique({ where: { userId }, select: { hash: true } }))?.hash,
    async findByEmail(email, limit) {
      const select = { id: true, password: { select: { hash: true, level: true, orgIds: true } } };
      const where = { email: email.toLowerCase(), password: { isNot: null } };
      const users = await db.prisma.user.findMany({ where, select, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }], take: limit });
      return users.flatMap(({ id, password }) =>
        password === null ? [] : [{ userId: id, ...password, level: password.level as AccessLevel }],
      );
    },
    async set({ userId, hash, level, orgIds }, at) {
      const changes = { hash, level, orgIds: [...orgIds], updatedAt: at };
      await db.prisma.password.upsert({ where: { userId }, create: { userId, createdAt: at, ...changes }, update: changes });
    },
    orgIdsOf: async (userId) =>
      (await db.prisma.password.findUnique({ where: { userId }, select: { orgIds: true } }))?.orgIds ?? [],
  };
}

export function createAttemptStore(db: Database): AttemptStore {
  return {
    async count(subject, windowMs) {
      const [row] = await db.query<{ count: number; leftMs: number }>(
        `insert into sign_in_attempts as mine (subject, count, "resetAt") values ($1, 1, now() + $2 * interval '1 millisecond')
         on conflict (subject) do update set
           count = case when mine."resetAt" <= now() then 1 else least(mine.count + 1, 1000000) end,
           "resetAt" = case when mine."resetAt" <= now() then excluded."resetAt" else mine."resetAt" end
         returning count, (extract(epoch from "resetAt" - now()) * 1000)::float8 as "leftMs"`,
        [subject, windowMs],
      );
      if (row === undefined) throw new Error('an attempt was not counted');
      return row;
    },
    async clear(subject) {
      await db.prisma.signInAttempt.deleteMany({ where: { subject } });
    },
    async giveBack(subject) {
      await db.prisma.signInAttempt.updateMany({ where: { subject, count: { gt: 0 } }, data: { count: { decrement: 1 } } });
    },
    async sweep() {
      await db.prisma.signInAttempt.deleteMany({ where: { resetAt: { lt: new Date() } } });
    },
  };
}
