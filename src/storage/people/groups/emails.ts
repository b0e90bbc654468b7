import type { User } from '../../../entities/people/account.ts';
import type { Transaction } from '../../ground/database.ts';

/** A group may name a member by an e-mail that no user has yet. Assigns the members with the user's e-mail to the user. @returns their groups. */
export async function claimGroupMembers(
  { prisma }: Pick<Transaction, 'prisma'>,
  { id, tenantId, email }: Pick<User, 'id' | 'tenantId' | 'email'>,
): Promise<readonly string[]> {
  const { groupMember, organization } = prisma;
  const where = { email, userId: null };
  const members = await groupMember.findMany({ where, select: { groupId: true, group: { select: { orgId: true } } } });
  if (members.length === 0) return [];
  const ofTenant = { id: { in: members.map(({ group }) => group.orgId) }, tenantId };
  const orgIds = new Set((await organization.findMany({ where: ofTenant, select: { id: true } })).map((row) => row.id));
  const groupIds = members.flatMap(({ groupId, group }) => (orgIds.has(group.orgId) ? groupId : []));
  const own = { ...where, groupId: { in: groupIds } };
  const claimedMembers = await groupMember.updateManyAndReturn({ where: own, data: { userId: id }, select: { groupId: true } });
  return claimedMembers.map(({ groupId }) => groupId);
}

/**
 * Gives the user's group members the user's new e-mail. Where a group has a member of either e-mail, the one with the new e-mail stays. @returns the
 * groups.
 */
export async function renameGroupMembers({ prisma }: Transaction, { id, email }: User): Promise<readonly string[]> {
  const where = { userId: id, email: { not: email } };
  await prisma.groupMember.deleteMany({ where: { ...where, group: { members: { some: { email } } } } });
  const renamedMembers = await prisma.groupMember.updateManyAndReturn({ where, data: { email }, select: { groupId: true } });
  return renamedMembers.map(({ groupId }) => groupId);
}
