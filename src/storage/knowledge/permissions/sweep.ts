// Raw SQL: rows that no other row names, found and deleted by one statement each.
import type { Database, Transaction } from '../../ground/database.ts';
import { tryLockPermissions } from '../../ground/sql/locks.ts';
import { pushedDirectory } from './open-rules.ts';

const rowsPerStatement = 2_000;
const organizationsAtOnce = 200;

/** Organizations that have permissions of sources, in the order of their ids. */
export async function findOrganizationsWithPermissions(db: Database, after: string): Promise<readonly string[]> {
  const rows = await db.query<{ readonly orgId: string }>(organizationsSql, [after, organizationsAtOnce]);
  return rows.map(({ orgId }) => orgId);
}

/**
 * Deletes rules that no document has, access lists that no rule has, and principals that no list and no group names. Groups that a program put stay as
 * long as their source; those that are read stay while they are told of.
 *
 * What writes permissions waits meanwhile, and is not waited for: then nothing is deleted.
 *
 * @returns how many rows were deleted, at most 2,000 of a table. Cost: four statements.
 */
export async function sweepPermissions(db: Database, orgId: string, maxAgeMs: number): Promise<number> {
  return db.transaction(async (tx: Transaction) => {
    if (!(await tryLockPermissions(tx, orgId))) return 0;
    const rules = await tx.execute(rulesSql, [orgId]);
    const sets = await tx.execute(setsSql, [orgId]);
    return rules + sets + (await tx.execute(principalsSql, [orgId, maxAgeMs]));
  });
}

const organizationsSql = `
select organizations.id as "orgId" from organizations
where organizations.id > $1 and exists (select from permission_principals as known where known."orgId" = organizations.id)
order by organizations.id limit $2`;

const rulesSql = `
delete from access_rules where id in (
  select rule.id from data_sources as source join access_rules as rule on rule."dataSourceId" = source.id
  where source."orgId" = $1 and not exists (
    select from knowledge_items as item where item."dataSourceId" = rule."dataSourceId" and item."accessRuleId" = rule.id)
  limit ${rowsPerStatement})`;

const setsSql = `
delete from access_sets where id in (
  select list.id from data_sources as source join access_sets as list on list."dataSourceId" = source.id
  where source."orgId" = $1 and list.id not in (
    select needed.id from data_sources as source join access_rules as rule on rule."dataSourceId" = source.id
    cross join unnest(rule."setIds") as needed(id) where source."orgId" = $1)
  limit ${rowsPerStatement})`;

/** A group is told of before or after the documents that name it: while a reading goes on, it stays. */
const isGroupInUse = `case
  when starts_with(known.directory, '${pushedDirectory}') then exists (
    select from data_sources as source where source.id = substr(known.directory, ${pushedDirectory.length + 1}))
  else known."membersReadAt" > now() - $2::float8 * interval '1 millisecond' or exists (
    select from data_sources as source join permission_readings as reading on reading."dataSourceId" = source.id
    where source."orgId" = $1 and reading.directory = known.directory and reading."startedAt" is not null)
end`;

const principalsSql = `
delete from permission_principals where id in (
  select known.id from permission_principals as known
  where known."orgId" = $1
    and not exists (select from access_set_principals as naming where naming."principalId" = known.id)
    and not exists (select from permission_members as member where member."memberId" = known.id)
    and (known.kind <> 'group' or (${isGroupInUse}) is not true)
  limit ${rowsPerStatement})`;
