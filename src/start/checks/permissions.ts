import { commandLine } from '../../lib/product.ts';
import type { Settings } from '../../settings.ts';
import { openPool } from '../../storage/ground/opening/pool.ts';
import { type Finding, good, warning, wrong } from './finding.ts';

const timeoutMs = 5_000;
const shownMax = 20;

type Pool = ReturnType<typeof openPool>;

interface SourceRow {
  readonly id: string;
  readonly name: string;
  readonly isClosed: boolean;
  /** Whether its permissions were read before. */
  readonly wasRead: boolean;
  /** Documents that a reading has told of which goes on; null for none. */
  readonly readingCount: number | null;
  readonly errorMessage: string | null;
  readonly missingRights: readonly string[];
  readonly unknownCount: number;
}

/**
 * What is wrong with the permissions of MIRRORED sources, by what the database of DATABASE_URL says. An embedded database belongs to its service alone:
 * `parley sources permissions` asks that.
 */
export async function checkPermissions(settings: Settings): Promise<readonly Finding[]> {
  if (settings.DATABASE_URL === undefined) return [];
  const pool = openPool(
    { connectionString: settings.DATABASE_URL, max: 1, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs },
    { onLost: () => undefined },
  );
  try {
    return await findPermissionProblems(pool, settings);
  } catch {
    // The check of the database says what is the matter with it; an older one has no permissions.
    return [];
  } finally {
    await pool.end();
  }
}

/** The same by an open database. */
export async function findPermissionProblems(
  pool: Pick<Pool, 'query'>,
  { PERMISSION_MAX_AGE_HOURS }: Pick<Settings, 'PERMISSION_MAX_AGE_HOURS'>,
): Promise<readonly Finding[]> {
  const { rows } = await pool.query<SourceRow>(sourcesSql, [PERMISSION_MAX_AGE_HOURS]);
  if (rows.length === 0) return [];
  const findings = rows.flatMap(toFindings);
  const isGood = findings.length === 0;
  return isGood
    ? [good('permissions', `${rows.length} mirrored sources: all permissions are known.`)]
    : findings.slice(0, shownMax);
}

function toFindings(row: SourceRow): readonly Finding[] {
  const { id, name, isClosed, wasRead, readingCount, errorMessage, missingRights, unknownCount } = row;
  const source = `The permissions of the source "${name}" (${id})`;
  const advice = `${commandLine} sources permissions ${id} says more.`;
  const findings: Finding[] = [];
  const progress = readingCount === null ? '' : ` A reading goes on: ${readingCount} documents so far.`;
  if (isClosed) {
    const never = wasRead ? 'have not been read for too long.' : 'have not been read yet.';
    const reason = errorMessage === null ? never : `could not be read: ${errorMessage}`;
    findings.push(wrong('permissions', `${source} ${reason} Nobody finds anything of it.${progress}`, advice));
  } else if (errorMessage !== null)
    findings.push(warning('permissions', `${source} could not be read lately: ${errorMessage}${progress}`, advice));
  for (const right of missingRights)
    findings.push(warning('permissions', `${source} lack a right: ${right}.`, 'Connect the account again with it.'));
  if (unknownCount > 0)
    findings.push(
      warning('permissions', `${source} are not known for ${unknownCount} documents, which nobody finds.${progress}`, advice),
    );
  return findings;
}

const sourcesSql = `
select source.id, source.name, reading."errorMessage", source.type = 'API' or reading."readAt" is not null as "wasRead",
  case when reading."startedAt" is not null then reading."itemCount" end as "readingCount", coalesce(reading."missingRights", '{}') as "missingRights",
  source.type <> 'API' and (reading."readAt" is null or reading."readAt" < now() - $1::float8 * interval '1 hour') as "isClosed",
  (select count(*)::int from knowledge_items as item
   where item."dataSourceId" = source.id and item."accessRuleId" is null and item."indexStatus" <> 'DELETING') as "unknownCount"
from data_sources as source left join permission_readings as reading on reading."dataSourceId" = source.id
where source.access <> 'LENT' and source.access = 'MIRRORED' and source."deletingAt" is null order by source.id limit 500`;
