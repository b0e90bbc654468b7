// Raw SQL: tables that are there only while a move goes on.
import type { Pool, PoolClient } from 'pg';
import { hasTable } from '../ground/opening/pool.ts';
import { StartRefusal } from '../ground/opening/start-refusal.ts';

export interface MovedFile {
  readonly key: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** Notes in the target what is there already, in the same transactions: a move that was killed goes on behind them. */
export class MoveProgress {
  readonly #target: Pool;

  constructor(target: Pool) {
    this.#target = target;
  }

  /** The move that filled this database so far; undefined when none has begun. */
  async moveId(): Promise<string | undefined> {
    if (!(await hasTable(this.#target, 'parley_move'))) return undefined;
    return (await this.#target.query<{ id: string }>('SELECT id FROM parley_move')).rows[0]?.id;
  }

  async begin(moveId: string): Promise<void> {
    await this.#target.query(`BEGIN;
      CREATE TABLE parley_move (id text PRIMARY KEY);
      CREATE TABLE parley_move_tables (name text PRIMARY KEY, rows bigint NOT NULL, digest text NOT NULL);
      CREATE TABLE parley_move_files (key text PRIMARY KEY, size_bytes bigint NOT NULL, sha256 text NOT NULL);
      INSERT INTO parley_move VALUES ('${moveId}'); COMMIT`);
  }

  async table(name: string): Promise<{ readonly rows: number; readonly digest: string } | undefined> {
    const { rows } = await this.#target.query<{ rows: number; digest: string }>(
      'SELECT rows::float8 AS rows, digest FROM parley_move_tables WHERE name = $1',
      [name],
    );
    return rows[0];
  }

  async noteTable(client: PoolClient, name: string, rows: number, digest: string): Promise<void> {
    await client.query('INSERT INTO parley_move_tables VALUES ($1, $2, $3)', [name, rows, digest]);
  }

  /** Those of some keys that are there already. */
  async files(keys: readonly string[]): Promise<ReadonlyMap<string, MovedFile>> {
    const { rows } = await this.#target.query<MovedFile>(
      'SELECT key, size_bytes::float8 AS "sizeBytes", sha256 FROM parley_move_files WHERE key = ANY ($1)',
      [keys],
    );
    return new Map(rows.map((file) => [file.key, file]));
  }

  async noteFile({ key, sizeBytes, sha256 }: MovedFile): Promise<void> {
    await this.#target.query('INSERT INTO parley_move_files VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
      key,
      sizeBytes,
      sha256,
    ]);
  }

  /** From here on the database may be used. */
  async end(): Promise<void> {
    await this.#target.query('DROP TABLE IF EXISTS parley_move_files, parley_move_tables, parley_move');
  }
}

/** @throws StartRefusal while a move fills the database. */
export async function refuseUnfinishedMove(client: Pick<Pool, 'query'>): Promise<void> {
  if (!(await hasTable(client, 'parley_move'))) return;
  throw new StartRefusal(
    'The database (DATABASE_URL) is being filled by parley move, which has not ended. Repeat that command, which goes on where it was, or make the database anew.',
  );
}
