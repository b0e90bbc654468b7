// Raw SQL: counts of JSON values of many items.
import type { UnknownPermissions } from '../../../entities/knowledge/permissions.ts';
import type { Database } from '../../ground/database.ts';
import { countUnidentified, type ReportedSource } from './unidentified.ts';

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
  /** Persons of the organization who are known at the source neither by an account nor, where it tells e-mails, by one that is verified. */
  readonly unidentifiedCount: number;
}

const reasonsMax = 20;
const groupsMax = 100;

/** Reads it for MIRRORED sources; the others are absent. Cost: four statements. */
export async function readPermissionReports(
  db: Database,
  reportedSources: readonly ReportedSource[],
): Promise<ReadonlyMap<string, PermissionReport>> {
  const { dataSource, permissionPrincipal } = db.prisma;
  const sources = await dataSource.findMany({
    where: { id: { in: reportedSources.map(({ id }) => id) }, access: 'MIRRORED' },
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
    countUnidentified(db, reportedSources),
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
        unidentifiedCount: persons.get(id) ?? 0,
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

/** How far the reading of the permissions of a source is. */
export interface PermissionReadingState {
  readonly dataSourceId: string;
  /** Whether a process reads now. */
  readonly isRunning: boolean;
  /** When the reading began that goes on, or was cut off and goes on later; null when there is none. */
  readonly startedAt: Date | null;
  /** Documents that it has told of. */
  readonly itemCount: number;
  readonly readAt: Date | null;
  readonly failedAt: Date | null;
}

/** Reads it for sources whose permissions were read, or are read, by a connector; the others are absent. Cost: one statement. */
export async function readReadingStates(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PermissionReadingState>> {
  const rows = await db.prisma.permissionReading.findMany({
    where: { dataSourceId: { in: [...ids] } },
    select: { dataSourceId: true, leaseUntil: true, startedAt: true, itemCount: true, readAt: true, failedAt: true },
  });
  const now = new Date();
  return new Map(
    rows.map(({ leaseUntil, ...row }) => [row.dataSourceId, { ...row, isRunning: leaseUntil !== null && leaseUntil > now }]),
  );
}
