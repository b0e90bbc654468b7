// Raw SQL: vectors. Each space has an index of its own on a table of an extension.
import type { ClientBase } from 'pg';

/** What the index of a space has of its vectors. */
export interface IndexedSpace {
  readonly id: number;
  readonly dimensions: number;
  /** The index compares bits, and the vectors of the best are compared afterwards. */
  readonly isQuantised: boolean;
  /** The index has numbers of four bytes; else of two. */
  readonly hasFloats: boolean;
}

/**
 * Makes the indexes that spaces lack: vectors were copied to this database, or only their spaces, before it could keep vectors. Over vectors that are
 * there it takes minutes for a million.
 */
export async function makeVectorIndexes(db: Pick<ClientBase, 'query'>): Promise<void> {
  const spaces = await db.query<IndexedSpace>('SELECT id, dimensions, "isQuantised", "hasFloats" FROM embedding_spaces');
  for (const space of spaces.rows) await db.query(vectorIndexSql(space));
}

/** SQL: makes the index of a space, unless it is there. */
export function vectorIndexSql(space: IndexedSpace): string {
  const operators = space.isQuantised ? 'bit_hamming_ops' : space.hasFloats ? 'vector_ip_ops' : 'halfvec_ip_ops';
  return `CREATE INDEX IF NOT EXISTS ${toVectorIndexName(space.id)} ON chunk_embeddings USING hnsw ((${indexedAs(space, 'embedding')}) ${operators})
    WHERE space = ${space.id}`;
}

/** SQL: a vector as the index of the space has it: its signs, or its numbers. */
export function indexedAs({ isQuantised, hasFloats, dimensions }: IndexedSpace, vector: string): string {
  if (isQuantised) return `binary_quantize(${vector}::halfvec(${dimensions}))::bit(${dimensions})`;
  return `${vector}::${hasFloats ? 'vector' : 'halfvec'}(${dimensions})`;
}

export function toVectorIndexName(spaceId: number): string {
  return `chunk_embeddings_space_${spaceId}_idx`;
}
