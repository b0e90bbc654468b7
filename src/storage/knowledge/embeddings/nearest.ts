// Raw SQL: vectors. Nearest neighbours, by operators of an extension.
import type { Database } from '../../ground/database.ts';
import { type Parameters, selectRows } from '../../ground/sql/where.ts';
import { indexedAs } from '../../ground/vectors/vector-indexes.ts';
import { type ItemLimits, itemLimitsCondition } from '../items/filter.ts';
import type { ScoredId } from '../passages/chunk-ranking.ts';
import { type AccessGate, openRuleCondition, searchedSourcesCondition } from '../permissions/gate.ts';
import type { EmbeddingSpace } from './spaces.ts';

export interface NearestPlan extends ItemLimits {
  readonly orgId: string;
  readonly dataSourceIds: readonly string[];
  readonly space: EmbeddingSpace;
  /** Of length 1. */
  readonly question: readonly number[];
  readonly limit: number;
  /** Passages of the sources, about. */
  readonly allowedChunks: number;
}

interface ExplainedPlan {
  readonly Plan: { readonly 'Plan Rows': number };
}

/** How many passages are searched in which way. */
export interface NearestLimits {
  /** Up to so many allowed passages all vectors are compared: that misses nothing. */
  readonly exactMax: number;
  /** Up to so many passages of MIRRORED sources that the person opens, their sketches are. The index of a space would read most of what is not open. */
  readonly sketchesMax: number;
}

/** WebAssembly compares more slowly. */
const limitsOf = {
  server: { exactMax: 20_000, sketchesMax: 100_000 },
  embedded: { exactMax: 8_000, sketchesMax: 40_000 },
} as const satisfies Record<Database['kind'], NearestLimits>;

/** Of sketches, so many times more passages are found than are wanted; the vectors of these are compared. */
const sketchedShare = 1.25;

/** Of an index of bits, so many times more passages are found than are wanted; the vectors of these are compared. */
const quantisedShare = 4;

/** The index is searched until the filter has let enough through. The planner knows no cost of it, and would sort everything. */
const searchingIndex = (limit: number) => `SET LOCAL hnsw.ef_search = ${Math.min(limit, 1_000)};
  SET LOCAL hnsw.iterative_scan = relaxed_order; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off`;

export class Nearest {
  readonly #db: Database;
  readonly #limits: NearestLimits;
  /** By gate and space, how many passages it opens, about. A gate is forgotten when permissions change. */
  readonly #openCounts = new WeakMap<AccessGate, Map<number, number>>();

  constructor(db: Database, limits: NearestLimits = limitsOf[db.kind]) {
    this.#db = db;
    this.#limits = limits;
  }

  /**
   * The live passages of the sources whose vectors are nearest to the question. The same statement checks that a passage is of an allowed source and
   * item, of the organization, and of its item's live generation.
   *
   * Cost: reads every vector that is allowed, or searches the index of the space where many are; of MIRRORED sources of which the person opens a part,
   * reads the sketches of that part. Limits of items of large sources cost one statement more, which counts.
   *
   * @returns best first; the score is the cosine, -1 to 1.
   */
  async nearest(plan: NearestPlan): Promise<readonly ScoredId[]> {
    if (await this.#isSmall(plan)) return selectRows<ScoredId>(this.#db, (given) => exactSql(plan, given));
    return (await this.#bySketches(plan)) ?? this.#byIndex(plan);
  }

  async #byIndex(plan: NearestPlan): Promise<readonly ScoredId[]> {
    const rows = await this.#db.transaction(async (tx) => {
      await tx.execute(searchingIndex(plan.limit * (plan.space.isQuantised ? quantisedShare : 1)));
      return selectRows<ScoredId>(tx, (parameters) => (plan.space.isQuantised ? quantisedSql : indexedSql)(plan, parameters));
    });
    return rows.toSorted((a, b) => b.score - a.score);
  }

  /** @returns undefined where the index is to be searched, because the person opens too much, or all of the nearest sketches are of replaced passages. */
  async #bySketches(plan: NearestPlan): Promise<readonly ScoredId[] | undefined> {
    const { gate, limit } = plan;
    if (gate === undefined || plan.itemIds !== undefined || plan.filter !== undefined) return undefined;
    if (plan.dataSourceIds.some((id) => !gate.mirroredIds.includes(id))) return undefined;
    if ((await this.#countOpen(gate, plan.space.id)) > this.#limits.sketchesMax) return undefined;
    const rows = await selectRows<ScoredId>(this.#db, (given) => sketchedSql(plan, given, gate.ruleIds));
    return rows.length < limit ? undefined : rows;
  }

  /** How many passages of a space a person may open, as the planner of the database expects: to count them would cost as much as to read their sketches. */
  async #countOpen(gate: AccessGate, spaceId: number): Promise<number> {
    const counts = this.#openCounts.get(gate) ?? new Map<number, number>();
    this.#openCounts.set(gate, counts);
    const known = counts.get(spaceId);
    if (known !== undefined) return known;
    const explained = 'EXPLAIN (FORMAT JSON) SELECT FROM chunk_sketches WHERE space = $1 AND access_rule_id = ANY($2::int[])';
    const [row] = await this.#db.query<{ readonly 'QUERY PLAN': readonly ExplainedPlan[] }>(explained, [spaceId, gate.ruleIds]);
    const count = row?.['QUERY PLAN'][0]?.Plan['Plan Rows'] ?? 0;
    counts.set(spaceId, count);
    return count;
  }

  async #isSmall(plan: NearestPlan): Promise<boolean> {
    const { exactMax } = this.#limits;
    if (plan.allowedChunks <= exactMax) return true;
    if (plan.itemIds === undefined && plan.filter === undefined && plan.gate?.itemIds === undefined) return false;
    // The index is searched only so far, and would find too few passages of few items.
    const [row] = await selectRows<{ count: number }>(this.#db, (given) => countSql(plan, given, exactMax));
    return row !== undefined && row.count <= exactMax;
  }
}

/** The first two values of every statement: `$1` the sources, `$2` the organization. */
function sourcesSql({ gate }: NearestPlan, parameters: Parameters): string {
  return `sources AS MATERIALIZED (
  SELECT id FROM data_sources AS source
  WHERE id = ANY($1::text[]) AND "orgId" = $2 AND "deletingAt" IS NULL${searchedSourcesCondition(gate, parameters, 'source')}
)`;
}

/** Which items the person who asks may open. */
function openItemCondition({ gate }: NearestPlan, parameters: Parameters): string {
  return openRuleCondition(gate, parameters, { source: 'item."dataSourceId"', rule: 'item."accessRuleId"' });
}

/** The live items that are searched. */
function itemsSql(plan: NearestPlan, parameters: Parameters): string {
  parameters.values.push(plan.dataSourceIds, plan.orgId);
  return `${sourcesSql(plan, parameters)}, items AS MATERIALIZED (
  SELECT item.id, item."liveGeneration" AS generation FROM sources JOIN knowledge_items AS item ON item."dataSourceId" = sources.id
  WHERE item."liveGeneration" IS NOT NULL${itemLimitsCondition(plan, parameters, { column: 'item.id', sources: '$1::text[]' })}${openItemCondition(plan, parameters)}
)`;
}

function exactSql(plan: NearestPlan, parameters: Parameters): string {
  const items = itemsSql(plan, parameters);
  const distance = `known.embedding <#> ${parameters.add(vectorText(plan.question))}::halfvec`;
  return `
WITH ${items}
SELECT known.chunk_id::text AS id, -(${distance}) AS score
FROM items JOIN chunk_embeddings AS known ON known.item_id = items.id AND known.generation = items.generation
WHERE known.space = ${plan.space.id} AND known.data_source_id = ANY($1::text[]) AND known.embedding IS NOT NULL
ORDER BY ${distance}, known.chunk_id LIMIT ${parameters.add(plan.limit)}`;
}

/** How many vectors `exactSql` would read, counted up to one more than `most`. */
function countSql(plan: NearestPlan, parameters: Parameters, most: number): string {
  return `
WITH ${itemsSql(plan, parameters)}
SELECT count(*)::int AS count FROM (
  SELECT FROM items JOIN chunk_embeddings AS known ON known.item_id = items.id AND known.generation = items.generation
  WHERE known.space = ${plan.space.id} LIMIT ${parameters.add(most + 1)}
) AS counted`;
}

/** The order of the inner query stays, because the outer one only checks its rows one after the other. */
function indexedSql(plan: NearestPlan, parameters: Parameters): string {
  parameters.values.push(plan.dataSourceIds, plan.orgId);
  const { space } = plan;
  const distance = `${indexedAs(space, 'embedding')} <#> ${indexedAs(space, parameters.add(vectorText(plan.question)))}`;
  const limits = itemLimitsCondition(plan, parameters, { column: 'item_id', sources: '$1::text[]' });
  return `
WITH ${sourcesSql(plan, parameters)}
SELECT near.chunk_id::text AS id, -near.distance AS score
FROM (
  SELECT chunk_id, item_id, generation, data_source_id, ${distance} AS distance
  FROM chunk_embeddings WHERE space = ${space.id} AND data_source_id = ANY($1::text[])${limits}
  ORDER BY ${distance}
) AS near
CROSS JOIN LATERAL (
  SELECT FROM knowledge_items AS item
  WHERE item.id = near.item_id AND item."liveGeneration" = near.generation AND item."dataSourceId" IN (SELECT id FROM sources)${openItemCondition(plan, parameters)}
  OFFSET 0
) AS live
LIMIT ${parameters.add(plan.limit)}`;
}

/** The nearest by their bits, then the nearest of these by their vectors. */
function quantisedSql(plan: NearestPlan, given: Parameters): string {
  given.values.push(plan.dataSourceIds, plan.orgId);
  const { space } = plan;
  const question = given.add(vectorText(plan.question));
  const limits = itemLimitsCondition(plan, given, { column: 'item_id', sources: '$1::text[]' });
  return `
WITH ${sourcesSql(plan, given)}, candidates AS MATERIALIZED (
  SELECT near.chunk_id, near.embedding
  FROM (
    SELECT chunk_id, item_id, generation, embedding
    FROM chunk_embeddings WHERE space = ${space.id} AND data_source_id = ANY($1::text[])${limits}
    ORDER BY ${indexedAs(space, 'embedding')} <~> ${indexedAs(space, question)}
  ) AS near
  CROSS JOIN LATERAL (
    SELECT FROM knowledge_items AS item
    WHERE item.id = near.item_id AND item."liveGeneration" = near.generation AND item."dataSourceId" IN (SELECT id FROM sources)${openItemCondition(plan, given)}
    OFFSET 0
  ) AS live
  LIMIT ${given.add(plan.limit * quantisedShare)}
), compared AS MATERIALIZED (
  SELECT chunk_id, -(embedding <#> ${question}::halfvec) AS score FROM candidates
)
SELECT chunk_id::text AS id, score FROM compared ORDER BY score DESC, chunk_id LIMIT ${given.add(plan.limit)}`;
}

/** The nearest by their sketches, then the nearest of these by their vectors. Their items decide what the person may open, as everywhere. */
function sketchedSql(plan: NearestPlan, given: Parameters, ruleIds: readonly number[]): string {
  given.values.push(plan.dataSourceIds, plan.orgId);
  const { space } = plan;
  const question = `${given.add(vectorText(plan.question))}::halfvec`;
  return `
WITH ${sourcesSql(plan, given)}, near AS MATERIALIZED (
  SELECT chunk_id FROM chunk_sketches WHERE space = ${space.id} AND access_rule_id = ANY(${given.share(ruleIds)}::int[])
  ORDER BY sketch <~> (SELECT parley_sketch(${question})) LIMIT ${given.add(Math.ceil(plan.limit * sketchedShare))}
), candidates AS MATERIALIZED (
  SELECT known.chunk_id, known.item_id, known.generation, -(known.embedding <#> ${question}) AS score FROM near
  CROSS JOIN LATERAL (SELECT * FROM chunk_embeddings WHERE chunk_id = near.chunk_id AND space = ${space.id} OFFSET 0) AS known
), items AS MATERIALIZED (
  SELECT item.id, item."liveGeneration" AS generation FROM (SELECT DISTINCT item_id FROM candidates) AS named
  CROSS JOIN LATERAL (
    SELECT * FROM knowledge_items AS item
    WHERE item.id = named.item_id AND item."dataSourceId" IN (SELECT id FROM sources)${openItemCondition(plan, given)} OFFSET 0
  ) AS item
)
SELECT candidates.chunk_id::text AS id, candidates.score FROM candidates
JOIN items ON items.id = candidates.item_id AND items.generation = candidates.generation
ORDER BY candidates.score DESC, candidates.chunk_id LIMIT ${given.add(plan.limit)}`;
}

function vectorText(vector: readonly number[]): string {
  return `[${vector.join(',')}]`;
}
