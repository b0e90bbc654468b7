// Raw SQL: attempts at one moment must all be counted, so the count goes up and is read in one upsert with a condition.
import type { AccessLevel } from '../../../entities/people/caller.ts';
import { isAhead } from '../../ground/sql/clock.ts';
import { Store } from '../../ground/store.ts';

export interface KnownPassword {
  readonly userId: string;
  readonly hash: string;
  readonly level: AccessLevel;
  /** Organizations that it opens. */
  readonly orgIds: readonly string[];
}
/** `level` is that of the session in which it is set. */
export type NewPassword = KnownPassword;

/** Hashes of passwords, and attempts to guess them. */
export class PasswordStore extends Store {
  /** The hash of a user's password; undefined when the user has none. */
  async find(userId: string): Promise<string | undefined> {
    return (await this.db.prisma.password.findUnique({ where: { userId }, select: { hash: true } }))?.hash;
  }

  /** Users of any tenant with the e-mail and a password, the oldest first; at most `limit`. */
  async findByEmail(email: string, limit: number): Promise<readonly KnownPassword[]> {
    const select = { id: true, password: { select: { hash: true, level: true, orgIds: true } } };
    const where = { email: email.toLowerCase(), password: { isNot: null } };
    const users = await this.db.prisma.user.findMany({
      where,
      select,
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      take: limit,
    });
    return users.flatMap(({ id, password }) =>
      password === null ? [] : [{ userId: id, ...password, level: password.level as AccessLevel }],
    );
  }

  /** Takes the place of the one that the user has. */
  async set({ userId, hash, level, orgIds }: NewPassword, at: Date): Promise<void> {
    const changes = { hash, level, orgIds: [...orgIds], updatedAt: at };
    await this.db.prisma.password.upsert({ where: { userId }, create: { userId, createdAt: at, ...changes }, update: changes });
  }

  /** Organizations that the password of a user opens. */
  async orgIdsOf(userId: string): Promise<readonly string[]> {
    return (await this.db.prisma.password.findUnique({ where: { userId }, select: { orgIds: true } }))?.orgIds ?? [];
  }
}

/** A window has passed, or began before the clock was set back. */
const isOver = `(mine."resetAt" <= now() or ${isAhead('mine."resetAt"', "$2 * interval '1 millisecond' + interval '1 minute'")})`;

/** Counts attempts, for all instances together. */
export class AttemptStore extends Store {
  /**
   * Counts an attempt, before it is made: attempts at one moment are all counted.
   *
   * @param subject  who makes it, or for whom: a hash.
   * @returns how many there were in this window, with this one, and when the window ends.
   */
  async count(subject: string, windowMs: number): Promise<{ readonly count: number; readonly leftMs: number }> {
    const [row] = await this.db.query<{ count: number; leftMs: number }>(
      `insert into sign_in_attempts as mine (subject, count, "resetAt") values ($1, 1, now() + $2 * interval '1 millisecond')
         on conflict (subject) do update set
           count = case when ${isOver} then 1 else least(mine.count + 1, 1000000) end,
           "resetAt" = case when ${isOver} then excluded."resetAt" else mine."resetAt" end
         returning count, (extract(epoch from "resetAt" - now()) * 1000)::float8 as "leftMs"`,
      [subject, windowMs],
    );
    if (row === undefined) throw new Error('an attempt was not counted');
    return row;
  }

  /** Forgets the attempts of a subject. */
  async clear(subject: string): Promise<void> {
    await this.db.prisma.signInAttempt.deleteMany({ where: { subject } });
  }

  /** Takes one attempt back. */
  async giveBack(subject: string): Promise<void> {
    await this.db.prisma.signInAttempt.updateMany({ where: { subject, count: { gt: 0 } }, data: { count: { decrement: 1 } } });
  }

  /** Deletes what no longer counts. */
  async sweep(): Promise<void> {
    await this.db.prisma.signInAttempt.deleteMany({ where: { resetAt: { lt: new Date() } } });
  }
}
