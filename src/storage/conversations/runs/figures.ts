// Raw SQL: arithmetic on many rows, in pieces for the statements of history.ts and version-figures.ts.
import type { RunFigures } from '../../../entities/conversations/runs/history.ts';

/** The columns of `sums` and `percentiles`. */
export interface FigureRow extends Omit<RunFigures, 'firstTokenMs' | 'durationMs' | 'cost'> {
  readonly cost: string | null;
  readonly firstTokenMs?: readonly (number | null)[] | null;
  readonly durationMs?: readonly (number | null)[] | null;
}

const ofStatus = (status: string, name: string) => `count(*) filter (where status = '${status}')::int as "${name}"`;
const tokens = (name: string) => `coalesce(sum("${name}"), 0)::float8 as "${name}"`;
/** SQL: what a group of runs took and cost. Sums of money are exact: numeric. */
export const sums = [
  'count(*)::int as "runCount"',
  ofStatus('completed', 'completedCount'),
  ofStatus('failed', 'failedCount'),
  ofStatus('incomplete', 'incompleteCount'),
  ofStatus('cancelled', 'cancelledCount'),
  ofStatus('in_progress', 'activeCount'),
  ...['inputTokens', 'outputTokens', 'cachedTokens', 'cacheWriteTokens', 'reasoningTokens'].map(tokens),
  'sum(cost)::text as cost',
  `count(*) filter (where cost is null and "inputTokens" is not null)::int as "unpricedCount"`,
  `coalesce(sum("ratedUp"), 0)::int as "ratedUp"`,
  `coalesce(sum("ratedDown"), 0)::int as "ratedDown"`,
  `count(*) filter (where "hasFoundNothing")::int as "nothingFoundCount"`,
].join(', ');
export const percentiles = ['firstTokenMs', 'durationMs']
  .map((name) => `percentile_disc(array[0.5, 0.95]) within group (order by "${name}") as "${name}"`)
  .join(', ');

export function toFigures(row: FigureRow): RunFigures {
  const { runCount, completedCount, failedCount, incompleteCount, cancelledCount, activeCount, cost } = row;
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = row;
  const { unpricedCount, ratedUp, ratedDown, nothingFoundCount } = row;
  return {
    ...{ runCount, completedCount, failedCount, incompleteCount, cancelledCount, activeCount },
    ...{ firstTokenMs: toPercentiles(row.firstTokenMs), durationMs: toPercentiles(row.durationMs) },
    ...{ inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens, cost: Number(cost ?? 0) },
    ...{ unpricedCount, ratedUp, ratedDown, nothingFoundCount },
  };
}

function toPercentiles(percentileValues: readonly (number | null)[] | null | undefined): RunFigures['durationMs'] {
  const [p50 = null, p95 = null] = percentileValues ?? [];
  return p50 === null || p95 === null ? null : { p50, p95 };
}
