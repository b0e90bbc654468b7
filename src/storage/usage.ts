import type { Database } from './database.ts';

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
}

export interface UsageStore {
  /** Writes all rows in one statement. A row that is there already stays as it is: a repeated write charges nothing twice. */
  add(rows: readonly UsageRow[]): Promise<void>;
}

export function createUsageStore({ pool }: Database): UsageStore {
  return {
    async add(rows) {
      // One JSON parameter instead of thirteen a row: no limit of parameters, one plan for every size.
      await pool.query(
        `insert into usage_entries ("id", "createdAt", "orgId", "userId", "keyId", "agentId", "runId", "purpose", "modelId",
           "inputTokens", "outputTokens", "cachedTokens", "reasoningTokens")
         select "id", "createdAt", "orgId", "userId", "keyId", "agentId", "runId", "purpose", "modelId",
           "inputTokens", "outputTokens", "cachedTokens", "reasoningTokens"
         from jsonb_populate_recordset(null::usage_entries, $1::jsonb)
         on conflict ("id") do nothing`,
        [JSON.stringify(rows)],
      );
    },
  };
}
