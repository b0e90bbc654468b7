// Raw SQL: counts rows of tables that are named at run time.
import { resolve } from 'node:path';
import type { Settings } from '../../settings.ts';
import { openBlobs } from '../blobs/open.ts';
import { readMoveMark } from '../ground/embedded/data-folder.ts';
import { startEmbedded } from '../ground/embedded/embedded.ts';
import { openPool } from '../ground/opening/pool.ts';
import { serverProblem } from '../ground/opening/server-check.ts';
import { countFiles } from './files.ts';
import { targetProblem } from './move.ts';
import { MoveProgress } from './progress.ts';
import { readTables } from './tables.ts';

export interface MovePlan {
  readonly tables: readonly { readonly name: string; readonly rows: number; readonly sizeBytes: number }[];
  readonly sizeBytes: number;
  readonly files: number;
  /** Whether a move of this folder has begun. */
  readonly hasMark: boolean;
  /** Why the target cannot be filled. */
  readonly targetProblem: string | undefined;
}

/** What a move would copy. Changes neither the folder nor the target. @throws StartRefusal when the folder cannot be opened. */
export async function checkMove(settings: Settings, to: string): Promise<MovePlan> {
  const dataDir = resolve(settings.DATA_DIR);
  const target = openPool({ connectionString: to, max: 2 }, { onLost: () => undefined });
  try {
    const problem = await serverProblem(target);
    const server = await startEmbedded(dataDir, settings, failCheck, { isMoving: true, isCheck: true });
    const source = openPool({ ...server.connection, max: 1 }, { onLost: () => undefined });
    try {
      const mark = readMoveMark(dataDir);
      const tables = [];
      for (const { name, parts } of await readTables(source)) {
        const { rows } = await source.query<{ rows: number }>(`SELECT count(*)::float8 AS rows FROM ${name}`);
        tables.push({ name, rows: rows[0]?.rows ?? 0, sizeBytes: parts.reduce((sum, part) => sum + part.sizeBytes, 0) });
      }
      const blobs = await openBlobs(settings, () => undefined);
      const files = await countFiles(blobs).finally(() => blobs.close());
      return {
        tables,
        files,
        sizeBytes: tables.reduce((sum, table) => sum + table.sizeBytes, 0),
        hasMark: mark !== undefined,
        targetProblem: problem ?? (await targetProblem(target, await new MoveProgress(target).moveId(), mark?.moveId)),
      };
    } finally {
      await source.end();
      await server.close();
    }
  } finally {
    await target.end();
  }
}

function failCheck(error: Error): never {
  throw error;
}
