import type { SessionEnd } from '../../entities/people/session.ts';
import type { Database, Transaction } from '../ground/database.ts';
import type { Signals } from '../ground/signals/signals.ts';
import { lockRow } from '../ground/sql/locks.ts';

/** People who administer the installation. */
export interface OperatorStore {
  isOperator(userId: string): Promise<boolean>;
  /** Those of the users who are operators. */
  among(userIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Whether the user is one, or one of the members of the organization; of both, whether a member of it with that id is. */
  isConcerned(target: { readonly orgId?: string | undefined; readonly userId?: string | undefined }): Promise<boolean>;
  /** Sessions that reach the installation end with the right: RIGHTS_CHANGED. @returns false when there is no such user. */
  set(userId: string, isOperator: boolean): Promise<boolean>;
}

export function createOperatorStore(db: Database, signals: Signals): OperatorStore {
  return {
    isOperator: async (id) => (await db.prisma.user.count({ where: { id, isOperator: true } })) > 0,
    async among(userIds) {
      const where = { id: { in: [...userIds] }, isOperator: true };
      return new Set((await db.prisma.user.findMany({ where, select: { id: true } })).map(({ id }) => id));
    },
    async isConcerned({ orgId, userId }) {
      const named = userId === undefined ? {} : { id: userId };
      const inside = orgId === undefined ? {} : { memberships: { some: { orgId } } };
      return (await db.prisma.user.count({ where: { ...named, ...inside, isOperator: true }, take: 1 })) > 0;
    },
    async set(userId, isOperator) {
      const isThere = await db.transaction(async (tx) => {
        if (!(await lockRow(tx, 'users', userId))) return false;
        if (!isOperator) await endOperator(tx, userId);
        else await tx.prisma.user.updateMany({ where: { id: userId, isOperator: false }, data: { isOperator } });
        return true;
      });
      if (isThere) signals.publish('user-changed', userId);
      return isThere;
    },
  };
}

/** Takes the right away, with the sessions that have its reach, in the transaction of a change that publishes `user-changed`. */
export async function endOperator({ prisma }: Transaction, userId: string): Promise<void> {
  const { count } = await prisma.user.updateMany({ where: { id: userId, isOperator: true }, data: { isOperator: false } });
  if (count === 0) return;
  const data = { endedAt: new Date(), endedBy: 'RIGHTS_CHANGED' satisfies SessionEnd };
  await prisma.session.updateMany({ where: { userId, level: 'INSTANCE', endedAt: null }, data });
}
