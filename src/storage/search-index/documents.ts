// Raw SQL: passages with their lexemes and vectors, in bulk. Arrays of keys and vectors of an extension are no columns that Prisma reads.
import type { Database } from '../database/database.ts';
import { selectRows } from '../database/sql/where.ts';
import type { EmbeddingSpace } from '../knowledge/embeddings/spaces.ts';
import { type ItemLimits, itemLimitsCondition } from '../knowledge/item-filter.ts';
import { type CopiedPassage, type CopiedVector, wordOf } from './search-index.ts';

/** An item with passages that searches may find. */
export interface LiveItem {
  readonly id: string;
  readonly orgId: string;
  readonly dataSourceId: string;
  readonly generation: number;
  readonly passages: number;
  /** Spaces of which all its passages have vectors. */
  readonly spaceIds: readonly number[];
}

/** What the copy is made from. */
export interface SearchIndexDocuments {
  liveItems(ids: readonly string[]): Promise<readonly LiveItem[]>;
  /** In the order of their ids, after one. */
  liveItemsAfter(id: string, limit: number): Promise<readonly LiveItem[]>;
  /** Passages of an item in their order, from an ordinal on; `[]` when its generation is gone. */
  passages(item: LiveItem, fromOrdinal: number, limit: number): Promise<readonly CopiedPassage[]>;
  spaces(): Promise<readonly EmbeddingSpace[]>;
  /** The items that limits let through, when they are at most `limit`; undefined when they are more. */
  itemsWithin(dataSourceIds: readonly string[], limits: ItemLimits, limit: number): Promise<readonly string[] | undefined>;
  /** Live generations of those items that are in the sources and the organization. */
  generations(
    allowed: { readonly orgId: string; readonly dataSourceIds: readonly string[] },
    itemIds: readonly string[],
  ): Promise<ReadonlyMap<string, number>>;
}

export function createSearchIndexDocuments(db: Database): SearchIndexDocuments {
  const withSpaces = async (rows: readonly LiveItemRow[]): Promise<readonly LiveItem[]> => {
    const marks = await db.prisma.itemEmbedding.findMany({ where: { itemId: { in: rows.map(({ id }) => id) } } });
    const isOf = (row: LiveItemRow) => (mark: (typeof marks)[number]) =>
      mark.itemId === row.id && mark.generation === row.generation;
    return rows.map((row) => ({ ...row, spaceIds: marks.filter(isOf(row)).map(({ spaceId }) => spaceId) }));
  };
  return {
    liveItems: async (ids) => withSpaces(await db.query<LiveItemRow>(`${liveSql} AND item.id = ANY($1::text[])`, [ids])),
    liveItemsAfter: async (id, limit) =>
      withSpaces(await db.query<LiveItemRow>(`${liveSql} AND item.id > $1 ORDER BY item.id LIMIT $2`, [id, limit])),
    async passages({ id, orgId, dataSourceId, generation, spaceIds }, fromOrdinal, limit) {
      const rows = await db.query<PassageRow>(passagesSql, [id, generation, fromOrdinal, limit]);
      const keys = [...new Set(rows.flatMap((row) => row.keys))];
      const [terms, vectors] = await Promise.all([
        db.query<TermRow>(termsSql, [dataSourceId, keys]),
        spaceIds.length === 0 ? [] : db.query<VectorRow>(vectorsSql, [rows.map((row) => row.id), spaceIds]),
      ]);
      const words = new Map(terms.map((term) => [term.key, wordOf(term)]));
      const vectorsOf = Map.groupBy(vectors, (row) => row.id);
      return rows.map((row) => ({
        ...{ id: row.id, ordinal: row.ordinal, orgId, dataSourceId, itemId: id, generation },
        words: row.keys.flatMap((key, index) => repeated(words.get(key), row.counts[index] ?? 1)),
        vectors: (vectorsOf.get(row.id) ?? []).map(copiedVectorOf),
      }));
    },
    spaces: () => db.prisma.embeddingSpace.findMany(),
    async itemsWithin(dataSourceIds, limits, limit) {
      const rows = await selectRows<{ readonly id: string }>(db, (given) => {
        given.values.push(dataSourceIds);
        const condition = itemLimitsCondition(limits, given, { column: 'item.id', sources: '$1::text[]' });
        return `SELECT item.id FROM knowledge_items AS item
          WHERE item."dataSourceId" = ANY($1::text[]) AND item."liveGeneration" IS NOT NULL${condition} LIMIT ${given.add(limit + 1)}`;
      });
      return rows.length > limit ? undefined : rows.map(({ id }) => id);
    },
    async generations({ orgId, dataSourceIds }, itemIds) {
      const rows = await db.query<{ readonly id: string; readonly generation: number }>(generationsSql, [
        itemIds,
        dataSourceIds,
        orgId,
      ]);
      return new Map(rows.map(({ id, generation }) => [id, generation]));
    },
  };
}

type LiveItemRow = Omit<LiveItem, 'spaceIds'>;
interface PassageRow {
  readonly id: string;
  readonly ordinal: number;
  readonly keys: readonly string[];
  readonly counts: readonly number[];
}
interface TermRow {
  readonly key: string;
  readonly config: string;
  readonly term: string;
}
interface VectorRow {
  readonly id: string;
  readonly space: number;
  /** As JSON writes an array. */
  readonly embedding: string | null;
}

function copiedVectorOf({ space, embedding }: VectorRow): CopiedVector {
  return { spaceId: space, embedding: embedding === null ? null : (JSON.parse(embedding) as readonly number[]) };
}

function repeated(word: string | undefined, count: number): readonly string[] {
  return word === undefined ? [] : Array.from({ length: count }, () => word);
}

const liveSql = `
SELECT item.id, source."orgId", item."dataSourceId", item."liveGeneration" AS generation, item."documentCount" AS passages
FROM knowledge_items AS item JOIN data_sources AS source ON source.id = item."dataSourceId"
WHERE item."liveGeneration" IS NOT NULL AND item."indexStatus" <> 'DELETING' AND source."deletingAt" IS NULL`;

const passagesSql = `
SELECT id::text, ordinal, term_keys::text[] AS keys, term_counts AS counts FROM chunks
WHERE item_id = $1 AND generation = $2 AND ordinal >= $3 ORDER BY ordinal LIMIT $4`;

const termsSql =
  'SELECT key::text, config, term FROM lexeme_frequencies WHERE data_source_id = $1 AND key = ANY($2::text[]::bigint[])';

const vectorsSql = `
SELECT chunk_id::text AS id, space, embedding::text FROM chunk_embeddings
WHERE chunk_id = ANY($1::text[]::bigint[]) AND space = ANY($2::int[])`;

const generationsSql = `
SELECT item.id, item."liveGeneration" AS generation
FROM knowledge_items AS item JOIN data_sources AS source ON source.id = item."dataSourceId"
WHERE item.id = ANY($1::text[]) AND item."dataSourceId" = ANY($2::text[]) AND source."orgId" = $3 AND source."deletingAt" IS NULL
  AND item."liveGeneration" IS NOT NULL`;
