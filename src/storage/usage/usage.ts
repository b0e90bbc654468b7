// Raw SQL: counters. One statement changes the ledger and its sums; reports are sums.
import type { AgentFilter } from '../../entities/accounts/access.ts';
import type { AgentUsage, UsageDay } from '../../entities/usage.ts';
import { agentCondition } from '../agents/filter-sql.ts';
import type { Database } from '../database/database.ts';
import type { Signals } from '../database/signals/signals.ts';
import { type Parameters, selectRows } from '../database/sql/where.ts';

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
   */
  add(rows: readonly UsageRow[], owner: string): Promise<void>;
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
    select id from organizations where id in (select "orgId" from rows) order by id for key share
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

/** SQL for the rows of a period: the daily sums for whole days, the ledger itself for any other period. */
function sourceOf({ from, to }: UsagePeriod, orgId: string, parameters: Parameters): string {
  const org = parameters.add(orgId);
  if (isDay(from) && isDay(to)) {
    const bounds = [
      ...(from === undefined ? [] : [`and day >= ${parameters.add(dayOf(from))}::date`]),
      ...(to === undefined ? [] : [`and day < ${parameters.add(dayOf(to))}::date`]),
    ];
    return `select "agentId", "dataTokens" as data, "apiTokens" as api from usage_days where "orgId" = ${org} ${bounds.join(' ')}`;
  }
  const bounds = [
    ...(from === undefined ? [] : [`and "createdAt" >= ${parameters.add(from)}`]),
    ...(to === undefined ? [] : [`and "createdAt" < ${parameters.add(to)}`]),
  ];
  const tokens = '"inputTokens"::bigint + "outputTokens"';
  return `select coalesce("agentId", '') as "agentId", case when purpose = 'run' then 0 else ${tokens} end as data,
    case when purpose = 'run' then ${tokens} else 0 end as api from usage_entries where "orgId" = ${org} ${bounds.join(' ')}`;
}

/** Sums exceed an int: raw SQL returns them as text, Prisma as bigint. */
interface SumRow {
  readonly data: string | bigint | null;
  readonly api: string | bigint | null;
}

export function createUsageStore(db: Database, signals: Signals): UsageStore {
  return {
    async add(rows, owner) {
      // One JSON parameter instead of fourteen for each row: no limit on parameters, and one plan for every size.
      await db.execute(addRows, [JSON.stringify(rows), owner]);
      for (const orgId of new Set(rows.map((row) => row.orgId))) signals.publish('usage-changed', orgId);
    },
    async total(orgId, period) {
      const [sums] = await selectRows<SumRow>(
        db,
        (given) => `select sum(data) as data, sum(api) as api from (${sourceOf(period, orgId, given)}) u`,
      );
      return sumsOf(sums);
    },
    async byAgent(orgId, period, filter, limit) {
      const rows = await selectRows<SumRow & { agentId: string }>(
        db,
        (given) => `select u."agentId", sum(u.data) as data, sum(u.api) as api from (${sourceOf(period, orgId, given)}) u
          where u."agentId" <> '' and exists (select 1 from agents a where a.id = u."agentId" and ${agentCondition(filter, given)})
          group by 1 order by sum(u.data) + sum(u.api) desc, 1 limit ${given.add(limit)}`,
      );
      return rows.map((row) => ({ agentId: row.agentId, ...sumsOf(row) }));
    },
    async byDay(orgId, from, to, agentId) {
      const days = await db.prisma.usageDay.groupBy({
        by: ['day'],
        where: { orgId, day: { gte: new Date(from), lte: new Date(to) }, ...(agentId === undefined ? {} : { agentId }) },
        _sum: { dataTokens: true, apiTokens: true },
        orderBy: { day: 'asc' },
      });
      return days.map(({ day, _sum }) => ({ day: dayOf(day), ...sumsOf({ data: _sum.dataTokens, api: _sum.apiTokens }) }));
    },
  };
}

function sumsOf(row: SumRow | undefined): UsageSums {
  return { dataTokensUsed: Number(row?.data ?? 0), apiTokensUsed: Number(row?.api ?? 0) };
}

function isDay(time: Date | undefined): boolean {
  return time === undefined || time.getTime() % 86_400_000 === 0;
}

function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}
