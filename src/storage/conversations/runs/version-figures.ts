// Raw SQL: arithmetic on many rows.
import type { RunFigures } from '../../../entities/conversations/runs/history.ts';
import type { Database } from '../../ground/database.ts';
import { type FigureRow, percentiles, sums, toFigures } from './figures.ts';

/** What the runs of one version of an agent took and cost. */
export interface VersionFigures extends RunFigures {
  /** 0: drafts. Null: runs of before versions. */
  readonly version: number | null;
  /** Calls of tools that failed. */
  readonly toolErrorCount: number;
  /** Runs whose knowledge gave nothing, or whose answer was rated bad. */
  readonly unansweredCount: number;
}

export interface VersionSpan {
  readonly agentId: string;
  /** Only runs of its people count. */
  readonly orgId: string;
  readonly since: Date;
  readonly until: Date;
}

/**
 * What the runs of an agent took and cost by version, the newest version first.
 *
 * @param rowsMax  older runs are not read.
 *
 * Cost: one statement, which reads these rows by the index of the agent.
 */
export async function readVersionFigures(
  db: Database,
  { agentId, orgId, since, until }: VersionSpan,
  rowsMax: number,
): Promise<readonly VersionFigures[]> {
  const rows = await db.queryPlanned<FigureRow & Pick<VersionFigures, 'version' | 'toolErrorCount' | 'unansweredCount'>>(
    `with counted as (
       select "agentVersion" as version, status, "firstTokenMs", "durationMs", "inputTokens", "outputTokens", "cachedTokens", "cacheWriteTokens",
         "reasoningTokens", cost, "ratedUp", "ratedDown", "hasFoundNothing",
         jsonb_array_length(jsonb_path_query_array(steps, '$[*] ? (@.type == "tool_call" && @.outcome == "failed")')) as "toolErrors"
       from runs where "agentId" = $1 and "orgId" = $2 and "createdAt" >= $3::timestamptz and "createdAt" < $4::timestamptz
       order by "createdAt" desc limit $5)
     select version, ${sums}, ${percentiles}, coalesce(sum("toolErrors"), 0)::int as "toolErrorCount",
       count(*) filter (where "hasFoundNothing" or "ratedDown" > 0)::int as "unansweredCount"
     from counted group by version order by version desc nulls last`,
    [agentId, orgId, since.toISOString(), until.toISOString(), rowsMax],
  );
  return rows.map((row) => {
    const { version, toolErrorCount, unansweredCount } = row;
    return { ...toFigures(row), version, toolErrorCount, unansweredCount };
  });
}
