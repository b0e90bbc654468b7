// Raw SQL: vectors. Bulk writes to a table of an extension that Prisma does not know.
import type { ShareOwner } from '../../../lib/flow/fair-share.ts';
import { unlessOrphaned } from '../../ground/conflicts.ts';
import { Store } from '../../ground/store.ts';

/** A passage without a vector. */
export interface PendingChunk {
  readonly chunkId: string;
  readonly title: string;
  readonly headingPath: string;
  readonly text: string;
}
/** The vector of a passage; null: the provider refuses the text. */
export interface ChunkVector {
  readonly chunkId: string;
  readonly textHash: string;
  readonly embedding: readonly number[] | null;
}
/** A source to work on. */
export interface PendingSource extends ShareOwner {
  readonly id: string;
  readonly ownerUserId: string;
  /** The only agent that has the source; null for none, and for several. */
  readonly agentId: string | null;
}
export interface PendingCount {
  readonly dataSourceId: string;
  /** Passages of documents whose vectors are not complete. */
  readonly passages: number;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}
export interface EmbeddingFailure {
  readonly errorCode: string;
  readonly errorMessage: string;
  /** Null: as soon as somebody looks. */
  readonly retryAfterMs: number | null;
}
/** A text of a generation that is being built, by its place. */
export interface BuiltText {
  readonly ordinal: number;
  readonly textHash: string;
}

/** Documents whose passages are looked at together. */
const itemsAtOnce = 32;
const removedAtOnce = 200;
/** A space that is never there. */
const noSpace = -1;

/** Rows of one statement. On the embedded database each takes some milliseconds, and everything else waits for them. */
const rowsAtOnce = { server: 64, embedded: 4 } as const;

export class Pending extends Store {
  /** Sources with live passages that lack vectors of the space (undefined: of any), unless their next try is due later. */
  async findPending(spaceId: number | undefined, orgId?: string): Promise<readonly PendingSource[]> {
    const rows = await this.db.query<{ id: string }>(pendingSql, [spaceId ?? noSpace, orgId ?? null]);
    const where = { id: { in: rows.map(({ id }) => id) }, deletingAt: null };
    return (await this.db.prisma.dataSource.findMany({ where, select: sourceMembers })).map(toPendingSource);
  }

  /** The source, while it is there and may be worked on. */
  async findSource(dataSourceId: string): Promise<PendingSource | undefined> {
    const found = await this.db.prisma.dataSource.findUnique({
      where: { id: dataSourceId, deletingAt: null },
      select: sourceMembers,
    });
    return found === null ? undefined : toPendingSource(found);
  }

  /** Live passages of the source without a vector of the space. */
  async nextChunks(dataSourceId: string, spaceId: number | undefined, chunksMax: number): Promise<readonly PendingChunk[]> {
    const rows = await this.db.query<PendingChunk>(nextSql, [dataSourceId, spaceId ?? noSpace, chunksMax]);
    return rows;
  }

  /** @returns those hashes whose texts have a vector in the source. */
  async reusable(dataSourceId: string, spaceId: number, textHashes: readonly string[]): Promise<ReadonlySet<string>> {
    const where = { dataSourceId, spaceId, textHash: { in: [...textHashes] } };
    const rows = await this.db.prisma.chunkEmbedding.groupBy({ by: ['textHash'], where });
    return new Set(rows.map(({ textHash }) => textHash.replaceAll('-', '')));
  }

  /** Stores vectors. Passages that are gone meanwhile are left out. */
  async addVectors(dataSourceId: string, spaceId: number, vectors: readonly ChunkVector[]): Promise<void> {
    await this.#inSlices(vectors, (slice) => {
      const values = slice.map(({ embedding }) => (embedding === null ? null : `[${embedding.join(',')}]`));
      const hashes = slice.map(({ textHash }) => textHash);
      return this.db.execute(addSql, [dataSourceId, spaceId, slice.map(({ chunkId }) => chunkId), hashes, values]);
    });
  }

  /** Gives passages the vectors of other passages of the source with the same text. */
  async copyVectors(dataSourceId: string, spaceId: number, chunks: readonly Omit<ChunkVector, 'embedding'>[]): Promise<void> {
    await this.#inSlices(chunks, (slice) => {
      const ids = slice.map(({ chunkId }) => chunkId);
      return this.db.execute(copySql, [dataSourceId, spaceId, ids, slice.map(({ textHash }) => textHash)]);
    });
  }

  /** Gives passages of a generation under construction the vectors of passages of the source with the same text. */
  async reuse(
    { dataSourceId, itemId, generation }: { dataSourceId: string; itemId: string; generation: number },
    texts: readonly BuiltText[],
  ): Promise<void> {
    await this.#inSlices(texts, (slice) => {
      const ordinals = slice.map(({ ordinal }) => ordinal);
      const hashes = slice.map(({ textHash }) => textHash);
      return this.db.execute(reuseSql, [dataSourceId, itemId, generation, ordinals, hashes]);
    });
  }

  /** Marks some documents whose passages all have vectors. When all are marked, the vectors of the space answer for the source from now on. */
  async settle(dataSourceId: string, spaceId: number): Promise<{ readonly isComplete: boolean; readonly marked: number }> {
    const marked = await this.db.execute(markSql, [dataSourceId, spaceId]);
    const served = await this.db.execute(serveSql, [dataSourceId, spaceId]);
    return { isComplete: served === 1, marked };
  }

  /** Deletes some vectors of other spaces of a source that `spaceId` answers for. @returns whether some are left. */
  async removeReplaced(dataSourceId: string, spaceId: number): Promise<boolean> {
    const rowCount = await this.db.execute(removeReplacedSql, [dataSourceId, spaceId]);
    return (rowCount ?? 0) === removedAtOnce;
  }

  /** Notes why a source cannot go on. */
  async fail(dataSourceId: string, { retryAfterMs, ...reason }: EmbeddingFailure): Promise<void> {
    const failure = { ...reason, retryAt: retryAfterMs === null ? null : new Date(Date.now() + retryAfterMs) };
    const where = { dataSourceId };
    await unlessOrphaned(this.db.prisma.sourceEmbedding.upsert({ where, create: { ...where, ...failure }, update: failure }));
  }

  /** Notes a try that failed. @returns how many failed one after the other. */
  async noteTry(dataSourceId: string): Promise<number> {
    const where = { dataSourceId };
    const update = { attempt: { increment: 1 } };
    const tryRow = await unlessOrphaned(
      this.db.prisma.sourceEmbedding.upsert({ where, create: { ...where, attempt: 1 }, update, select: { attempt: true } }),
    );
    return tryRow?.attempt ?? 1;
  }

  async clearFailure(dataSourceId: string): Promise<void> {
    const where = { dataSourceId, OR: [{ attempt: { gt: 0 } }, { errorCode: { not: null } }] };
    const data = { attempt: 0, retryAt: null, errorCode: null, errorMessage: null };
    await this.db.prisma.sourceEmbedding.updateMany({ where, data });
  }

  /** How many passages lack vectors, by source. */
  async counts(dataSourceIds: readonly string[], spaceId: number | undefined): Promise<readonly PendingCount[]> {
    const rows = await this.db.query<PendingCount>(countsSql, [spaceId ?? noSpace, dataSourceIds]);
    return rows;
  }

  /** In all sources together. */
  async countAll(spaceId: number | undefined): Promise<number> {
    const rows = await this.db.query<{ passages: number }>(
      `SELECT coalesce(sum(item."documentCount"), 0)::int AS passages FROM knowledge_items AS item WHERE ${isLive} AND ${isUnmarked('$1')}`,
      [spaceId ?? noSpace],
    );
    return rows[0]?.passages ?? 0;
  }

  async #inSlices<T>(rows: readonly T[], write: (slice: readonly T[]) => Promise<unknown>): Promise<void> {
    for (let from = 0; from < rows.length; from += rowsAtOnce[this.db.kind])
      await write(rows.slice(from, from + rowsAtOnce[this.db.kind]));
  }
}

/** SQL: the item has passages that answer. */
const isLive = `item."liveGeneration" IS NOT NULL AND item."indexStatus" <> 'DELETING'`;

/** SQL: not all passages of the item's live generation are known to have vectors. */
function isUnmarked(space: string): string {
  return `NOT EXISTS (SELECT FROM item_embeddings AS mark
    WHERE mark.item_id = item.id AND mark.space = ${space} AND mark.generation = item."liveGeneration")`;
}

const isIncomplete = `EXISTS (SELECT FROM knowledge_items AS item
  WHERE item."dataSourceId" = source.id AND ${isLive} AND ${isUnmarked('$1')})`;

const pendingSql = `
SELECT source.id FROM data_sources AS source
LEFT JOIN source_embeddings AS state ON state.data_source_id = source.id
WHERE source."deletingAt" IS NULL AND (state.retry_at IS NULL OR state.retry_at <= now()) AND ($2::text IS NULL OR source."orgId" = $2)
  AND (${isIncomplete} OR state.serving_space IS DISTINCT FROM $1
    AND EXISTS (SELECT FROM knowledge_items AS item WHERE item."dataSourceId" = source.id AND ${isLive}))
LIMIT 500`;

const sourceMembers = {
  id: true,
  orgId: true,
  ownerUserId: true,
  organization: { select: { tenantId: true } },
  agents: { select: { agentId: true }, take: 2 },
} as const;

function toPendingSource({ organization, agents, ...source }: SourceMembers): PendingSource {
  return { ...source, tenantId: organization.tenantId, agentId: agents.length === 1 ? (agents[0]?.agentId ?? null) : null };
}

type SourceMembers = Pick<PendingSource, 'id' | 'orgId' | 'ownerUserId'> & {
  readonly organization: { readonly tenantId: string };
  readonly agents: readonly { readonly agentId: string }[];
};

/** The first documents that are not known to be complete. */
const unmarkedSql = `
  SELECT item.id, item."liveGeneration" AS generation, coalesce(item.metadata->>'title', item.name) AS title
  FROM knowledge_items AS item
  WHERE item."dataSourceId" = $1 AND ${isLive} AND ${isUnmarked('$2')}
  ORDER BY item.id LIMIT ${itemsAtOnce}`;

const nextSql = `
WITH items AS MATERIALIZED (${unmarkedSql}
), missing AS MATERIALIZED (
  SELECT chunk.id, items.title FROM items
  CROSS JOIN LATERAL (SELECT id, ordinal FROM chunks WHERE item_id = items.id AND generation = items.generation OFFSET 0) AS chunk
  WHERE NOT EXISTS (SELECT FROM chunk_embeddings AS known WHERE known.chunk_id = chunk.id AND known.space = $2)
  ORDER BY items.id, chunk.ordinal LIMIT $3
)
SELECT missing.id::text AS "chunkId", missing.title, words.heading_path AS "headingPath", words.text
FROM missing CROSS JOIN LATERAL (SELECT heading_path, text FROM chunk_texts WHERE chunk_id = missing.id OFFSET 0) AS words`;

/**
 * The items, before their passages, as everything else that changes both locks them. Where who may open an item is known, or will be, it does not
 * change until the sketches of its vectors are written: the trigger that changes them sees what is committed.
 */
const heldSql = (itemIds: string, source: string) => `
  SELECT item.id, item."accessRuleId" AS rule FROM knowledge_items AS item JOIN data_sources AS source ON source.id = item."dataSourceId"
  WHERE item.id IN (${itemIds}) AND source.id = ${source} AND (item."accessRuleId" IS NOT NULL OR source.access <> 'LENT')
  ORDER BY item.id FOR SHARE OF item`;

/** Rows are locked, so that a passage is not removed between the check and the write. */
const aliveSql = `
WITH held AS MATERIALIZED (${heldSql('SELECT item_id FROM chunks WHERE id = ANY($3::bigint[])', '$1')}
), alive AS MATERIALIZED (
  SELECT id, item_id, generation FROM chunks
  WHERE id = ANY($3::bigint[]) AND data_source_id = $1 AND (SELECT count(*) FROM held) >= 0 FOR KEY SHARE
)`;

/** Adds vectors with the sketches of those that belong to items with a rule. @param vectors  gives the columns of `chunk_embeddings`, in their order. */
const withSketchesSql = (vectors: string) => `, added AS (
  INSERT INTO chunk_embeddings (chunk_id, space, data_source_id, item_id, generation, text_hash, embedding)
  ${vectors}
  ON CONFLICT DO NOTHING RETURNING chunk_id, space, item_id, embedding
)
INSERT INTO chunk_sketches (chunk_id, space, access_rule_id, sketch)
SELECT added.chunk_id, added.space, held.rule, parley_sketch(added.embedding) FROM added JOIN held ON held.id = added.item_id
WHERE held.rule IS NOT NULL AND added.embedding IS NOT NULL`;

const addSql = `${aliveSql}${withSketchesSql(`
  SELECT alive.id, $2, $1, alive.item_id, alive.generation, given.hash, given.embedding::halfvec
  FROM unnest($3::bigint[], $4::uuid[], $5::text[]) AS given(id, hash, embedding) JOIN alive USING (id)`)}`;

const copySql = `${aliveSql}${withSketchesSql(`
  SELECT alive.id, $2, $1, alive.item_id, alive.generation, given.hash, same.embedding
  FROM unnest($3::bigint[], $4::uuid[]) AS given(id, hash) JOIN alive USING (id)
  CROSS JOIN LATERAL (SELECT embedding FROM chunk_embeddings WHERE data_source_id = $1 AND space = $2 AND text_hash = given.hash LIMIT 1) AS same`)}`;

const reuseSql = `
WITH held AS MATERIALIZED (${heldSql('$2', '$1')}
)${withSketchesSql(`
  SELECT chunk.id, same.space, $1, $2, $3, given.hash, same.embedding
  FROM unnest($4::int[], $5::uuid[]) AS given(ordinal, hash)
  JOIN embedding_spaces AS space ON true
  CROSS JOIN LATERAL (SELECT known.space, embedding FROM chunk_embeddings AS known
    WHERE known.data_source_id = $1 AND known.space = space.id AND known.text_hash = given.hash LIMIT 1) AS same
  JOIN chunks AS chunk ON chunk.item_id = $2 AND chunk.generation = $3 AND chunk.ordinal = given.ordinal
  WHERE (SELECT count(*) FROM held) >= 0`)}`;

const markSql = `
INSERT INTO item_embeddings (item_id, space, generation)
SELECT item.id, $2, item.generation FROM (${unmarkedSql}) AS item
WHERE NOT EXISTS (
    SELECT FROM chunks WHERE chunks.item_id = item.id AND chunks.generation = item.generation
      AND NOT EXISTS (SELECT FROM chunk_embeddings AS known WHERE known.chunk_id = chunks.id AND known.space = $2))
ON CONFLICT (item_id, space) DO UPDATE SET generation = excluded.generation`;

const serveSql = `
INSERT INTO source_embeddings AS state (data_source_id, serving_space)
SELECT source.id, $2 FROM data_sources AS source
WHERE source.id = $1
  AND NOT EXISTS (SELECT FROM knowledge_items AS item WHERE item."dataSourceId" = $1 AND ${isLive} AND ${isUnmarked('$2')})
ON CONFLICT (data_source_id) DO UPDATE SET serving_space = $2, attempt = 0, retry_at = NULL, error_code = NULL, error_message = NULL`;

const removeReplacedSql = `
DELETE FROM chunk_embeddings WHERE (chunk_id, space) IN (
  SELECT chunk_id, space FROM chunk_embeddings
  WHERE data_source_id = $1 AND space <> $2
    AND EXISTS (SELECT FROM source_embeddings WHERE data_source_id = $1 AND serving_space = $2)
  LIMIT ${removedAtOnce})`;

const countsSql = `
SELECT source.id AS "dataSourceId", state.error_code AS "errorCode", state.error_message AS "errorMessage",
  coalesce((SELECT sum(item."documentCount") FROM knowledge_items AS item
    WHERE item."dataSourceId" = source.id AND ${isLive} AND ${isUnmarked('$1')}), 0)::int AS passages
FROM data_sources AS source LEFT JOIN source_embeddings AS state ON state.data_source_id = source.id
WHERE source.id = ANY($2::text[])`;
