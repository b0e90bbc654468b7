// Raw SQL: vectors. Nearest neighbours, by operators of an extension.
import type { Database } from '../../ground/database.ts';
import { type Parameters, selectRows } from '../../ground/sql/where.ts';
import { indexedAs } from '../../ground/vectors/vector-indexes.ts';
import { type ItemLimits, itemLimitsCondition } from '../items/filter.ts';
import type { ScoredId } from '../passages/chunk-ranking.ts';
import { openRuleCondition, searchedSourcesCondition } from '../permissions/gate.ts';
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

/** Up to so many allowed passages all vectors are compared: that misses nothing. WebAssembly compares more slowly. */
const exactMaxOf = { server: 20_000, embedded: 8_000 } as const;

/** Of an index of bits, so many times more passages are found than are wanted; the vectors of these are compared. */
const quantisedShare = 4;

/** The index is searched until the filter has let enough through. The planner knows no cost of it, and would sort everything. */
const searchingIndex = (limit: number) => `SET LOCAL hnsw.ef_search = ${Math.min(limit, 1_000)};
  SET LOCAL hnsw.iterative_scan = relaxed_order; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off`;

/** @param exactMax  up to so many allowed passages every vector is compared. */
export class Nearest {
  readonly #db: Database;
  readonly #exactMax: number;

  constructor(db: Database, exactMax: number = exactMaxOf[db.kind]) {
    this.#db = db;
    this.#exactMax = exactMax;
  }

  /**
   * The live passages of the sources whose vectors are nearest to the question. The same statement checks that a passage is of an allowed source and
   * item, of the organization, and of its item's live generation.
   *
   * Cost: reads every vector that is allowed, or searches the index of the space where many are. Limits of items of large sources cost one statement
   * more, which counts.
   *
   * @returns best first; the score is the cosine, -1 to 1.
   */
  async nearest(plan: NearestPlan): Promise<readonly ScoredId[]> {
    if (await this.#isSmall(plan)) return selectRows<ScoredId>(this.#db, (given) => exactSql(plan, given));
    const rows = await this.#db.transaction(async (tx) => {
      await tx.execute(searchingIndex(plan.limit * (plan.space.isQuantised ? quantisedShare : 1)));
      return selectRows<ScoredId>(tx, (parameters) => (plan.space.isQuantised ? quantisedSql : indexedSql)(plan, parameters));
    });
    return rows.toSorted((a, b) => b.score - a.score);
  }

  async #isSmall(plan: NearestPlan): Promise<boolean> {
    if (plan.allowedChunks <= this.#exactMax) return true;
    if (plan.itemIds === undefined && plan.filter === undefined && plan.gate?.itemIds === undefined) return false;
    // The index is searched only so far, and would find too few passages of few items.
    const [row] = await selectRows<{ count: number }>(this.#db, (given) => countSql(plan, given, this.#exactMax));
    return row !== undefined && row.count <= this.#exactMax;
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

function vectorText(vector: readonly number[]): string {
  return `[${vector.join(',')}]`;
}
