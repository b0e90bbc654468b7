// Raw SQL: PostgreSQL tells its version and its size by functions, and Prisma does not know the table of migrations.
import { statfsSync } from 'node:fs';
import type { DatabaseFacts, FileStorageFacts } from '../../entities/operations/installation.ts';
import type { Settings } from '../../settings.ts';
import { readBlobAddress } from '../blobs/address.ts';
import type { Database } from '../ground/database.ts';

const databaseFacts = `SELECT current_setting('server_version') AS version, pg_database_size(current_database())::float8 AS size_bytes,
  (SELECT name FROM parley_migrations ORDER BY split_part(name, '_', 1)::int DESC LIMIT 1) AS migration`;

/** What database and files of an installation are. */
export class InstallationFacts {
  readonly #db: Database;
  readonly #settings: Pick<Settings, 'BLOB_URL' | 'DATA_DIR'>;

  constructor(db: Database, settings: Pick<Settings, 'BLOB_URL' | 'DATA_DIR'>) {
    this.#db = db;
    this.#settings = settings;
  }

  /** Cost: one statement, which reads the sizes of the files of the database. */
  async database(): Promise<DatabaseFacts> {
    const [row] = await this.#db.query<{ version: string; size_bytes: number; migration: string | null }>(databaseFacts);
    if (row === undefined) throw new Error('a query without FROM gives one row');
    const kind = this.#db.kind === 'embedded' ? 'embedded' : 'postgresql';
    return { kind, version: row.version, sizeBytes: row.size_bytes, migration: row.migration ?? '' };
  }

  /** Cost: no statement, and no file is read: a bucket does not say what it holds. */
  files(): FileStorageFacts {
    const address = readBlobAddress(this.#settings);
    if (address.kind === 's3') return { kind: 's3', freeBytes: null, diskBytes: null };
    const { bavail, blocks, bsize } = statfsSync(address.path);
    return { kind: 'folder', freeBytes: bavail * bsize, diskBytes: blocks * bsize };
  }
}
