// Raw SQL: an extension, and tables whose columns have its types.
import type { Pool, PoolClient } from 'pg';
import { migrationLock } from './migrate.ts';
import { withClient } from './pool.ts';

/** Whether the database keeps vectors. `unneeded`: no embedding model is set. `detail` is for the operator. */
export type VectorSupport = { readonly kind: 'unneeded' | 'ready' } | { readonly kind: 'missing'; readonly detail: string };

/** The first version that searches on while a filter refuses what it found (`hnsw.iterative_scan`). */
const versionMin = [0, 8] as const;

/**
 * Makes the tables of vectors where the extension `vector` is installed. They are no migration, because most servers have no such extension and
 * must start all the same. Processes that start together take turns.
 *
 * @throws the database's error, other than one that refuses the extension.
 */
export async function prepareVectors(pool: Pool): Promise<VectorSupport> {
  return withClient(pool, async (client) => {
    if (await isPrepared(client)) return { kind: 'ready' };
    await client.query('SELECT pg_advisory_lock($1)', [migrationLock]);
    try {
      return await prepare(client);
    } finally {
      await client.query('SELECT pg_advisory_unlock($1)', [migrationLock]);
    }
  });
}

async function isPrepared(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ is_there: boolean }>(
    "SELECT to_regclass('public.source_embeddings') IS NOT NULL AS is_there",
  );
  return rows[0]?.is_there === true;
}

async function prepare(client: PoolClient): Promise<VectorSupport> {
  const { rows } = await client.query<{ version: string }>(
    "SELECT coalesce(installed_version, default_version) AS version FROM pg_available_extensions WHERE name = 'vector'",
  );
  const version = rows[0]?.version;
  if (version === undefined) return missing('the database server has no extension "vector" (pgvector); install it there');
  if (!isNewEnough(version)) return missing(`the extension "vector" has version ${version}; ${versionMin.join('.')} is needed`);
  await client.query('BEGIN');
  try {
    await client.query('CREATE EXTENSION IF NOT EXISTS vector');
    await client.query(tables);
    await client.query('COMMIT');
    return { kind: 'ready' };
  } catch (error) {
    await client.query('ROLLBACK');
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
 * A space is what one model makes: vectors of two spaces cannot be compared. Vectors are normalised halves (2 bytes a dimension), plain in their
 * row: out of line, each comparison would fetch them from a second table. A passage with a null vector was refused by the provider. The foreign key to
 * the passage removes its vectors in the transaction that removes the passage.
 */
const tables = `
CREATE TABLE IF NOT EXISTS embedding_spaces (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  model text NOT NULL,
  dimensions int NOT NULL,
  UNIQUE (model, dimensions)
);
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
CREATE INDEX IF NOT EXISTS chunk_embeddings_item_idx ON chunk_embeddings (item_id, space);
CREATE TABLE IF NOT EXISTS item_embeddings (
  item_id text NOT NULL REFERENCES knowledge_items (id) ON DELETE CASCADE,
  space int NOT NULL REFERENCES embedding_spaces (id),
  generation int NOT NULL,
  PRIMARY KEY (item_id, space)
);
CREATE TABLE IF NOT EXISTS source_embeddings (
  data_source_id text PRIMARY KEY REFERENCES data_sources (id) ON DELETE CASCADE,
  serving_space int REFERENCES embedding_spaces (id),
  attempt int NOT NULL DEFAULT 0,
  retry_at timestamptz,
  error_code text,
  error_message text
);`;
