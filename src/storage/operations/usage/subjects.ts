// Raw SQL: ledger. A list is in the order of sums, page by page: Prisma can order by the sum of one column only.
import { type Page, type PageRequest, toPage } from '../../../entities/ground/page.ts';
import type { SubjectUsage, UsagePeriod, UsageSubject } from '../../../entities/operations/usage.ts';
import type { Database } from '../../ground/database.ts';
import { Parameters } from '../../ground/sql/where.ts';
import { listSpans, type UsageSpan } from './spans.ts';

/** A list of users, keys or models that used tokens in an organization, or cost something without: pictures and searches have prices too. */
export interface SubjectPlace {
  readonly orgId: string;
  readonly subject: UsageSubject;
  /** Only this user, or its keys. */
  readonly userId?: string | undefined;
}

const columns = { user: '"userId"', key: '"keyId"', model: '"modelId"' } as const satisfies Record<UsageSubject, string>;
/** The condition for what one user used; all see all models. */
const restrictions: Readonly<Record<UsageSubject, (parameters: Parameters, org: string, userId: string) => string>> = {
  user: (parameters, _org, userId) => ` and value = ${parameters.add(userId)}`,
  key: (parameters, org, userId) =>
    ` and value in (select id from api_keys where "orgId" = ${org} and "userId" = ${parameters.add(userId)})`,
  model: () => '',
};

/** One page, most tokens first. The sort key is `[tokens, id]`. Cost: a range of the monthly sums, of the daily ones at its ends, and of the ledger what is left of days. */
export async function pageOfSubjects(
  db: Database,
  place: SubjectPlace,
  period: UsagePeriod,
  page: PageRequest,
): Promise<Page<SubjectUsage>> {
  const { text, given: parameters } = toSumsSql(place, period);
  const sumValues = [...parameters.values];
  const [tokens = null, id = null] = page.after ?? [];
  const [after, afterId, most] = [parameters.add(tokens), parameters.add(id), parameters.add(page.limit + 1)];
  const order = page.isBackward === true ? 'tokens, value desc' : 'tokens desc, value';
  const [fewer, later] = page.isBackward === true ? ['>', '<'] : ['<', '>'];
  const rows = await db.queryPlanned<SubjectUsage>(
    `select value as id, data as "dataTokensUsed", api as "apiTokensUsed", cost as "costBillionths" from (${text}) as sums
     where ${after}::float8 is null or tokens ${fewer} ${after} or (tokens = ${after} and value ${later} ${afterId}::text)
     order by ${order} limit ${most}`,
    parameters.values,
  );
  const countAll = async (countMax: number) => {
    const countSql = `select count(*)::int as count from (select from (${text}) as sums limit $${sumValues.length + 1}) as counted`;
    const [row] = await db.queryPlanned<{ readonly count: number }>(countSql, [...sumValues, countMax]);
    return row?.count ?? 0;
  };
  const toKey = (usage: SubjectUsage) => [usage.dataTokensUsed + usage.apiTokensUsed, usage.id];
  return toPage(rows, page, toKey, countAll);
}

/** What users, keys or models used: of the sums by month and by day, and of the ledger what is left of days at the ends of the period. */
function toSumsSql({ orgId, subject, userId }: SubjectPlace, period: UsagePeriod) {
  const parameters = new Parameters();
  const org = parameters.add(orgId);
  const read = ({ grain, sign, ...part }: UsageSpan) => {
    if (grain === 'call') {
      return `select ${columns[subject]} as value,
        case when purpose = 'run' then 0 else "inputTokens"::bigint + "outputTokens" end as data,
        case when purpose = 'run' then "inputTokens"::bigint + "outputTokens" else 0 end as api, coalesce(cost, 0) as cost from usage_entries
      where "orgId" = ${org}${toBoundsSql('"createdAt"', 'timestamptz', part, parameters)}`;
    }
    const table = grain === 'month' ? 'usage_months' : 'usage_sums';
    return `select value, ${sign} * "dataTokens" as data, ${sign} * "apiTokens" as api, ${sign} * cost as cost from ${table}
      where "orgId" = ${org} and dimension = '${subject}'${toBoundsSql(grain, 'date', part, parameters)}`;
  };
  const usageSql = listSpans(subject, period).map(read).join(' union all ');
  const restriction = userId === undefined ? '' : restrictions[subject](parameters, org, userId);
  const text = `select value, sum(data)::float8 as data, sum(api)::float8 as api, sum(cost)::float8 as cost, (sum(data) + sum(api))::float8 as tokens
    from (${usageSql}) as used where value <> ''${restriction} group by value having sum(data) + sum(api) > 0 or sum(cost) > 0`;
  return { text, given: parameters };
}

function toBoundsSql(column: string, type: 'date' | 'timestamptz', { from, to }: UsagePeriod, parameters: Parameters): string {
  const lower = from === undefined ? '' : ` and ${column} >= ${parameters.add(from.toISOString())}::${type}`;
  return to === undefined ? lower : `${lower} and ${column} < ${parameters.add(to.toISOString())}::${type}`;
}
