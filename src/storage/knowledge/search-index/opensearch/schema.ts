import type { EmbeddingSpace } from '../../embeddings/spaces.ts';

/** Increase it when documents or mapping change: every index is then built anew from the database. */
const mappingVersion = 2;

/** The version of an index: that of its mapping, and whether it can have vectors. A higher one can do all that a lower one of the same mapping can. */
export function toVersion(hasVectors: boolean): number {
  return mappingVersion * 2 + (hasVectors ? 1 : 0);
}

/** Whether a program that wants `wanted` can search and write an index of a version. */
export function fits(version: number | null, wantedVersion: number): boolean {
  return version !== null && findMapping(version) === findMapping(wantedVersion) && version >= wantedVersion;
}

/** Whether an index was made by a newer program: this one leaves it alone. */
export function isNewer(version: number | null, wantedVersion: number): boolean {
  return version !== null && findMapping(version) > findMapping(wantedVersion);
}

function findMapping(version: number): number {
  return Math.floor(version / 2);
}

/** Names at the OpenSearch. Searches go to the alias of a mapping: swapping it is one step, and no program meets a mapping that it does not know. */
export const names = {
  index: (prefix: string, version: number, id: string) => `${prefix}-v${findMapping(version)}-${id}`,
  searched: (prefix: string, version: number) => `${prefix}-v${findMapping(version)}`,
  /** Goes with its index: a write to an index that was deleted fails, and makes no new one. */
  written: (index: string) => `${index}-write`,
} as const;

export const vectorField = (spaceId: number) => `vector_${spaceId}`;

/**
 * BM25 without the rarity of a word, which each query brings along as its boost: rarity is that among the sources which are searched, as in the
 * database, and not that among the passages of all organizations. k1 = 1.2, b = 0.75, as in storage/knowledge/passages/chunk-ranking.ts.
 */
export const similarityScript =
  'double average = Math.max(1.0, field.sumTotalTermFreq / Math.max(1.0, field.docCount)); ' +
  'return query.boost * 2.2 * doc.freq / (doc.freq + 1.2 * (0.25 + 0.75 * doc.length / average));';

/** The body of the request that makes an index. */
export function indexBody(index: string, version: number, shards: number): object {
  return {
    aliases: { [names.written(index)]: {} },
    settings: {
      index: {
        number_of_shards: shards,
        // `activate` refreshes; nothing else needs to.
        refresh_interval: '-1',
        similarity: { parley: { type: 'scripted', script: { source: similarityScript } } },
        ...(version === toVersion(true) ? { knn: true } : {}),
      },
    },
    mappings: {
      dynamic: 'strict',
      _meta: { version },
      // Words and vectors are only searched, never read back.
      _source: { includes: ['item', 'generation'] },
      properties: {
        org: { type: 'keyword' },
        source: { type: 'keyword' },
        item: { type: 'keyword' },
        generation: { type: 'integer' },
        // Who may open it, in a MIRRORED source.
        rule: { type: 'integer' },
        // The spaces of which the passage has vectors, or was refused one.
        spaces: { type: 'integer' },
        words: { type: 'text', analyzer: 'keyword', similarity: 'parley', index_options: 'freqs' },
      },
    },
  };
}

/** The field of a space. Lucene searches it with the filter, so that few allowed passages among many are found. */
export function vectorMapping({ id, dimensions }: Pick<EmbeddingSpace, 'id' | 'dimensions'>): object {
  const method = { name: 'hnsw', engine: 'lucene', space_type: 'cosinesimil' };
  return { properties: { [vectorField(id)]: { type: 'knn_vector', dimension: dimensions, method } } };
}
