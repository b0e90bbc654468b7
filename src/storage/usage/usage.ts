// Raw SQL: counters and ledger. One statement changes the ledger, its sums and the counters.
import type { AgentFilter } from '../../entities/accounts/access.ts';
import type { Page, PageRequest } from '../../entities/page.ts';
import type {
  AgentUsage,
  SubjectUsage,
  UsageDay,
  UsageKind,
  UsagePeriod,
  UsageSubject,
  UsageSums,
} from '../../entities/usage.ts';
import { addMessageCounts } from '../agents/counters.ts';
import { agentWhere } from '../agents/filter.ts';
import type { Database, Sql } from '../database/database.ts';
import type { Signals } from '../database/signals/signals.ts';
import { insertUnstored, type UnstoredRun, unstoredJson } from '../runs/unstored.ts';
import { pageOfSubjects, type SubjectPlace } from './subjects.ts';
import { ofEveryCall, sumsByAgent, sumsBySubject, sumsOf, totalOf } from './sums.ts';

/** A row of the usage ledger: one upstream call. */
export interface UsageRow {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly userId: string;
  readonly keyId: string | null;
  readonly agentId: string | null;
  readonly runId: string | null;
  readonly purpose: 'run' | 'embedding' | 'indexing';
  readonly modelId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
  /** Absent in journals of older versions. */
  readonly isEstimated?: boolean;
}

export interface UsageStore {
  /**
   * Writes all rows in one statement, with the daily sums and the counters, and subtracts them from the reservations of `owner`. An existing row
   * stays as it is, so a repeated write charges nothing twice. Rows of a deleted organization are left out. Afterwards, the messages that turns noted are
   * added to the counts of their agents.
   *
   * @param runs  that are not stored and have ended: they get their rows in the same statement.
   */
  add(rows: readonly UsageRow[], owner: string, runs?: readonly UnstoredRun[]): Promise<void>;
  total(orgId: string, period: UsagePeriod): Promise<UsageSums>;
  /** Agents that match, most tokens first. */
  byAgent(orgId: string, period: UsagePeriod, filter: AgentFilter, limit: number): Promise<readonly AgentUsage[]>;
  /** Days with use, in order. `from` and `to` are days: `2026-01-31`, both included. */
  byDay(orgId: string, from: string, to: string, agentId: string | undefined): Promise<readonly UsageDay[]>;
  /** Users, keys or models, most tokens first. The sort key is `[tokens, id]`. */
  bySubject(place: SubjectPlace, period: UsagePeriod, page: PageRequest): Promise<Page<SubjectUsage>>;
  /** What these agents used in an organization; those without use are left out. */
  ofAgents(orgId: string, agentIds: readonly string[], period: UsagePeriod): Promise<ReadonlyMap<string, UsageSums>>;
  /** What these users, keys or models used in an organization. */
  ofSubjects(
    orgId: string,
    subject: UsageSubject,
    ids: readonly string[],
    period: UsagePeriod,
  ): Promise<ReadonlyMap<string, UsageSums>>;
  /** The tokens of each kind that an organization ever used: its limits apply to them. */
  counted(orgId: string): Promise<Readonly<Record<UsageKind, number>>>;
}

/**
 * Sums and counters grow only by rows that are really new. Rows are sorted, so that instances that write at one time lock in one order; the days of an
 * agent or person stand together, because triggers add them to one row of `usage_months`. The counter is locked before the reservation, as in
 * storage/usage/limits.ts: the last condition enforces it. The reservation shrinks by the tokens that it was made for. The organization is locked until
 * its rows are written: a deletion comes before, and the rows are left out, or after, and deletes them.
 */
const addRows = `
  with rows as (
    select * from jsonb_populate_recordset(null::usage_entries, $1::jsonb)
  ), payers as (
    select id from organizations where id = any($4::text[]) order by id for key share
  ), ran as (
    ${insertUnstored('$3', 'payers')}
  ), added as (
    insert into usage_entries ("id", "createdAt", "orgId", "userId", "keyId", "agentId", "runId", "purpose", "modelId",
      "inputTokens", "outputTokens", "cachedTokens", "reasoningTokens", "isEstimated")
    select "id", "createdAt", "orgId", "userId", "keyId", "agentId", "runId", "purpose", "modelId",
      "inputTokens", "outputTokens", "cachedTokens", "reasoningTokens", coalesce("isEstimated", false)
    from rows where "orgId" in (select id from payers)
    on conflict ("id") do nothing
    returning *
  ), tokens as (
    select "orgId", ("createdAt" at time zone 'utc')::date as day, coalesce("agentId", '') as "agentId",
      "userId", coalesce("keyId", '') as "keyId", "modelId",
      case when purpose = 'run' then 'api' else 'data' end as kind, "inputTokens"::bigint + "outputTokens" as tokens
    from added
  ), days as (
    insert into usage_days as d ("orgId", "day", "agentId", "dataTokens", "apiTokens")
    select "orgId", day, "agentId", coalesce(sum(tokens) filter (where kind = 'data'), 0), coalesce(sum(tokens) filter (where kind = 'api'), 0)
    from tokens group by 1, 2, 3 order by 1, 3, 2
    on conflict ("orgId", "day", "agentId") do update
      set "dataTokens" = d."dataTokens" + excluded."dataTokens", "apiTokens" = d."apiTokens" + excluded."apiTokens"
  ), sums as (
    insert into usage_sums as s ("orgId", dimension, day, value, "dataTokens", "apiTokens")
    select "orgId", by.dimension, day, by.value,
      coalesce(sum(tokens) filter (where kind = 'data'), 0), coalesce(sum(tokens) filter (where kind = 'api'), 0)
    from tokens cross join lateral (values ('user', "userId"), ('key', "keyId"), ('model', "modelId")) as by (dimension, value)
    group by 1, 2, 3, 4 order by 1, 2, 4, 3
    on conflict ("orgId", dimension, day, value) do update
      set "dataTokens" = s."dataTokens" + excluded."dataTokens", "apiTokens" = s."apiTokens" + excluded."apiTokens"
  ), kinds as (
    select "orgId", kind, sum(tokens) as tokens from tokens group by 1, 2 order by 1, 2
  ), counted as (
    insert into usage_counters as c ("orgId", kind, used) select "orgId", kind, tokens from kinds
    on conflict ("orgId", kind) do update set used = c.used + excluded.used
    returning 1
  )
  update usage_reservations r set tokens = greatest(r.tokens - kinds.tokens, 0)
  from kinds where r.owner = $2 and r."orgId" = kinds."orgId" and r.kind = kinds.kind
    and (select count(*) from counted) > 0`;

/** See UsageStore.add. In a transaction it is the last statement: others wait for the counters until the commit. */
export async function addUsage(
  sql: Sql,
  rows: readonly UsageRow[],
  owner: string,
  runs: readonly UnstoredRun[] = [],
): Promise<void> {
  // One JSON parameter instead of fourteen for each row: no limit on parameters, and one plan for every size.
  const orgIds = [...new Set([...rows, ...runs].map(({ orgId }) => orgId))];
  await sql.execute(addRows, [JSON.stringify(rows), owner, unstoredJson(runs), orgIds]);
}

/** Fits a payload. */
const idsPerSignal = 100;

export function createUsageStore(db: Database, signals: Signals): UsageStore {
  return {
    async add(rows, owner, runs = []) {
      await db.runForAll(async () => {
        await addUsage(db, rows, owner, runs);
        await addMessageCounts(db);
      });
      for (const orgId of new Set(rows.map((row) => row.orgId))) signals.publish('usage-changed', orgId);
      for (let start = 0; start < runs.length; start += idsPerSignal) {
        const ids = runs.slice(start, start + idsPerSignal).map(({ id }) => id);
        signals.publish('runs-recorded', ids.join(','));
      }
    },
    total: (orgId, period) => totalOf(db, orgId, period),
    async byAgent(orgId, period, filter, limit) {
      const used = await sumsByAgent(db, orgId, period);
      const where = { AND: [{ id: { in: [...used.keys()] } }, agentWhere(filter)] };
      const matches = new Set((await db.prisma.agent.findMany({ where, select: { id: true } })).map(({ id }) => id));
      const tokensOf = (sums: UsageSums) => sums.dataTokensUsed + sums.apiTokensUsed;
      const listed = [...used].flatMap(([agentId, sums]) => (matches.has(agentId) ? [{ agentId, ...sums }] : []));
      listed.sort((a, b) => tokensOf(b) - tokensOf(a) || (a.agentId < b.agentId ? -1 : 1));
      return listed.slice(0, limit);
    },
    async byDay(orgId, from, to, agentId) {
      const { usageDay, usageSum } = db.prisma;
      const day = { gte: new Date(from), lte: new Date(to) };
      const summed = {
        by: ['day' as const],
        _sum: { dataTokens: true, apiTokens: true } as const,
        orderBy: { day: 'asc' as const },
      };
      const days =
        agentId === undefined
          ? await usageSum.groupBy({ ...summed, where: { orgId, day, ...ofEveryCall } })
          : await usageDay.groupBy({ ...summed, where: { orgId, day, agentId } });
      return days.map(({ day: time, _sum }) => ({ day: dayOf(time), ...sumsOf(_sum) }));
    },
    bySubject: (place, period, page) => pageOfSubjects(db, place, period, page),
    ofAgents: (orgId, agentIds, period) => sumsByAgent(db, orgId, period, agentIds),
    ofSubjects: (orgId, subject, ids, period) => sumsBySubject(db, orgId, subject, ids, period),
    async counted(orgId) {
      const counters = await db.prisma.usageCounter.findMany({ where: { orgId } });
      const used = new Map(counters.map((counter) => [counter.kind, Number(counter.used)]));
      return { api: used.get('api') ?? 0, data: used.get('data') ?? 0 };
    },
  };
}

function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}
