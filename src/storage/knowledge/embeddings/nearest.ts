// Raw SQL: nearest neighbours, by operators of an extension.
import type { Database } from '../../database/database.ts';
import { transaction } from '../../database/pool.ts';
import { prepared } from '../../database/sql/where.ts';
import type { ScoredId } from '../chunk-ranking.ts';
import type { EmbeddingSpace } from './spaces.ts';

export interface NearestPlan {
  readonly orgId: string;
  readonly dataSourceIds: readonly string[];
  /** Only passages of these items; absent: of all. */
  readonly itemIds?: readonly string[];
  readonly space: EmbeddingSpace;
  /** Of length 1. */
  readonly question: readonly number[];
  readonly limit: number;
  /** Passages of the sources, about. */
  readonly allowedChunks: number;
}

export interface Nearest {
  /**
   * The live passages of the sources whose vectors are nearest to the question. The same statement checks that a passage is of an allowed source and
   * item, of the organization, and of its item's live generation.
   *
   * Cost: reads every vector of the sources, or searches the index of the space where the sources have many.
   *
   * @returns best first; the score is the cosine, -1 to 1.
   */
  nearest(plan: NearestPlan): Promise<readonly ScoredId[]>;
}

/** Up to so many allowed passages all vectors are compared: that misses nothing. WebAssembly compares more slowly. */
const exactMax = { server: 20_000, embedded: 8_000 } as const;

/** A search of so few documents reads only their vectors. */
const exactItemsMax = 500;

/** The index is searched until the filter has let enough through. The planner knows no cost of it, and would sort everything. */
const beginIndexed = (limit: number) => `BEGIN; SET LOCAL hnsw.ef_search = ${Math.min(limit, 1_000)};
  SET LOCAL hnsw.iterative_scan = relaxed_order; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off`;

export function createNearest({ pool, kind }: Database): Nearest {
  return {
    async nearest({ orgId, dataSourceIds, itemIds, space, question, limit, allowedChunks }) {
      const values = [dataSourceIds, orgId, `[${question.join(',')}]`, limit, ...(itemIds === undefined ? [] : [itemIds])];
      const isNarrow = (itemIds?.length ?? Number.POSITIVE_INFINITY) <= exactItemsMax;
      if (isNarrow || allowedChunks <= exactMax[kind]) {
        const { rows } = await pool.query<ScoredId>(prepared(exactSql(space, itemIds !== undefined), values));
        return rows;
      }
      const { rows } = await transaction(
        pool,
        (client) => client.query<ScoredId>(prepared(indexedSql(space, itemIds !== undefined), values)),
        beginIndexed(limit),
      );
      return rows.sort((a, b) => b.score - a.score);
    },
  };
}

const sourcesSql = `sources AS MATERIALIZED (
  SELECT id FROM data_sources WHERE id = ANY($1::text[]) AND "orgId" = $2 AND "deletingAt" IS NULL
)`;

const exactSql = ({ id }: EmbeddingSpace, hasItems: boolean) => `
WITH ${sourcesSql}, items AS MATERIALIZED (
  SELECT item.id, item."liveGeneration" AS generation FROM sources JOIN knowledge_items AS item ON item."dataSourceId" = sources.id
  WHERE item."liveGeneration" IS NOT NULL${hasItems ? ' AND item.id = ANY($5::text[])' : ''}
)
SELECT known.chunk_id::text AS id, -(known.embedding <#> $3::halfvec) AS score
FROM items JOIN chunk_embeddings AS known ON known.item_id = items.id AND known.generation = items.generation
WHERE known.space = ${id} AND known.data_source_id = ANY($1::text[]) AND known.embedding IS NOT NULL
ORDER BY known.embedding <#> $3::halfvec, known.chunk_id LIMIT $4`;

/** The order of the inner query stays, because the outer one only checks its rows one after the other. */
const indexedSql = ({ id, dimensions }: EmbeddingSpace, hasItems: boolean) => `
WITH ${sourcesSql}
SELECT near.chunk_id::text AS id, -near.distance AS score
FROM (
  SELECT chunk_id, item_id, generation, data_source_id, embedding::halfvec(${dimensions}) <#> $3::halfvec(${dimensions}) AS distance
  FROM chunk_embeddings WHERE space = ${id} AND data_source_id = ANY($1::text[])${hasItems ? ' AND item_id = ANY($5::text[])' : ''}
  ORDER BY embedding::halfvec(${dimensions}) <#> $3::halfvec(${dimensions})
) AS near
CROSS JOIN LATERAL (
  SELECT FROM knowledge_items AS item
  WHERE item.id = near.item_id AND item."liveGeneration" = near.generation AND item."dataSourceId" IN (SELECT id FROM sources)
  OFFSET 0
) AS live
LIMIT $4`;
