import { resolve } from 'node:path';
import type { Settings } from '../../settings.ts';
import { readMoveMark, setMoveMark } from '../ground/embedded/data-folder.ts';
import { lockFolder } from '../ground/embedded/lock.ts';

/**
 * Takes the mark of a move away.
 *
 * @returns where the data was moved to; undefined when the folder has no mark.
 * @throws FolderInUseError while a move goes on.
 */
export async function undoMove({ DATA_DIR }: Pick<Settings, 'DATA_DIR'>): Promise<string | undefined> {
  const dataDir = resolve(DATA_DIR);
  const unlock = lockFolder(dataDir);
  try {
    const mark = readMoveMark(dataDir);
    if (mark !== undefined) setMoveMark(dataDir, undefined);
    return mark?.to;
  } finally {
    unlock();
  }
}
