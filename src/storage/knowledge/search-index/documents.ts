// Raw SQL: passages with their lexemes and vectors, in bulk. Arrays of keys and vectors of an extension are no columns that Prisma reads.
import { selectRows } from '../../ground/sql/where.ts';
import { Store } from '../../ground/store.ts';
import type { EmbeddingSpace } from '../embeddings/spaces.ts';
import { type ItemLimits, itemLimitsCondition } from '../items/filter.ts';
import { openRuleCondition, searchedSourcesCondition } from '../permissions/gate.ts';
import { type CopiedPassage, type CopiedVector, toWord } from './search-index.ts';

/** An item with passages that searches may find. */
export interface LiveItem {
  readonly id: string;
  readonly orgId: string;
  readonly dataSourceId: string;
  readonly generation: number;
  readonly passages: number;
  /** Who may open it, in a MIRRORED source. */
  readonly accessRuleId: number | null;
  /** Spaces of which all its passages have vectors. */
  readonly spaceIds: readonly number[];
}

/** An item from a passage on. */
export interface ItemPart {
  readonly item: LiveItem;
  readonly fromOrdinal: number;
}

/** What the copy is made from. */
export class SearchIndexDocuments extends Store {
  async liveItems(ids: readonly string[]): Promise<readonly LiveItem[]> {
    return this.#withSpaces(await this.db.query<LiveItemRow>(`${liveSql} AND item.id = ANY($1::text[])`, [ids]));
  }

  /** In the order of their ids, after one. */
  async liveItemsAfter(id: string, limit: number): Promise<readonly LiveItem[]> {
    return this.#withSpaces(
      await this.db.query<LiveItemRow>(`${liveSql} AND item.id > $1 ORDER BY item.id LIMIT $2`, [id, limit]),
    );
  }

  /**
   * The first passages of items, in the order given and within an item by their ordinals. An item whose generation is gone has none. Cost: reads up to
   * `limit` passages of each item.
   */
  async passages(parts: readonly ItemPart[], limit: number): Promise<readonly CopiedPassage[]> {
    const rows = await this.db.query<PassageRow>(passagesSql, [
      parts.map(({ item }) => item.id),
      parts.map(({ item }) => item.generation),
      parts.map(({ fromOrdinal }) => fromOrdinal),
      limit,
    ]);
    const passageRows = rows.flatMap((row) => {
      const part = parts[row.part - 1];
      return part === undefined ? [] : [{ ...row, item: part.item }];
    });
    const [words, vectors] = await Promise.all([this.#wordsOf(passageRows), this.#vectorsOf(passageRows)]);
    return passageRows.map(
      ({ id, ordinal, keys, counts, item: { id: itemId, orgId, dataSourceId, generation, spaceIds, accessRuleId } }) => {
        const knownWords = words.get(dataSourceId);
        const ofPassage = vectors.get(id)?.filter(({ space }) => spaceIds.includes(space)) ?? [];
        return {
          ...{ id, ordinal, orgId, dataSourceId, itemId, generation, accessRuleId },
          words: keys.flatMap((key, index) => repeated(knownWords?.get(key), counts[index] ?? 1)),
          vectors: ofPassage.map(toCopiedVector),
        };
      },
    );
  }

  spaces(): Promise<readonly EmbeddingSpace[]> {
    return this.db.prisma.embeddingSpace.findMany();
  }

  /** The items that limits let through, when they are at most `limit`; undefined when they are more. */
  async itemsWithin(dataSourceIds: readonly string[], limits: ItemLimits, limit: number): Promise<readonly string[] | undefined> {
    const rows = await selectRows<{ readonly id: string }>(this.db, (given) => {
      given.values.push(dataSourceIds);
      const condition = itemLimitsCondition(limits, given, { column: 'item.id', sources: '$1::text[]' });
      const openItem = openRuleCondition(limits.gate, given, { source: 'item."dataSourceId"', rule: 'item."accessRuleId"' });
      return `SELECT item.id FROM knowledge_items AS item
          WHERE item."dataSourceId" = ANY($1::text[]) AND item."liveGeneration" IS NOT NULL${condition}${openItem} LIMIT ${given.add(limit + 1)}`;
    });
    return rows.length > limit ? undefined : rows.map(({ id }) => id);
  }

  /** Live generations of those items that are in the sources and the organization, and that the person who asks may open. */
  async generations(
    {
      orgId,
      dataSourceIds,
      gate,
    }: { readonly orgId: string; readonly dataSourceIds: readonly string[] } & Pick<ItemLimits, 'gate'>,
    itemIds: readonly string[],
  ): Promise<ReadonlyMap<string, number>> {
    const rows = await selectRows<{ readonly id: string; readonly generation: number }>(this.db, (given) => {
      given.values.push(itemIds, dataSourceIds, orgId);
      const open = openRuleCondition(gate, given, { source: 'item."dataSourceId"', rule: 'item."accessRuleId"' });
      return generationsSql + searchedSourcesCondition(gate, given, 'source') + open;
    });
    return new Map(rows.map(({ id, generation }) => [id, generation]));
  }

  async #withSpaces(rows: readonly LiveItemRow[]): Promise<readonly LiveItem[]> {
    const marks = await this.db.prisma.itemEmbedding.findMany({ where: { itemId: { in: rows.map(({ id }) => id) } } });
    const createMarkTest = (row: LiveItemRow) => (mark: (typeof marks)[number]) =>
      mark.itemId === row.id && mark.generation === row.generation;
    return rows.map((row) => ({ ...row, spaceIds: marks.filter(createMarkTest(row)).map(({ spaceId }) => spaceId) }));
  }

  /** The words of passages by their keys, for each source. */
  async #wordsOf(rows: readonly FoundPassage[]) {
    const words = new Map<string, ReadonlyMap<string, string>>();
    // One after the other: documents of many sources would take all connections.
    for (const [dataSourceId, some] of Map.groupBy(rows, ({ item }) => item.dataSourceId)) {
      const keys = [...new Set(some.flatMap((row) => row.keys))];
      const terms = await this.db.query<TermRow>(termsSql, [dataSourceId, keys]);
      words.set(dataSourceId, new Map(terms.map((term) => [term.key, toWord(term)])));
    }
    return words;
  }

  async #vectorsOf(rows: readonly FoundPassage[]) {
    const some = rows.filter(({ item }) => item.spaceIds.length > 0);
    if (some.length === 0) return new Map<string, VectorRow[]>();
    const spaceIds = [...new Set(some.flatMap(({ item }) => item.spaceIds))];
    const vectors = await this.db.query<VectorRow>(vectorsSql, [some.map(({ id }) => id), spaceIds]);
    return Map.groupBy(vectors, ({ id }) => id);
  }
}

type LiveItemRow = Omit<LiveItem, 'spaceIds'>;
interface PassageRow {
  readonly id: string;
  /** Which part it is of, from 1. */
  readonly part: number;
  readonly ordinal: number;
  readonly keys: readonly string[];
  readonly counts: readonly number[];
}
interface FoundPassage extends PassageRow {
  readonly item: LiveItem;
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

function toCopiedVector({ space, embedding }: VectorRow): CopiedVector {
  return { spaceId: space, embedding: embedding === null ? null : (JSON.parse(embedding) as readonly number[]) };
}

function repeated(word: string | undefined, count: number): readonly string[] {
  return word === undefined ? [] : Array.from({ length: count }, () => word);
}

const liveSql = `
SELECT item.id, source."orgId", item."dataSourceId", item."liveGeneration" AS generation, item."documentCount" AS passages, item."accessRuleId"
FROM knowledge_items AS item JOIN data_sources AS source ON source.id = item."dataSourceId"
WHERE item."liveGeneration" IS NOT NULL AND item."indexStatus" <> 'DELETING' AND source."deletingAt" IS NULL`;

const passagesSql = `
SELECT chunk.id::text, part::int, chunk.ordinal, chunk.term_keys::text[] AS keys, chunk.term_counts AS counts
FROM unnest($1::text[], $2::int[], $3::int[]) WITH ORDINALITY AS given(item_id, generation, from_ordinal, part)
CROSS JOIN LATERAL (
  SELECT id, ordinal, term_keys, term_counts FROM chunks
  WHERE item_id = given.item_id AND generation = given.generation AND ordinal >= given.from_ordinal ORDER BY ordinal LIMIT $4
) AS chunk
ORDER BY part, chunk.ordinal LIMIT $4`;

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
