// Raw SQL: nested groups are a recursive statement.
import type { Database } from '../../ground/database.ts';
import type { PrincipalKey } from './principals.ts';

/** Who asks. */
export interface Reader {
  readonly orgId: string;
  readonly userId: string;
  /** The key that acts for the person; null for work in the background. */
  readonly keyId: string | null;
}

/** The rules of one source that somebody opens. */
export interface OpenRule {
  readonly id: number;
  readonly dataSourceId: string;
}

/**
 * The rules of MIRRORED sources that a person opens: those of which each access list names one of the person's principals.
 *
 * A person is a member of the organization; anybody else, and a key of a tenant or of the installation that acts for nobody, opens what `anyone` does.
 * An e-mail counts where a provider of sign-ins, a mailed invitation, the directory of the organization or the other service vouches for it. Members of
 * groups count for `maxAgeMs` after they were read, and a source opens for so long after its permissions were. What was pushed does not age.
 *
 * Cost: one statement; its rows are the principals of the person and the rules of the sources.
 */
export async function findOpenRules(
  db: Database,
  { orgId, userId, keyId }: Reader,
  dataSourceIds: readonly string[],
  maxAgeMs: number,
): Promise<readonly OpenRule[]> {
  return db.query<OpenRule>(openRulesSql, [dataSourceIds, orgId, userId, keyId ?? '', maxAgeMs]);
}

/** What a person is known as in the directory of a MIRRORED source: as itself, and by its groups. Cost: one statement. */
export async function findPrincipals(
  db: Database,
  { orgId, userId, keyId }: Reader,
  dataSourceId: string,
  maxAgeMs: number,
): Promise<readonly PrincipalKey[]> {
  return db.query<PrincipalKey>(principalsSql, [[dataSourceId], orgId, userId, keyId ?? '', maxAgeMs]);
}

/** Begins the name of the directory of a source whose permissions are pushed. */
export const pushedDirectory = 'source:';

const isYoung = (time: string) => `${time} > now() - $5::float8 * interval '1 millisecond'`;

/** SQL: `WITH` members that end with `opened_sets`, the access lists that name the person of `$3`. */
export const openedSetsSql = `
with recursive sources as materialized (
  select source.id, source."orgId", source."linkShared", coalesce(reading.directory, '${pushedDirectory}' || source.id) as directory
  from data_sources as source left join permission_readings as reading on reading."dataSourceId" = source.id
  where source.id = any($1::text[]) and source.access = 'MIRRORED' and source."deletingAt" is null
    and (source.type = 'API' or ${isYoung('reading."readAt"')})
), person as materialized (
  select users.id, users.email, users."emailVerifiedAt" from users join memberships as member on member."userId" = users.id
  where users.id = $3 and member."orgId" = $2
    and not exists (select from api_keys where api_keys.id = $4 and api_keys."userId" = $3 and api_keys.level <> 'ORGANIZATION')
), accounts as materialized (
  select account.service, account."accountId", account."verifiedEmail"
  from person join person_accounts as account on account."userId" = person.id and account."orgId" = $2
  -- A connection that was handed over proves nothing of whom it was of.
  join connections as own on own.id = account."connectionId" and own."ownerUserId" = person.id
), emails as materialized (
  select email from person where "emailVerifiedAt" is not null
  union select person.email from person join scim_users as known on known."userId" = person.id and known."orgId" = $2 and known."isActive"
  union select "verifiedEmail" from accounts where "verifiedEmail" is not null
), named as materialized (
  select 'email' as kind, email as key from emails
  union select each.kind, split_part(email, '@', 2) from emails cross join (values ('domain'), ('link-domain')) as each(kind)
  union select 'account', service || ' ' || "accountId" from accounts
  union select each.kind, '' from person cross join (values ('organization'), ('link-organization')) as each(kind)
  union values ('anyone', ''), ('link-anyone', '')
), principals(id) as (
  select known.id from (select distinct "orgId", directory from sources) as place cross join named
  join permission_principals as known on known."orgId" = place."orgId" and known.directory = place.directory
    and known.kind = named.kind and known.key = named.key
  where place."orgId" = $2 or named.kind in ('anyone', 'link-anyone')
  union
  select roster.id from principals
  join permission_members as member on member."memberId" = principals.id
  join permission_principals as roster on roster.id = member."groupId"
    and (${isYoung('roster."membersReadAt"')} or starts_with(roster.directory, '${pushedDirectory}') and roster."membersReadAt" is not null)
), opened_sets as materialized (
  select distinct access_sets.id from principals
  join permission_principals as known on known.id = principals.id
  join access_set_principals as naming on naming."principalId" = principals.id
  join access_sets on access_sets.id = naming."setId"
  join sources on sources.id = access_sets."dataSourceId"
  where sources."linkShared" = 'FINDABLE' or not starts_with(known.kind, 'link-')
)`;

const openRulesSql = `${openedSetsSql}
select rule.id, rule."dataSourceId" from sources join access_rules as rule on rule."dataSourceId" = sources.id
where not exists (
  select from unnest(rule."setIds") as needed(id) where (needed.id in (select opened_sets.id from opened_sets)) is not true)`;

const principalsSql = `${openedSetsSql}
select kind, key from named where kind in ('anyone', 'link-anyone') or exists (select from sources where sources."orgId" = $2)
union select known.kind, known.key from principals join permission_principals as known on known.id = principals.id`;
