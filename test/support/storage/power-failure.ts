import { closeSync, cpSync, existsSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const pageBytes = 4_096;

/** A copy of a database folder as it would be after a power failure: it follows what a process flushes to the disk. */
export interface SyncedCopy {
  /** Environment variables for the process. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Replaces the folder by the copy, once the process has ended.
   *
   * @param takes  decides for each written page that was not flushed whether it is on the disk: disks write in any order.
   */
  fail(takes: () => boolean): void;
}

/** @param flushedFolder  what of it is on the disk now. */
export function followSynced(databaseFolder: string, flushedFolder: string): SyncedCopy {
  const copy = `${databaseFolder}.synced`;
  rmSync(copy, { recursive: true, force: true });
  cpSync(flushedFolder, copy, { recursive: true });
  return {
    env: {
      NODE_OPTIONS: `--import=${fileURLToPath(new URL('./synced-copy.mjs', import.meta.url))}`,
      SYNCED_FROM: databaseFolder,
      SYNCED_TO: copy,
    },
    fail(takes) {
      for (const path of readdirSync(copy, { recursive: true, encoding: 'utf8' })) {
        const [kept, written] = [join(copy, path), join(databaseFolder, path)];
        if (existsSync(written) && statSync(kept).isFile()) mixPages(kept, written, takes);
      }
      rmSync(databaseFolder, { recursive: true });
      cpSync(copy, databaseFolder, { recursive: true });
      rmSync(copy, { recursive: true });
    },
  };
}

function mixPages(kept: string, written: string, takes: () => boolean): void {
  const [before, after] = [readFileSync(kept), readFileSync(written)];
  const file = openSync(kept, 'r+');
  for (let offset = 0; offset < after.length; offset += pageBytes) {
    const page = after.subarray(offset, offset + pageBytes);
    if (!page.equals(before.subarray(offset, offset + pageBytes)) && takes()) writeSync(file, page, 0, page.length, offset);
  }
  closeSync(file);
}
