// Raw SQL: members of many groups change in one statement. The tenant is that of the group's organization.
import type { User } from '../../entities/accounts/account.ts';
import type { Sql, Transaction } from '../database/database.ts';

interface Changed {
  readonly groupId: string;
}

/** A group may name a member by an e-mail that no user has yet. Assigns the members with the user's e-mail to the user. @returns their groups. */
export async function claimGroupMembers(
  sql: Sql,
  { id, tenantId, email }: Pick<User, 'id' | 'tenantId' | 'email'>,
): Promise<readonly string[]> {
  const rows = await sql.query<Changed>(
    `update group_members m set "userId" = $1, "updatedAt" = now()
     from groups g join organizations o on o.id = g."orgId"
     where g.id = m."groupId" and o."tenantId" = $2 and m.email = $3 and m."userId" is null
     returning m."groupId"`,
    [id, tenantId, email],
  );
  return rows.map(({ groupId }) => groupId);
}

/**
 * Gives the user's group members the user's new e-mail. Where a group has a member of either e-mail, the one with the new e-mail stays. @returns the
 * groups.
 */
export async function renameGroupMembers(tx: Transaction, { id, email }: User): Promise<readonly string[]> {
  await tx.execute(
    `delete from group_members m where m."userId" = $1 and m.email <> $2
       and exists (select 1 from group_members n where n."groupId" = m."groupId" and n.email = $2)`,
    [id, email],
  );
  const rows = await tx.query<Changed>(
    'update group_members set email = $2, "updatedAt" = now() where "userId" = $1 and email <> $2 returning "groupId"',
    [id, email],
  );
  return rows.map(({ groupId }) => groupId);
}
