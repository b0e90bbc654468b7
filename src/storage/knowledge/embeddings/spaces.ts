// Raw SQL: vectors. Each space has an index of its own in a table of an extension.
import { Store } from '../../ground/store.ts';
import { type IndexedSpace, toVectorIndexName, vectorIndexSql } from '../../ground/vectors/vector-indexes.ts';

/** What one model makes of texts: vectors of two spaces cannot be compared. */
export interface EmbeddingSpace extends IndexedSpace {
  /** `provider/name`. */
  readonly model: string;
}

/** A space, and the sources whose vectors of it answer searches. */
export interface ServingSpace extends EmbeddingSpace {
  readonly dataSourceIds: readonly string[];
}

/** More are refused: an index holds no longer vectors, and a row must fit into a page. */
export const dimensionsMax = 4_000;

/** With fewer dimensions, the signs alone say too little about which vectors are near. */
const quantisedMin = 512;

export class Spaces extends Store {
  /** The newest space of a model; undefined while the model has made nothing. @param dimensions  only a space of so many. */
  async findSpace(model: string, dimensions: number | undefined): Promise<EmbeddingSpace | undefined> {
    const where = { model, ...(dimensions === undefined ? {} : { dimensions }) };
    return (await this.db.prisma.embeddingSpace.findFirst({ where, orderBy: { id: 'desc' } })) ?? undefined;
  }

  /** Finds the space, or makes it with its index. */
  async makeSpace(model: string, dimensions: number): Promise<EmbeddingSpace> {
    return this.db.transaction(async (tx) => {
      const where = { model, dimensions };
      const isQuantised = dimensions >= quantisedMin;
      const create = { ...where, isQuantised, hasFloats: !isQuantised && this.db.kind === 'embedded' };
      const space = await tx.prisma.embeddingSpace.upsert({ where: { model_dimensions: where }, create, update: where });
      // Made while the space is empty, so that it is never built at once: that would stop everything else for minutes.
      await tx.execute(vectorIndexSql(space));
      return space;
    });
  }

  /** The spaces that answer searches in these sources. */
  async serving(dataSourceIds: readonly string[]): Promise<readonly ServingSpace[]> {
    const some = { dataSourceId: { in: [...dataSourceIds] } };
    const spaces = await this.db.prisma.embeddingSpace.findMany({
      where: { sources: { some } },
      select: {
        id: true,
        model: true,
        dimensions: true,
        isQuantised: true,
        hasFloats: true,
        sources: { where: some, select: { dataSourceId: true } },
      },
      orderBy: { id: 'asc' },
    });
    return spaces.map(({ sources, ...space }) => ({
      ...space,
      dataSourceIds: sources.map(({ dataSourceId }) => dataSourceId),
    }));
  }

  /** Deletes spaces, other than `keptId`, that no source uses any more, with their indexes. */
  async removeUnused(keptId: number): Promise<void> {
    const { chunkEmbedding, embeddingSpace, itemEmbedding } = this.db.prisma;
    const unserving = await embeddingSpace.findMany({
      where: { id: { not: keptId }, sources: { none: {} } },
      select: { id: true },
    });
    for (const { id } of unserving) {
      if ((await chunkEmbedding.findFirst({ where: { spaceId: id }, select: { spaceId: true } })) !== null) continue;
      await this.db.execute(`DROP INDEX IF EXISTS ${toVectorIndexName(id)}`);
      await itemEmbedding.deleteMany({ where: { spaceId: id } });
      await embeddingSpace.deleteMany({ where: { id } });
    }
  }
}
