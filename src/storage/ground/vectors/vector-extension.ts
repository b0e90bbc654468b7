// Raw SQL: vectors. An extension, and a table with a column of its type.
import type { Pool } from 'pg';
import { migrationLock } from '../migrations/migrate.ts';
import { hasTable, withTurn } from '../opening/pool.ts';
import { sketchesSql } from './sketches.ts';
import { makeVectorIndexes } from './vector-indexes.ts';

/** Whether the database keeps vectors. `unneeded`: no embedding model is set. `detail` is for the operator. */
export type VectorSupport = { readonly kind: 'unneeded' | 'ready' } | { readonly kind: 'missing'; readonly detail: string };

/** The first version that searches on while a filter refuses what it found (`hnsw.iterative_scan`). */
const versionMin = [0, 8] as const;

/**
 * Makes the table of vectors where the extension `vector` is installed. It is no migration, because most servers have no such extension and must
 * start all the same. Processes that start together take turns.
 *
 * @throws the database's error, other than one that refuses the extension.
 */
export async function prepareVectors(pool: Pool): Promise<VectorSupport> {
  if ((await hasTable(pool, 'chunk_embeddings')) && (await hasTable(pool, 'chunk_sketches'))) return { kind: 'ready' };
  const { rows } = await pool.query<{ version: string }>(
    "SELECT coalesce(installed_version, default_version) AS version FROM pg_available_extensions WHERE name = 'vector'",
  );
  const version = rows[0]?.version;
  if (version === undefined) return missing('the database server has no extension "vector" (pgvector); install it there');
  if (!isNewEnough(version)) return missing(`the extension "vector" has version ${version}; ${versionMin.join('.')} is needed`);
  try {
    await withTurn(pool, migrationLock, async (client) => {
      // Another process may have made them meanwhile. Sketches without vectors are of a copy on a server that had no extension.
      const hasSketches = (await hasTable(client, 'chunk_embeddings')) && (await hasTable(client, 'chunk_sketches'));
      await client.query(table);
      if (!hasSketches) await client.query(sketchesSql);
      await makeVectorIndexes(client);
    });
    return { kind: 'ready' };
  } catch (error) {
    // The role may not create it, or it is in a schema that the role does not search.
    if (!isRefusal(error)) throw error;
    return missing(`the extension "vector" cannot be used: ${error.message}; an administrator runs CREATE EXTENSION vector`);
  }
}

function missing(detail: string): VectorSupport {
  return { kind: 'missing', detail };
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > versionMin[0] || minor >= versionMin[1];
}

/** insufficient_privilege, undefined_object, undefined_file, feature_not_supported */
const refusals = ['42501', '42704', '58P01', '0A000'];

function isRefusal(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && refusals.includes(String(error.code));
}

/**
 * Vectors are normalised halves (2 bytes a dimension), plain in their row: out of line, each comparison would fetch them from a second table. A
 * passage with a null vector was refused by the provider. The foreign key to the passage removes its vectors in the transaction that removes the
 * passage.
 */
const table = `
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE IF NOT EXISTS chunk_embeddings (
  chunk_id bigint NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
  space int NOT NULL REFERENCES embedding_spaces (id),
  data_source_id text NOT NULL,
  item_id text NOT NULL,
  generation int NOT NULL,
  text_hash uuid NOT NULL,
  embedding halfvec,
  PRIMARY KEY (chunk_id, space)
);
ALTER TABLE chunk_embeddings ALTER COLUMN embedding SET STORAGE PLAIN;
CREATE INDEX IF NOT EXISTS chunk_embeddings_text_idx ON chunk_embeddings (data_source_id, space, text_hash);
CREATE INDEX IF NOT EXISTS chunk_embeddings_item_idx ON chunk_embeddings (item_id, space);`;
