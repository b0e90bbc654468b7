// Raw SQL: ledger. A list is in the order of sums, page by page: Prisma can order by the sum of one column only.
import { type Page, type PageRequest, pageOf } from '../../entities/page.ts';
import type { SubjectUsage, UsagePeriod, UsageSubject } from '../../entities/usage.ts';
import type { Database } from '../database/database.ts';
import { Parameters } from '../database/sql/where.ts';

/** A list of users, keys or models that used tokens in an organization. */
export interface SubjectPlace {
  readonly orgId: string;
  readonly subject: UsageSubject;
  /** Only this user, or its keys. */
  readonly userId?: string | undefined;
}

const columns = { user: '"userId"', key: '"keyId"', model: '"modelId"' } as const satisfies Record<UsageSubject, string>;
/** The condition for what one user used; all see all models. */
const restrictions: Readonly<Record<UsageSubject, (given: Parameters, org: string, userId: string) => string>> = {
  user: (given, _org, userId) => ` and value = ${given.add(userId)}`,
  key: (given, org, userId) =>
    ` and value in (select id from api_keys where "orgId" = ${org} and "userId" = ${given.add(userId)})`,
  model: () => '',
};

/** One page, most tokens first. The sort key is `[tokens, id]`. Cost: one range of the daily sums, and of the ledger what is left of days at the ends. */
export async function pageOfSubjects(
  db: Database,
  place: SubjectPlace,
  period: UsagePeriod,
  page: PageRequest,
): Promise<Page<SubjectUsage>> {
  const { text, given } = sumsOf(place, period);
  const summed = [...given.values];
  const [tokens = null, id = null] = page.after ?? [];
  const [after, afterId, most] = [given.add(tokens), given.add(id), given.add(page.limit + 1)];
  const order = page.isBackward === true ? 'tokens, value desc' : 'tokens desc, value';
  const [fewer, later] = page.isBackward === true ? ['>', '<'] : ['<', '>'];
  const rows = await db.queryPlanned<SubjectUsage>(
    `select value as id, data as "dataTokensUsed", api as "apiTokensUsed" from (${text}) as sums
     where ${after}::float8 is null or tokens ${fewer} ${after} or (tokens = ${after} and value ${later} ${afterId}::text)
     order by ${order} limit ${most}`,
    given.values,
  );
  const countAll = async (countMax: number) => {
    const counted = `select count(*)::int as count from (select from (${text}) as sums limit $${summed.length + 1}) as counted`;
    const [row] = await db.queryPlanned<{ readonly count: number }>(counted, [...summed, countMax]);
    return row?.count ?? 0;
  };
  const keyOf = (usage: SubjectUsage) => [usage.dataTokensUsed + usage.apiTokensUsed, usage.id];
  return pageOf(rows, page, keyOf, countAll);
}

/** The daily sums of the whole days of the period, and the ledger for what is left at its ends. */
function sumsOf({ orgId, subject, userId }: SubjectPlace, period: UsagePeriod) {
  const { days, rest } = partsOf(period);
  const given = new Parameters();
  const org = given.add(orgId);
  const ofDays = (part: UsagePeriod) => `select value, "dataTokens" as data, "apiTokens" as api from usage_sums
    where "orgId" = ${org} and dimension = '${subject}'${boundsOf('day', 'date', part, given)}`;
  const ofCalls = (part: UsagePeriod) => `select ${columns[subject]} as value,
      case when purpose = 'run' then 0 else "inputTokens"::bigint + "outputTokens" end as data,
      case when purpose = 'run' then "inputTokens"::bigint + "outputTokens" else 0 end as api from usage_entries
    where "orgId" = ${org}${boundsOf('"createdAt"', 'timestamptz', part, given)}`;
  const used = [...days.map(ofDays), ...rest.map(ofCalls)].join(' union all ');
  const restriction = userId === undefined ? '' : restrictions[subject](given, org, userId);
  const text = `select value, sum(data)::float8 as data, sum(api)::float8 as api, (sum(data) + sum(api))::float8 as tokens
    from (${used}) as used where value <> ''${restriction} group by value`;
  return { text, given };
}

function boundsOf(column: string, type: 'date' | 'timestamptz', { from, to }: UsagePeriod, given: Parameters): string {
  const lower = from === undefined ? '' : ` and ${column} >= ${given.add(from.toISOString())}::${type}`;
  return to === undefined ? lower : `${lower} and ${column} < ${given.add(to.toISOString())}::${type}`;
}

const dayMs = 86_400_000;

/** A period as whole UTC days, which the daily sums cover, and what is left before and after them: at least one of these. */
export function partsOf({ from, to }: UsagePeriod): {
  readonly days: readonly UsagePeriod[];
  readonly rest: readonly UsagePeriod[];
} {
  const first = from && new Date(Math.ceil(from.getTime() / dayMs) * dayMs);
  const last = to && new Date(Math.floor(to.getTime() / dayMs) * dayMs);
  if (first !== undefined && last !== undefined && first > last) return { days: [], rest: [{ from, to }] };
  const before = first?.getTime() === from?.getTime() ? [] : [{ from, to: first }];
  const after = last?.getTime() === to?.getTime() ? [] : [{ from: last, to }];
  const rest = [...before, ...after];
  const isWithout = rest.length > 0 && first !== undefined && first.getTime() === last?.getTime();
  return { days: isWithout ? [] : [{ from: first, to: last }], rest };
}
