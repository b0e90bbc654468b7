// Raw SQL: ranking. The passages that are worth scoring, as the first part of the statements that rank.
import type { Parameters } from '../../ground/sql/where.ts';
import { fittingItemsSql, type ItemLimits } from '../items/filter.ts';
import { type AccessGate, openRuleCondition } from '../permissions/gate.ts';

/**
 * Passages that hold a word of every one of its groups. A word is written as its keys in the sources, so one group serves all sources: a passage is of
 * one source, and holds keys of that source only.
 */
export type CandidateTier = readonly (readonly number[])[];

/** Which passages are scored. Rows are read until there are enough. */
export interface CandidatePlan {
  /** The strictest first; each finds all passages of those before it, and more. At most `tiersMax`, with at most `groupsMax` groups each. */
  readonly tiers: readonly CandidateTier[];
  /** Keys of all words. */
  readonly keys: readonly number[];
  /** For each of `tiersMax` tiers: it is read when those before it gave fewer rows. The first number, whose tier is always read, is what is enough of all. */
  readonly rowsEnough: readonly number[];
  /** The most rows of one tier. */
  readonly rowsMax: number;
}

export const tiersMax = 4;
export const groupsMax = 20;

/** A statement has one of these numbers of groups, so that few different texts exist: a group that repeats changes nothing. */
const groupCounts = [1, 4, 10, groupsMax];
/** The most items whose passages are read when words do not lead to enough passages, or to too many. */
const newestItems = 100;
/** So many of the newest items of a source are looked at for those that a person may open. */
const newestLooked = 2_000;
/** Where a person may open a part of the passages, the newest are read when the tiers give less than this part of what is enough. */
const gatedShare = 8;

/**
 * SQL of `WITH` members that end with `candidates`: rows of `chunks`, some of them twice.
 *
 * A tier is one scan of the index of keys. It is read when the tiers before it did not give enough rows: words that are often together, and
 * filters, make what really comes differ from what was expected. The index gives the oldest rows first, so a tier with more than `rowsMax` rows
 * would hide new passages: then, and when a filter leaves too few, passages of the newest items are candidates too. When all items that a filter
 * fits have few passages, these alone are read.
 *
 * `OFFSET 0` keeps the planner from knowing the keys: it would read the whole table for a common word, or the lists of all words for each item.
 *
 * @param sources  the placeholder of the array of sources that are searched.
 */
export function candidatesSql(plan: CandidatePlan, limits: ItemLimits, parameters: Parameters, sources: string): string {
  const fitting = fittingItemsSql(limits, parameters, sources);
  const groups = groupCounts.find((count) => plan.tiers.every((tier) => tier.length <= count)) ?? groupsMax;
  const rowsEnough = parameters.add(`{${plan.rowsEnough.join(',')}}`);
  const enough = (tier: number) => `(${rowsEnough}::int[])[${tier + 1}]`;
  const most = `${parameters.add(plan.rowsMax)}::int`;
  const keys = `${parameters.add(`{${plan.keys.join(',')}}`)}::int[]`;
  const isFew = `(SELECT coalesce(sum(passages), 0) <= ${most} FROM fitting)`;
  const open = openRuleCondition(limits.gate, parameters, { source: 'data_source_id', rule: 'access_rule_id' });
  const names = Array.from({ length: tiersMax }, (_, index) => `tier_${index + 1}`);
  const count = (tables: readonly string[]) => tables.map((name) => `(SELECT count(*) FROM ${name})`).join(' + ');
  const tiers = names.map((name, index) => {
    const earlier = names.slice(0, index);
    const gates = [
      ...(earlier.length === 0 ? [] : [`${count(earlier)} < ${enough(index)}`]),
      ...(fitting === undefined ? [] : [`NOT ${isFew}`]),
    ];
    return tierSql(name, parameters.add(listGroups(plan.tiers[index], groups)), {
      groups,
      gates,
      condition: `data_source_id = ANY(${sources}::text[])${fitting === undefined ? '' : ' AND (item_id IN (SELECT id FROM fitting)) IS TRUE'}${open}`,
      most,
    });
  });
  const isOver = `${count(names.slice(0, 1))} >= ${most}`;
  const isWanted = fitting === undefined ? isOver : `${isFew} OR ${isOver} OR ${count(names)} < ${enough(0)}`;
  const items =
    fitting === undefined
      ? newestSql(
          sources,
          limits.gate === undefined ? isOver : `${isOver} OR ${count(names)} < ${enough(0)} / ${gatedShare}`,
          limits.gate,
          parameters,
        )
      : `SELECT id, generation FROM fitting WHERE ${isWanted} ORDER BY created_at DESC, id LIMIT CASE WHEN ${isFew} THEN ${most} ELSE ${newestItems} END`;
  return `${fitting === undefined ? '' : `fitting AS MATERIALIZED (${fitting}), `}${tiers.join(', ')}, newest AS MATERIALIZED (
  SELECT hit.* FROM (${items}) AS item
  CROSS JOIN LATERAL (SELECT * FROM chunks WHERE item_id = item.id AND generation = item.generation OFFSET 0) AS hit
  WHERE hit.term_keys && ${keys}
  LIMIT ${most}
), candidates AS (${[...names, 'newest'].map((name) => `SELECT * FROM ${name}`).join(' UNION ALL ')})`;
}

function tierSql(
  name: string,
  parameter: string,
  { groups, gates, condition, most }: { groups: number; gates: readonly string[]; condition: string; most: string },
): string {
  const holds = Array.from({ length: groups }, (_, index) => `term_keys && tier.groups[${index + 1}]::int[]`).join(' AND ');
  const isRead = [`${parameter}::text[] IS NOT NULL`, ...gates].join(' AND ');
  return `${name} AS MATERIALIZED (
  SELECT hit.* FROM (SELECT ${parameter}::text[] AS groups WHERE ${isRead} OFFSET 0) AS tier
  CROSS JOIN LATERAL (SELECT * FROM chunks WHERE ${holds} AND ${condition} LIMIT ${most}) AS hit
)`;
}

function newestSql(sources: string, isWanted: string, gate: AccessGate | undefined, parameters: Parameters): string {
  const newest = `SELECT id, "liveGeneration" AS generation, "dataSourceId", "accessRuleId" FROM knowledge_items
    WHERE "dataSourceId" = source.id AND "liveGeneration" IS NOT NULL ORDER BY "createdAt" DESC, id DESC`;
  const open = openRuleCondition(gate, parameters, { source: 'open."dataSourceId"', rule: 'open."accessRuleId"' });
  const items = gate === undefined ? newest : `SELECT * FROM (${newest} LIMIT ${newestLooked}) AS open WHERE true${open}`;
  return `SELECT newest.id, newest.generation FROM unnest(${sources}::text[]) AS source(id) CROSS JOIN LATERAL (
    ${items} LIMIT greatest(1, ${newestItems} / cardinality(${sources}::text[]))
  ) AS newest WHERE ${isWanted}`;
}

/** The groups of a tier as arrays in their text form; null for a tier that does not exist. */
function listGroups(tier: CandidateTier | undefined, count: number): readonly string[] | null {
  if (tier === undefined || tier.length === 0) return null;
  return Array.from({ length: count }, (_, index) => `{${(tier[index] ?? tier[0] ?? []).join(',')}}`);
}
