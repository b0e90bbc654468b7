import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { PoolConfig } from 'pg';
import type { Settings } from '../../settings.ts';
import { lockFolder } from './lock.ts';
import type { WorkerMessage, WorkerOptions } from './worker.ts';

export interface EmbeddedServer {
  readonly connection: PoolConfig;
  close(): Promise<void>;
}

const socketFolderPrefix = 'parley-socket-';
const transactionIdleMsMax = 15_000;

/**
 * Starts the embedded PostgreSQL of the settings. It needs little of Parley and works in a thread of its own, so whoever starts it first
 * has it by the time that the rest of Parley is loaded.
 *
 * @param onCrash  called when it dies by itself: nothing can be stored any more.
 * @returns undefined where the settings name a server. Rejects, also unheard, with FolderInUseError when another process has the folder.
 */
export function startEmbeddedOf(
  { DATABASE_URL, DATA_DIR }: Settings,
  onCrash: (error: Error) => void,
): Promise<EmbeddedServer> | undefined {
  if (DATABASE_URL !== undefined) return undefined;
  mkdirSync(DATA_DIR, { recursive: true, mode: 0o700 });
  const starting = startEmbedded(resolve(DATA_DIR), onCrash);
  // Whoever opens the database hears of it.
  starting.catch(() => undefined);
  return starting;
}

/**
 * Starts the embedded PostgreSQL of a data folder in a thread of its own, behind a private unix socket.
 *
 * @param onCrash  called when the thread dies by itself: nothing can be stored any more.
 * @throws FolderInUseError when another process has the folder.
 */
export async function startEmbedded(dataDir: string, onCrash: (error: Error) => void): Promise<EmbeddedServer> {
  const unlock = lockFolder(dataDir);
  // In the system's temporary folder, because the path of a socket may have about 100 bytes only. mkdtemp makes it ours alone (0700).
  const socketFolder = mkdtempSync(join(tmpdir(), socketFolderPrefix));
  replaceNote(join(dataDir, 'parley.socket'), socketFolder);
  const release = () => {
    rmSync(socketFolder, { recursive: true, force: true });
    unlock();
  };
  const options: WorkerOptions = {
    databaseFolder: join(dataDir, 'database'),
    socketPath: join(socketFolder, '.s.PGSQL.5432'),
    transactionIdleMsMax,
  };
  const worker = new Worker(new URL('./thread.js', import.meta.url), { workerData: options });
  try {
    await nextMessage(worker, 'ready');
  } catch (error) {
    await worker.terminate();
    release();
    throw error;
  }
  let isClosing = false;
  worker.on('error', (error) => {
    if (!isClosing) onCrash(error instanceof Error ? error : new Error(String(error)));
  });
  return {
    connection: { host: socketFolder, port: 5432, user: 'postgres', database: 'postgres' },
    async close() {
      isClosing = true;
      const closed = nextMessage(worker, 'closed');
      worker.postMessage('close');
      // A thread that died cannot say goodbye; its folder is released all the same.
      await closed.catch(() => {});
      await worker.terminate();
      release();
    },
  };
}

/** Notes where the socket is, and clears away that of a process that was killed: the folder's lock is ours, so nobody uses it. */
function replaceNote(notePath: string, socketFolder: string): void {
  try {
    const left = readFileSync(notePath, 'utf8');
    if (left.startsWith(join(tmpdir(), socketFolderPrefix))) rmSync(left, { recursive: true, force: true });
  } catch {
    // No note: a first start.
  }
  writeFileSync(notePath, socketFolder);
}

function nextMessage(worker: Worker, expected: WorkerMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the embedded database ended with code ${code}`)));
    worker.on('message', (message: WorkerMessage) => {
      if (message === expected) resolve();
    });
  });
}
