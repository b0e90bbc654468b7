// Raw SQL: only a write shows whether the disk has room.
import type { Pool } from 'pg';
import type { Settings } from '../../../settings.ts';
import { readBlobAddress } from '../../blobs/address.ts';
import type { EmbeddedServer } from '../embedded/embedded.ts';
import { measureFreeBytes } from './folders.ts';

/** Whether database and disk have room for writes. */
export interface Room {
  /** Notes that the database reported a full disk. */
  noteFull(): void;
  /**
   * What is full at this moment, in words for the operator; undefined when there is room everywhere. Reads the free space of the disk.
   *
   * @throws Error when the database does not answer.
   */
  shortage(): Promise<string | undefined>;
}

/** Takes some room of the database and gives it back: the rollback removes the files. */
const probe = `CREATE TEMPORARY TABLE parley_room ON COMMIT DROP AS
  SELECT string_agg(md5(n::text), '') AS filler FROM generate_series(1, 4096) AS n`;
const databaseDisk = 'the disk of the database';

/** @param pool  a function, because the pool is made later and reports to this object. */
export function createRoom(
  settings: Pick<Settings, 'DATA_DIR' | 'BLOB_URL' | 'DISK_FREE_MIN_BYTES'>,
  embeddedServer: Pick<EmbeddedServer, 'isFull'> | undefined,
  pool: () => Pool,
): Room {
  let wasFull = false;
  const blobs = readBlobAddress(settings);
  const isLow = (folder: string) => measureFreeBytes(folder) < settings.DISK_FREE_MIN_BYTES;
  return {
    noteFull() {
      wasFull = true;
    },
    async shortage() {
      if (isLow(settings.DATA_DIR)) return 'the disk of DATA_DIR';
      if (blobs.kind === 'folder' && isLow(blobs.path)) return 'the disk of BLOB_URL';
      if (embeddedServer !== undefined) return embeddedServer.isFull() ? databaseDisk : undefined;
      if (!wasFull) return undefined;
      // A server shows a full disk only by failing a write.
      wasFull = false;
      try {
        await pool().query(probe);
        return undefined;
      } catch (error) {
        // The failed probe has called `noteFull`, unless it failed for another reason.
        wasFull = true;
        if (error instanceof Error && 'code' in error && error.code === '53100') return databaseDisk;
        throw error;
      }
    },
  };
}
