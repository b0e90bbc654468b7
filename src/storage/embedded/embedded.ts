import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { PoolConfig } from 'pg';
import { lockFolder } from './lock.ts';
import type { WorkerMessage, WorkerOptions } from './worker.ts';

export interface EmbeddedServer {
  readonly connection: PoolConfig;
  close(): Promise<void>;
}

const socketFolderPrefix = 'parley-socket-';
const transactionIdleMsMax = 15_000;

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
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: options });
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
