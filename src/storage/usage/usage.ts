// Raw SQL: counters and ledger. One statement changes the ledger, its sums and the counters.
import type { AgentFilter } from '../../entities/accounts/access.ts';
import type { AgentUsage, UsageDay } from '../../entities/usage.ts';
import { agentWhere } from '../agents/filter.ts';
import type { Database } from '../database/database.ts';
import type { Signals } from '../database/signals/signals.ts';
import { insertUnstored, type UnstoredRun, unstoredJson } from '../runs/unstored.ts';

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

/** From the first moment to before the second; undefined means no bound. */
export interface UsagePeriod {
  readonly from: Date | undefined;
  readonly to: Date | undefined;
}
export interface UsageSums {
  readonly dataTokensUsed: number;
  readonly apiTokensUsed: number;
}

export interface UsageStore {
  /**
   * Writes all rows in one statement, with the daily sums and the counters, and subtracts them from the reservations of `owner`. An existing row
   * stays as it is, so a repeated write charges nothing twice. Rows of a deleted organization are left out.
   *
   * @param runs  that are not stored and have ended: they get their rows in the same statement.
   */
  add(rows: readonly UsageRow[], owner: string, runs?: readonly UnstoredRun[]): Promise<void>;
  total(orgId: string, period: UsagePeriod): Promise<UsageSums>;
  /** Agents that match, most tokens first. */
  byAgent(orgId: string, period: UsagePeriod, filter: AgentFilter, limit: number): Promise<readonly AgentUsage[]>;
  /** Days with use, in order. `from` and `to` are days: `2026-01-31`, both included. */
  byDay(orgId: string, from: string, to: string, agentId: string | undefined): Promise<readonly UsageDay[]>;
}

/**
 * Sums and counters grow only by rows that are really new. Rows are sorted, so that instances that write at one time lock in one order. The counter
 * is locked before the reservation, as in storage/usage/limits.ts: the last condition enforces it. The reservation shrinks by the tokens that it was
 * made for. The organization is locked until its rows are written: a deletion comes before, and the rows are left out, or after, and deletes them.
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
      case when purpose = 'run' then 'api' else 'data' end as kind, "inputTokens"::bigint + "outputTokens" as tokens
    from added
  ), days as (
    insert into usage_days as d ("orgId", "day", "agentId", "dataTokens", "apiTokens")
    select "orgId", day, "agentId", coalesce(sum(tokens) filter (where kind = 'data'), 0), coalesce(sum(tokens) filter (where kind = 'api'), 0)
    from tokens group by 1, 2, 3 order by 1, 2, 3
    on conflict ("orgId", "day", "agentId") do update
      set "dataTokens" = d."dataTokens" + excluded."dataTokens", "apiTokens" = d."apiTokens" + excluded."apiTokens"
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

export function createUsageStore(db: Database, signals: Signals): UsageStore {
  return {
    async add(rows, owner, runs = []) {
      // One JSON parameter instead of fourteen for each row: no limit on parameters, and one plan for every size.
      const orgIds = [...new Set([...rows, ...runs].map(({ orgId }) => orgId))];
      await db.execute(addRows, [JSON.stringify(rows), owner, unstoredJson(runs), orgIds]);
      for (const orgId of new Set(rows.map((row) => row.orgId))) signals.publish('usage-changed', orgId);
    },
    async total(orgId, period) {
      const agents = await sumsByAgent(db, orgId, period);
      return agents.reduce((sum, { sums }) => plus(sum, sums), noTokens);
    },
    async byAgent(orgId, period, filter, limit) {
      const used = (await sumsByAgent(db, orgId, period)).filter(({ agentId }) => agentId !== '');
      const where = { AND: [{ id: { in: used.map(({ agentId }) => agentId) } }, agentWhere(filter)] };
      const matches = new Set((await db.prisma.agent.findMany({ where, select: { id: true } })).map(({ id }) => id));
      const tokensOf = ({ sums }: AgentSums) => sums.dataTokensUsed + sums.apiTokensUsed;
      const listed = used.filter(({ agentId }) => matches.has(agentId));
      listed.sort((a, b) => tokensOf(b) - tokensOf(a) || (a.agentId < b.agentId ? -1 : 1));
      return listed.slice(0, limit).map(({ agentId, sums }) => ({ agentId, ...sums }));
    },
    async byDay(orgId, from, to, agentId) {
      const days = await db.prisma.usageDay.groupBy({
        by: ['day'],
        where: { orgId, day: { gte: new Date(from), lte: new Date(to) }, ...(agentId === undefined ? {} : { agentId }) },
        _sum: { dataTokens: true, apiTokens: true },
        orderBy: { day: 'asc' },
      });
      return days.map(({ day, _sum }) => ({ day: dayOf(day), ...sumsOf(_sum) }));
    },
  };
}

interface AgentSums {
  /** '' for calls without an agent. */
  readonly agentId: string;
  readonly sums: UsageSums;
}

/** The sums of a period: of the daily sums for whole days, of the ledger itself for any other period. */
async function sumsByAgent({ prisma }: Database, orgId: string, period: UsagePeriod): Promise<readonly AgentSums[]> {
  if (isDay(period.from) && isDay(period.to)) {
    const days = await prisma.usageDay.groupBy({
      by: ['agentId'],
      where: { orgId, day: boundsOf(period) },
      _sum: { dataTokens: true, apiTokens: true },
    });
    return days.map(({ agentId, _sum }) => ({ agentId, sums: sumsOf(_sum) }));
  }
  const entries = await prisma.usageEntry.groupBy({
    by: ['agentId', 'purpose'],
    where: { orgId, createdAt: boundsOf(period) },
    _sum: { inputTokens: true, outputTokens: true },
  });
  const agents = new Map<string, UsageSums>();
  for (const { agentId, purpose, _sum } of entries) {
    const tokens = (_sum.inputTokens ?? 0) + (_sum.outputTokens ?? 0);
    const sums = purpose === 'run' ? { ...noTokens, apiTokensUsed: tokens } : { ...noTokens, dataTokensUsed: tokens };
    agents.set(agentId ?? '', plus(agents.get(agentId ?? '') ?? noTokens, sums));
  }
  return [...agents].map(([agentId, sums]) => ({ agentId, sums }));
}

function boundsOf({ from, to }: UsagePeriod) {
  return { ...(from === undefined ? {} : { gte: from }), ...(to === undefined ? {} : { lt: to }) };
}

const noTokens: UsageSums = { dataTokensUsed: 0, apiTokensUsed: 0 };

function plus(a: UsageSums, b: UsageSums): UsageSums {
  return { dataTokensUsed: a.dataTokensUsed + b.dataTokensUsed, apiTokensUsed: a.apiTokensUsed + b.apiTokensUsed };
}

function sumsOf(sums: { readonly dataTokens: bigint | null; readonly apiTokens: bigint | null }): UsageSums {
  return { dataTokensUsed: Number(sums.dataTokens ?? 0), apiTokensUsed: Number(sums.apiTokens ?? 0) };
}

function isDay(time: Date | undefined): boolean {
  return time === undefined || time.getTime() % 86_400_000 === 0;
}

function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}
