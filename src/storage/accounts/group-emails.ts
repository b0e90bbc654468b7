// Raw SQL: members of many groups change in one statement, by the tenant of their group's organization.
import type { User } from '../../entities/accounts/account.ts';
import type { Transaction } from '../database/prisma.ts';

interface Changed {
  readonly groupId: string;
}

/** Groups name members by e-mail, also before there is such a user: those that wait for this e-mail become the user's. @returns their groups. */
export async function claimGroupMembers(
  tx: Pick<Transaction, 'query'>,
  { id, tenantId, email }: Pick<User, 'id' | 'tenantId' | 'email'>,
): Promise<readonly string[]> {
  const { rows } = await tx.query<Changed>(
    `update group_members m set "userId" = $1, "updatedAt" = now()
     from groups g join organizations o on o.id = g."orgId"
     where g.id = m."groupId" and o."tenantId" = $2 and m.email = $3 and m."userId" is null
     returning m."groupId"`,
    [id, tenantId, email],
  );
  return rows.map(({ groupId }) => groupId);
}

/** Members that are the user bear the new e-mail of the user; where both e-mails stand in a group, the new one stays. @returns the groups. */
export async function renameGroupMembers(tx: Transaction, { id, email }: User): Promise<readonly string[]> {
  await tx.query(
    `delete from group_members m where m."userId" = $1 and m.email <> $2
       and exists (select 1 from group_members n where n."groupId" = m."groupId" and n.email = $2)`,
    [id, email],
  );
  const { rows } = await tx.query<Changed>(
    'update group_members set email = $2, "updatedAt" = now() where "userId" = $1 and email <> $2 returning "groupId"',
    [id, email],
  );
  return rows.map(({ groupId }) => groupId);
}
