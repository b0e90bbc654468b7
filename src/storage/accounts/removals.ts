import { createHash } from 'node:crypto';
import type { Database, Transaction } from '../database/database.ts';

/** Somebody by id and address: an address may change, and an id goes with its user. */
export interface RemovedPerson {
  readonly userId: string | undefined;
  readonly email: string;
}

/** People who were removed from an organization: no sign-in brings them back. */
export interface RemovalStore {
  isRemoved(orgId: string, person: RemovedPerson): Promise<boolean>;
}

export function createRemovalStore(db: Database): RemovalStore {
  return {
    isRemoved: async (orgId, person) => (await db.prisma.removal.count({ where: whereOf(orgId, person) })) > 0,
  };
}

/** Notes the end of a membership, in its transaction. Open invitations of the person end too: they were made before. */
export async function noteRemoval({ prisma }: Pick<Transaction, 'prisma'>, orgId: string, userId: string): Promise<void> {
  const user = await prisma.user.findUnique({ where: { id: userId }, select: { email: true } });
  if (user === null) return;
  const { email } = user;
  const at = new Date();
  const data = hashesOf({ userId, email }).map((personHash) => ({ orgId, personHash, createdAt: at }));
  await prisma.removal.createMany({ data, skipDuplicates: true });
  await prisma.invitation.updateMany({ where: { orgId, email, acceptedAt: null, revokedAt: null }, data: { revokedAt: at } });
}

/** Whoever an administrator or a directory adds anew is not removed any more. */
export async function forgetRemoval({ prisma }: Pick<Transaction, 'prisma'>, orgId: string, userId: string): Promise<void> {
  const user = await prisma.user.findUnique({ where: { id: userId }, select: { email: true } });
  if (user !== null) await prisma.removal.deleteMany({ where: whereOf(orgId, { userId, email: user.email }) });
}

function whereOf(orgId: string, person: RemovedPerson) {
  return { orgId, personHash: { in: [...hashesOf(person)] } };
}

/** No address and no id stands in the table: it stays when a person is erased. */
function hashesOf({ userId, email }: RemovedPerson): readonly string[] {
  const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
  return [hashOf(`email ${email.toLowerCase()}`), ...(userId === undefined ? [] : [hashOf(`user ${userId}`)])];
}
