// Raw SQL: counters and ledger. One statement changes the ledger, its sums and the counters.

import { JsonLines } from '../../../lib/json/json-lines.ts';
import type { Sql } from '../database.ts';
import { insertUnstored, type UnstoredRun, unstoredJson } from './unstored.ts';

/** A row of the usage ledger: one upstream call. */
export interface UsageRow {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly userId: string;
  readonly keyId: string | null;
  readonly agentId: string | null;
  /** Absent in journals of older versions. */
  readonly agentVersion?: number | null;
  readonly runId: string | null;
  readonly purpose: 'run' | 'embedding' | 'indexing';
  readonly modelId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  /** Absent in journals of older versions. */
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens: number;
  /** Absent in journals of older versions. */
  readonly isEstimated?: boolean;
  /** In billionths of the currency; null: the model has no price. Absent in journals of older versions. */
  readonly cost?: number | null;
}

/**
 * Sums and counters grow only by rows that are really new. Rows are sorted, so that instances that write at one time lock in one order; the days of an
 * agent or person stand together, because triggers add them to one row of `usage_months`. The counter is locked before the reservation, as in
 * storage/operations/usage/limits.ts: the last condition enforces it. What a call adds to which budgets is decided here, by the clock of the organization. The reservation shrinks by the tokens that it was made for. The organization is locked until
 * its rows are written: a deletion comes before, and the rows are left out, or after, and deletes them.
 */
const addRows = `
  with rows as (
    select * from json_to_recordset($1::json) as r (id text, "createdAt" float8, "orgId" text, "userId" text, "keyId" text, "agentId" text,
      "agentVersion" int, "runId" text, purpose text, "modelId" text, "inputTokens" int, "outputTokens" int, "cachedTokens" int,
      "cacheWriteTokens" int, "reasoningTokens" int, "isEstimated" boolean, cost bigint)
  ), payers as (
    select id, "timeZone" from organizations where id = any($4::text[]) order by id for key share
  ), ran as (
    ${insertUnstored('$3', 'payers')}
  ), added as (
    insert into usage_entries ("id", "createdAt", "orgId", "userId", "keyId", "agentId", "agentVersion", "runId", "purpose", "modelId",
      "inputTokens", "outputTokens", "cachedTokens", "cacheWriteTokens", "reasoningTokens", "isEstimated", "cost")
    select "id", to_timestamp("createdAt" / 1000), "orgId", "userId", "keyId", "agentId", "agentVersion", "runId", "purpose", "modelId",
      "inputTokens", "outputTokens", "cachedTokens", coalesce("cacheWriteTokens", 0), "reasoningTokens", coalesce("isEstimated", false), "cost"
    from rows where "orgId" in (select id from payers)
    on conflict ("id") do nothing
    returning "orgId", "createdAt", "agentId", "userId", "keyId", "modelId", "purpose", "inputTokens", "outputTokens", "cost"
  ), tokens as (
    select "orgId", ("createdAt" at time zone "timeZone")::date as day, coalesce("agentId", '') as "agentId",
      "userId", coalesce("keyId", '') as "keyId", "modelId", case when purpose = 'run' then 'api' else 'data' end as kind,
      sum("inputTokens") + sum("outputTokens") as tokens, coalesce(sum("cost"), 0) as cost
    from added join payers on payers.id = added."orgId"
    group by 1, 2, 3, 4, 5, 6, 7
  ), days as (
    insert into usage_days as d ("orgId", "day", "agentId", "dataTokens", "apiTokens", "cost")
    select "orgId", day, "agentId", coalesce(sum(tokens) filter (where kind = 'data'), 0), coalesce(sum(tokens) filter (where kind = 'api'), 0), sum(cost)
    from tokens group by 1, 2, 3 order by 1, 3, 2
    on conflict ("orgId", "day", "agentId") do update
      set "dataTokens" = d."dataTokens" + excluded."dataTokens", "apiTokens" = d."apiTokens" + excluded."apiTokens", "cost" = d."cost" + excluded."cost"
  ), sums as (
    insert into usage_sums as s ("orgId", dimension, day, value, "dataTokens", "apiTokens", "cost")
    select "orgId", by.dimension, day, by.value,
      coalesce(sum(tokens) filter (where kind = 'data'), 0), coalesce(sum(tokens) filter (where kind = 'api'), 0), sum(cost)
    from tokens cross join lateral (values ('user', "userId"), ('key', "keyId"), ('model', "modelId")) as by (dimension, value)
    group by 1, 2, 3, 4 order by 1, 2, 4, 3
    on conflict ("orgId", dimension, day, value) do update
      set "dataTokens" = s."dataTokens" + excluded."dataTokens", "apiTokens" = s."apiTokens" + excluded."apiTokens", "cost" = s."cost" + excluded."cost"
  ), spent as (
    select t."orgId", b.id || ' ' || to_char(t.day, case b.period when 'DAY' then 'YYYY-MM-DD' else 'YYYY-MM' end) as kind,
      case b.unit when 'MONEY' then t.cost else t.tokens end as tokens
    from tokens t join budgets b on b."orgId" = t."orgId"
      and (b."subjectId" in (t."orgId", t."userId", t."keyId", t."agentId") or b.subject = 'GROUP'
        and exists (select from group_members m where m."groupId" = b."subjectId" and m."userId" = t."userId"))
  ), kinds as (
    select "orgId", kind, sum(tokens) as tokens from (
      select "orgId", kind, tokens from tokens union all select "orgId", kind, tokens from spent
    ) as parts group by 1, 2 order by 1, 2
  ), counted as (
    insert into usage_counters as c ("orgId", kind, used) select "orgId", kind, tokens from kinds
    on conflict ("orgId", kind) do update set used = c.used + excluded.used
    returning 1
  )
  update usage_reservations r set tokens = greatest(r.tokens - kinds.tokens, 0)
  from kinds where r.owner = $2 and r."orgId" = kinds."orgId" and r.kind = kinds.kind
    and (select count(*) from counted) > 0`;

/** What one statement writes: calls, and runs that are not stored and have ended. Both wait as the lines that the journal has of them too. */
export class UsageBatch {
  readonly rows = new JsonLines();
  readonly runs = new JsonLines();
  readonly runIds: string[] = [];
  readonly orgIds = new Set<string>();

  static of(rows: readonly UsageRow[], runs: readonly UnstoredRun[] = []): UsageBatch {
    const batch = new UsageBatch();
    for (const row of rows) batch.addRow(row);
    for (const run of runs) batch.addRun(run);
    return batch;
  }

  get isEmpty(): boolean {
    return this.rows.count + this.runs.count === 0;
  }

  addRow(row: UsageRow): void {
    this.rows.add(JSON.stringify(toUsageLine(row)));
    this.orgIds.add(row.orgId);
  }

  addRun(run: UnstoredRun): void {
    this.runs.add(unstoredJson(run));
    this.runIds.push(run.id);
    this.orgIds.add(run.orgId);
  }

  /** The calls, read from their lines. */
  readRows(): readonly UsageRow[] {
    return (JSON.parse(this.rows.toArrayText()) as readonly UsageLine[]).map(readUsageLine);
  }
}

/** A call as its line has it. Milliseconds: writing a date as text would double the cost. */
export type UsageLine = Omit<UsageRow, 'createdAt'> & { readonly createdAt: number };

export function toUsageLine(row: UsageRow): UsageLine {
  return { ...row, createdAt: row.createdAt.getTime() };
}

export function readUsageLine(line: UsageLine): UsageRow {
  return { ...line, createdAt: new Date(line.createdAt) };
}

/** See UsageStore.add. In a transaction it is the last statement: others wait for the counters until the commit. */
export async function addUsage(sql: Sql, { rows, runs, orgIds }: UsageBatch, owner: string): Promise<void> {
  // One JSON parameter instead of fourteen for each row: no limit on parameters, and one plan for every size.
  await sql.execute(addRows, [rows.toArrayText(), owner, runs.toArrayText(), [...orgIds]]);
}
