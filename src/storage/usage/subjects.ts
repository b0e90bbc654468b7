// Raw SQL: ledger. A list is in the order of sums, page by page: Prisma can order by the sum of one column only.
import { type Page, type PageRequest, pageOf } from '../../entities/page.ts';
import type { SubjectUsage, UsagePeriod, UsageSubject } from '../../entities/usage.ts';
import type { Database } from '../database/database.ts';

/** A list of users, keys or models that used tokens in an organization. */
export interface SubjectPlace {
  readonly orgId: string;
  readonly subject: UsageSubject;
  /** Only this user, or its keys. */
  readonly userId?: string | undefined;
}

const columns = { user: '"userId"', key: '"keyId"', model: '"modelId"' } as const satisfies Record<UsageSubject, string>;
const restrictions = {
  user: 'value = $4',
  key: 'value in (select id from api_keys where "orgId" = $1 and "userId" = $4)',
  model: 'true',
} as const satisfies Record<UsageSubject, string>;

/** One page, most tokens first. The sort key is `[tokens, id]`. Cost: one range of the daily sums; of the ledger where the period is not of whole days. */
export async function pageOfSubjects(
  db: Database,
  place: SubjectPlace,
  period: UsagePeriod,
  page: PageRequest,
): Promise<Page<SubjectUsage>> {
  const { text, values } = sumsOf(place, period);
  const [tokens = null, id = null] = page.after ?? [];
  const order = page.isBackward === true ? 'tokens, value desc' : 'tokens desc, value';
  const [fewer, later] = page.isBackward === true ? ['>', '<'] : ['<', '>'];
  const rows = await db.query<SubjectUsage>(
    `select value as id, data as "dataTokensUsed", api as "apiTokensUsed" from (${text}) as sums
     where $5::float8 is null or tokens ${fewer} $5 or (tokens = $5 and value ${later} $6::text)
     order by ${order} limit $7`,
    [...values, tokens, id, page.limit + 1],
  );
  const countAll = async (most: number) => {
    const counted = `select count(*)::int as count from (select from (${text}) as sums limit $5) as counted`;
    const [row] = await db.query<{ readonly count: number }>(counted, [...values, most]);
    return row?.count ?? 0;
  };
  const keyOf = (usage: SubjectUsage) => [usage.dataTokensUsed + usage.apiTokensUsed, usage.id];
  return pageOf(rows, page, keyOf, countAll);
}

function sumsOf({ orgId, subject, userId }: SubjectPlace, { from, to }: UsagePeriod) {
  const used = isOfDays({ from, to })
    ? `select value, "dataTokens" as data, "apiTokens" as api from usage_sums
       where "orgId" = $1 and dimension = '${subject}'
         and day >= coalesce($2::date, '-infinity') and day < coalesce($3::date, 'infinity')`
    : `select ${columns[subject]} as value,
         case when purpose = 'run' then 0 else "inputTokens"::bigint + "outputTokens" end as data,
         case when purpose = 'run' then "inputTokens"::bigint + "outputTokens" else 0 end as api from usage_entries
       where "orgId" = $1 and "createdAt" >= coalesce($2::timestamptz, '-infinity')
         and "createdAt" < coalesce($3::timestamptz, 'infinity')`;
  const text = `select value, sum(data)::float8 as data, sum(api)::float8 as api, (sum(data) + sum(api))::float8 as tokens
    from (${used}) as used where value <> '' and ($4::text is null or ${restrictions[subject]}) group by value`;
  return { text, values: [orgId, from?.toISOString() ?? null, to?.toISOString() ?? null, userId ?? null] };
}

/** Whether a period begins and ends with UTC days, so that the daily sums cover it. */
export function isOfDays({ from, to }: UsagePeriod): boolean {
  return [from, to].every((time) => time === undefined || time.getTime() % 86_400_000 === 0);
}
