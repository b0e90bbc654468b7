import type { SessionEnd } from '../../entities/people/session.ts';
import type { Transaction } from '../ground/database.ts';
import { lockRow } from '../ground/sql/locks.ts';
import { PublishingStore } from '../ground/store.ts';

/** People who administer the installation. */
export class OperatorStore extends PublishingStore {
  async isOperator(id: string): Promise<boolean> {
    return (await this.db.prisma.user.count({ where: { id, isOperator: true } })) > 0;
  }

  /** Those of the users who are operators. */
  async among(userIds: readonly string[]): Promise<ReadonlySet<string>> {
    const where = { id: { in: [...userIds] }, isOperator: true };
    return new Set((await this.db.prisma.user.findMany({ where, select: { id: true } })).map(({ id }) => id));
  }

  /** Whether the user is one, or one of the members of the organization; of both, whether a member of it with that id is. */
  async isConcerned({
    orgId,
    userId,
  }: {
    readonly orgId?: string | undefined;
    readonly userId?: string | undefined;
  }): Promise<boolean> {
    const idCondition = userId === undefined ? {} : { id: userId };
    const inside = orgId === undefined ? {} : { memberships: { some: { orgId } } };
    return (await this.db.prisma.user.count({ where: { ...idCondition, ...inside, isOperator: true }, take: 1 })) > 0;
  }

  /** Sessions that reach the installation end with the right: RIGHTS_CHANGED. @returns false when there is no such user. */
  async set(userId: string, isOperator: boolean): Promise<boolean> {
    const isThere = await this.db.transaction(async (tx) => {
      if (!(await lockRow(tx, 'users', userId))) return false;
      if (!isOperator) await endOperator(tx, userId);
      else await tx.prisma.user.updateMany({ where: { id: userId, isOperator: false }, data: { isOperator } });
      return true;
    });
    if (isThere) this.signals.publish('user-changed', userId);
    return isThere;
  }
}

/** Takes the right away, with the sessions that have its reach, in the transaction of a change that publishes `user-changed`. */
export async function endOperator({ prisma }: Transaction, userId: string): Promise<void> {
  const { count } = await prisma.user.updateMany({ where: { id: userId, isOperator: true }, data: { isOperator: false } });
  if (count === 0) return;
  const data = { endedAt: new Date(), endedBy: 'RIGHTS_CHANGED' satisfies SessionEnd };
  await prisma.session.updateMany({ where: { userId, level: 'INSTANCE', endedAt: null }, data });
}
