// Raw SQL: the members of many groups are replaced in one statement.
import type { GroupMembers } from '../../../entities/knowledge/permissions.ts';
import type { Transaction } from '../../ground/database.ts';
import { sharePermissions } from '../../ground/sql/locks.ts';
import { internPrincipals, type PrincipalPlace } from './principals.ts';

/**
 * Stores the members of groups in place of those before. A group whose members the service does not tell, such as one that is gone, opens nothing from
 * then on; what only failed for the moment is not told here, and keeps what was known.
 * The last of two with one id wins.
 *
 * @returns how many members came and went. Cost: at most eight statements for any number of groups.
 */
export async function writeGroups(tx: Transaction, place: PrincipalPlace, groups: readonly GroupMembers[]): Promise<number> {
  if (groups.length === 0) return 0;
  await sharePermissions(tx, place.orgId);
  const groupsById = [...new Map(groups.map((group) => [group.id, group])).values()];
  const memberLists = groupsById.map(({ members }) => ('unknown' in members ? [] : members));
  const principals = await internPrincipals(tx, place, [
    ...groupsById.map(({ id }) => ({ kind: 'group', id }) as const),
    ...memberLists.flat(),
  ]);
  const groupIds = groupsById.map(({ id }) => principals.idsOf([{ kind: 'group', id }])[0] ?? 0);
  await tx.execute(writeStateSql, [
    groupIds,
    groupsById.map(({ name }) => name ?? null),
    groupsById.map(({ members }) => ('unknown' in members ? JSON.stringify(members.unknown) : null)),
  ]);
  const pairs = groupIds.flatMap((groupId, index) =>
    principals.idsOf(memberLists[index] ?? []).map((memberId) => ({ groupId, memberId })),
  );
  const values = [pairs.map(({ groupId }) => groupId), pairs.map(({ memberId }) => memberId)];
  const removedCount = await tx.execute(removeSql, [...values, groupIds]);
  return removedCount + (pairs.length > 0 ? await tx.execute(addSql, values) : 0);
}

const writeStateSql = `
update permission_principals as known set name = coalesce(given.name, known.name), unknown = given.reason::jsonb,
  "membersReadAt" = case when given.reason is null then now() end
from unnest($1::int[], $2::text[], $3::text[]) as given(id, name, reason) where known.id = given.id`;

const removeSql = `
delete from permission_members as known where known."groupId" = any($3::int[])
  and (known."groupId", known."memberId") not in (select group_id, member_id from unnest($1::int[], $2::int[]) as given(group_id, member_id))`;

const addSql = `
insert into permission_members ("groupId", "memberId") select group_id, member_id from unnest($1::int[], $2::int[]) as given(group_id, member_id)
on conflict do nothing`;
