// Raw SQL: only a write shows whether there is room.
import type { Pool } from 'pg';
import type { Settings } from '../../settings.ts';
import { blobFolderOf } from '../blobs/disk.ts';
import type { EmbeddedServer } from './embedded/embedded.ts';
import { freeBytesOf } from './folders.ts';

/** Whether there is room to store things. */
export interface Room {
  /** The database said that it has none. */
  noteFull(): void;
  /**
   * What is full at this moment, in words for the operator; undefined when there is room everywhere. Costs a look at the disk.
   *
   * @throws Error when the database does not answer.
   */
  shortage(): Promise<string | undefined>;
}

/** Takes some room of the database and gives it back: what is rolled back leaves no files. */
const probe = `CREATE TEMPORARY TABLE parley_room ON COMMIT DROP AS
  SELECT string_agg(md5(n::text), '') AS filler FROM generate_series(1, 4096) AS n`;
const databaseDisk = 'the disk of the database';

/** @param pool  a function, because the pool reports to what is made here. */
export function createRoom(
  settings: Pick<Settings, 'DATA_DIR' | 'BLOB_URL' | 'DISK_FREE_MIN_BYTES'>,
  embedded: Pick<EmbeddedServer, 'isFull'> | undefined,
  pool: () => Pool,
): Room {
  let wasFull = false;
  const isLow = (folder: string) => freeBytesOf(folder) < settings.DISK_FREE_MIN_BYTES;
  return {
    noteFull() {
      wasFull = true;
    },
    async shortage() {
      if (isLow(settings.DATA_DIR)) return 'the disk of DATA_DIR';
      if (isLow(blobFolderOf(settings))) return 'the disk of BLOB_URL';
      if (embedded !== undefined) return embedded.isFull() ? databaseDisk : undefined;
      if (!wasFull) return undefined;
      // A server tells of its disk only by failing.
      wasFull = false;
      try {
        await pool().query(probe);
        return undefined;
      } catch (error) {
        // The failure has called `noteFull` again, unless it is another one.
        wasFull = true;
        if (error instanceof Error && 'code' in error && error.code === '53100') return databaseDisk;
        throw error;
      }
    },
  };
}
