// Raw SQL: tables of an extension that Prisma does not know.
import type { Database } from '../../database/database.ts';

/** What one model makes of texts: vectors of two spaces cannot be compared. */
export interface EmbeddingSpace {
  readonly id: number;
  /** `provider/name`. */
  readonly model: string;
  readonly dimensions: number;
}

/** A space, and the sources whose vectors of it answer searches. */
export interface ServingSpace extends EmbeddingSpace {
  readonly dataSourceIds: readonly string[];
}

export interface Spaces {
  /** The newest space of a model; undefined while the model has made nothing. @param dimensions  only a space of so many. */
  findSpace(model: string, dimensions: number | undefined): Promise<EmbeddingSpace | undefined>;
  /** Finds the space, or makes it with its index. */
  makeSpace(model: string, dimensions: number): Promise<EmbeddingSpace>;
  /** The spaces that answer searches in these sources. */
  serving(dataSourceIds: readonly string[]): Promise<readonly ServingSpace[]>;
  /** Deletes spaces, other than `keptId`, that no source uses any more, with their indexes. */
  removeUnused(keptId: number): Promise<void>;
}

/** More are refused: an index holds no longer vectors, and a row must fit into a page. */
export const dimensionsMax = 4_000;

export function createSpaces(db: Database): Spaces {
  return {
    async findSpace(model, dimensions) {
      const rows = await db.query<EmbeddingSpace>(
        `SELECT id, model, dimensions FROM embedding_spaces WHERE model = $1 AND ($2::int IS NULL OR dimensions = $2)
         ORDER BY id DESC LIMIT 1`,
        [model, dimensions ?? null],
      );
      return rows[0];
    },
    async makeSpace(model, dimensions) {
      return db.transaction(async (tx) => {
        const rows = await tx.query<EmbeddingSpace>(
          `INSERT INTO embedding_spaces (model, dimensions) VALUES ($1, $2)
           ON CONFLICT (model, dimensions) DO UPDATE SET model = excluded.model RETURNING id, model, dimensions`,
          [model, dimensions],
        );
        const [space] = rows;
        if (space === undefined) throw new Error('a space that was made is not there');
        // Made while the space is empty, so that it is never built at once: that would stop everything else for minutes.
        await tx.execute(
          `CREATE INDEX IF NOT EXISTS ${indexOf(space.id)} ON chunk_embeddings
           USING hnsw ((embedding::halfvec(${space.dimensions})) halfvec_ip_ops) WHERE space = ${space.id}`,
        );
        return space;
      });
    },
    async serving(dataSourceIds) {
      const rows = await db.query<ServingSpace>(servingSql, [dataSourceIds]);
      return rows;
    },
    async removeUnused(keptId) {
      const rows = await db.query<{ id: number }>(
        `SELECT id FROM embedding_spaces AS space WHERE id <> $1
           AND NOT EXISTS (SELECT FROM source_embeddings WHERE serving_space = space.id)
           AND NOT EXISTS (SELECT FROM chunk_embeddings WHERE chunk_embeddings.space = space.id)`,
        [keptId],
      );
      for (const { id } of rows) {
        await db.execute(`DROP INDEX IF EXISTS ${indexOf(id)}`);
        await db.execute('DELETE FROM item_embeddings WHERE space = $1', [id]);
        await db.execute('DELETE FROM embedding_spaces WHERE id = $1', [id]);
      }
    },
  };
}

function indexOf(spaceId: number): string {
  return `chunk_embeddings_space_${spaceId}_idx`;
}

const servingSql = `
SELECT space.id, space.model, space.dimensions, array_agg(source.data_source_id) AS "dataSourceIds"
FROM source_embeddings AS source JOIN embedding_spaces AS space ON space.id = source.serving_space
WHERE source.data_source_id = ANY($1::text[])
GROUP BY space.id ORDER BY space.id`;
