// Raw SQL: counts of JSON values of many items.
import type { UnknownPermissions } from '../../../entities/knowledge/permissions.ts';
import type { Database } from '../../ground/database.ts';

/** What is known of who may open the documents of a source. */
export interface PermissionReport {
  readonly dataSourceId: string;
  readonly knownCount: number;
  /** Documents that nobody may open, because it is not known who may. */
  readonly unknownCount: number;
  /** Why it is not known, for administrators; the most frequent first, at most 20. */
  readonly reasons: readonly (UnknownPermissions & { readonly count: number })[];
  /** When permissions were last read, and when all of them were; null before the first time, and for an API source. */
  readonly readAt: Date | null;
  readonly fullAt: Date | null;
  readonly missingRights: readonly string[];
  /** Why the last reading failed; null when it did not. */
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** Groups whose members cannot be read, at most 100. */
  readonly unreadableGroups: readonly (UnknownPermissions & { readonly key: string; readonly name: string | null })[];
  /** Persons of the organization of whom neither a verified e-mail nor an account at the source is known. */
  readonly unidentifiedCount: number;
}

const reasonsMax = 20;
const groupsMax = 100;

/** Reads it for MIRRORED sources; the others are absent. Cost: four statements. */
export async function readPermissionReports(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PermissionReport>> {
  const { dataSource, permissionPrincipal } = db.prisma;
  const sources = await dataSource.findMany({
    where: { id: { in: [...ids] }, access: 'MIRRORED' },
    select: { id: true, orgId: true, reading: true },
  });
  if (sources.length === 0) return new Map();
  const sourceIds = sources.map(({ id }) => id);
  const directories = sources.map(({ id, reading }) => reading?.directory ?? `source:${id}`);
  const [counts, groups, persons] = await Promise.all([
    db.query<CountRow>(countSql, [sourceIds]),
    permissionPrincipal.findMany({
      where: {
        orgId: { in: sources.map(({ orgId }) => orgId) },
        directory: { in: directories },
        kind: 'group',
        unknown: { not: {} },
      },
      select: { orgId: true, directory: true, key: true, name: true, unknown: true },
      take: groupsMax,
    }),
    db.query<{ readonly orgId: string; readonly count: number }>(unidentifiedSql, [
      [...new Set(sources.map(({ orgId }) => orgId))],
    ]),
  ]);
  return new Map(
    sources.map(({ id, orgId, reading }) => {
      const rows = counts.filter(({ dataSourceId }) => dataSourceId === id);
      const sum = (isKnown: boolean) => rows.reduce((total, row) => (row.isKnown === isKnown ? total + row.count : total), 0);
      const directory = reading?.directory ?? `source:${id}`;
      const report: PermissionReport = {
        dataSourceId: id,
        knownCount: sum(true),
        unknownCount: sum(false),
        reasons: rows
          .flatMap(({ reason, count }) => (reason === null ? [] : [{ ...reason, count }]))
          .sort((a, b) => b.count - a.count)
          .slice(0, reasonsMax),
        readAt: reading?.readAt ?? null,
        fullAt: reading?.fullAt ?? null,
        missingRights: reading?.missingRights ?? [],
        errorCode: reading?.errorCode ?? null,
        errorMessage: reading?.errorMessage ?? null,
        unreadableGroups: groups
          .filter((group) => group.orgId === orgId && group.directory === directory)
          .map(({ key, name, unknown }) => ({ key, name, ...(unknown as unknown as UnknownPermissions) })),
        unidentifiedCount: persons.find((row) => row.orgId === orgId)?.count ?? 0,
      };
      return [id, report];
    }),
  );
}

interface CountRow {
  readonly dataSourceId: string;
  readonly isKnown: boolean;
  readonly reason: UnknownPermissions | null;
  readonly count: number;
}

const countSql = `
select "dataSourceId", "accessRuleId" is not null as "isKnown", "accessUnknown" as reason, count(*)::int as count
from knowledge_items where "dataSourceId" = any($1::text[]) and "indexStatus" <> 'DELETING'
group by "dataSourceId", "accessRuleId" is not null, "accessUnknown"`;

const unidentifiedSql = `
select member."orgId", count(*)::int as count from memberships as member join users on users.id = member."userId"
where member."orgId" = any($1::text[]) and users."emailVerifiedAt" is null
  and not exists (select from scim_users as known where known."userId" = users.id and known."orgId" = member."orgId" and known."isActive")
  and not exists (select from person_accounts as account where account."userId" = users.id and account."orgId" = member."orgId")
group by member."orgId"`;
