// Raw SQL: vectors. Each space has an index of its own in a table of an extension.
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
      const where = { model, ...(dimensions === undefined ? {} : { dimensions }) };
      return (await db.prisma.embeddingSpace.findFirst({ where, orderBy: { id: 'desc' } })) ?? undefined;
    },
    async makeSpace(model, dimensions) {
      return db.transaction(async (tx) => {
        const where = { model, dimensions };
        const space = await tx.prisma.embeddingSpace.upsert({ where: { model_dimensions: where }, create: where, update: where });
        // Made while the space is empty, so that it is never built at once: that would stop everything else for minutes.
        await tx.execute(
          `CREATE INDEX IF NOT EXISTS ${indexOf(space.id)} ON chunk_embeddings
           USING hnsw ((embedding::halfvec(${dimensions})) halfvec_ip_ops) WHERE space = ${space.id}`,
        );
        return space;
      });
    },
    async serving(dataSourceIds) {
      const some = { dataSourceId: { in: [...dataSourceIds] } };
      const spaces = await db.prisma.embeddingSpace.findMany({
        where: { sources: { some } },
        select: { id: true, model: true, dimensions: true, sources: { where: some, select: { dataSourceId: true } } },
        orderBy: { id: 'asc' },
      });
      return spaces.map(({ sources, ...space }) => ({
        ...space,
        dataSourceIds: sources.map(({ dataSourceId }) => dataSourceId),
      }));
    },
    async removeUnused(keptId) {
      const { chunkEmbedding, embeddingSpace, itemEmbedding } = db.prisma;
      const unserving = await embeddingSpace.findMany({
        where: { id: { not: keptId }, sources: { none: {} } },
        select: { id: true },
      });
      for (const { id } of unserving) {
        if ((await chunkEmbedding.findFirst({ where: { spaceId: id }, select: { spaceId: true } })) !== null) continue;
        await db.execute(`DROP INDEX IF EXISTS ${indexOf(id)}`);
        await itemEmbedding.deleteMany({ where: { spaceId: id } });
        await embeddingSpace.deleteMany({ where: { id } });
      }
    },
  };
}

function indexOf(spaceId: number): string {
  return `chunk_embeddings_space_${spaceId}_idx`;
}
