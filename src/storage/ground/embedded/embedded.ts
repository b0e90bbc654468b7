import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { PoolConfig } from 'pg';
import type { Settings } from '../../../settings.ts';
import { measureFreeBytes, prepareFolder } from '../opening/folders.ts';
import type { OtherCallers } from '../opening/shared-pool.ts';
import { StartRefusal } from '../opening/start-refusal.ts';
import type { SiblingLink } from '../signals/siblings.ts';
import { checkDataFolder } from './data-folder.ts';
import { lockFolder } from './lock.ts';
import { copyBeforeUpgrade, type UpgradeCopy } from './upgrade-copy.ts';
import type { WorkerMessage, WorkerOptions } from './worker.ts';

/** Space that the embedded database reserves, so that it can finish its work when the disk is full. */
const reserveBytes = 32 * 1024 * 1024;

export interface EmbeddedSiblings {
  readonly link: SiblingLink;
  /** Whether callers ask at others, so that jobs here let them go first. */
  readonly callers: OtherCallers;
}

export interface EmbeddedServer {
  /** What was kept before this start changes the schema. */
  readonly upgradeCopy: UpgradeCopy | undefined;
  readonly connection: PoolConfig;
  /** The processes that have this database together with this one; undefined when it is the only one. */
  readonly siblings?: EmbeddedSiblings | undefined;
  /** Whether it refuses writes, because its disk has no room. */
  isFull(): boolean;
  close(): Promise<void>;
}

const socketFolderPrefix = 'parley-socket-';
const transactionIdleMsMax = 15_000;
const roomToOpenBytes = 20 * 1024 * 1024;
const roomToMakeBytes = 48 * 1024 * 1024;

export type EmbeddedSettings = Pick<Settings, 'DISK_FREE_MIN_BYTES'>;

export interface EmbeddedOptions {
  /** Opens also a folder that is marked as moved. */
  readonly isMoving?: boolean;
  /** The schema stays as it is. */
  readonly isCheck?: boolean;
  /** Several processes will use it: its triggers tell them of changes. */
  readonly isShared?: boolean;
}

/**
 * Starts the embedded PostgreSQL of the settings. It needs little of Parley and works in a thread of its own, so whoever starts it first
 * has it by the time that the rest of Parley is loaded.
 *
 * @param onCrash  called when it dies by itself: nothing can be stored any more.
 * @returns undefined where the settings name a server. Rejects, also unheard, as `startEmbedded` does.
 */
export function startConfiguredEmbedded(
  settings: Settings,
  onCrash: (error: Error) => void,
  options: EmbeddedOptions = {},
): Promise<EmbeddedServer> | undefined {
  if (settings.DATABASE_URL !== undefined) return undefined;
  const starting = startEmbedded(resolve(settings.DATA_DIR), settings, onCrash, options);
  // Whoever opens the database hears of it.
  starting.catch(() => undefined);
  return starting;
}

/**
 * Starts the embedded PostgreSQL of a data folder in a thread of its own, behind a private unix socket.
 *
 * @param onCrash  called when the thread dies by itself: nothing can be stored any more.
 * @throws StartRefusal when the folder cannot be used, has lost files of its database, or another process has it.
 */
export async function startEmbedded(
  dataDir: string,
  { DISK_FREE_MIN_BYTES }: EmbeddedSettings,
  onCrash: (error: Error) => void,
  { isMoving = false, isCheck = false, isShared = false }: EmbeddedOptions = {},
): Promise<EmbeddedServer> {
  prepareFolder(dataDir, 'DATA_DIR');
  const unlock = lockFolder(dataDir);
  let upgradeCopy: UpgradeCopy | undefined;
  try {
    checkDataFolder(dataDir, isMoving);
    checkRoom(dataDir);
    if (!isCheck) upgradeCopy = await copyBeforeUpgrade(dataDir, DISK_FREE_MIN_BYTES);
  } catch (error) {
    unlock();
    throw error;
  }
  // In the system's temporary folder, because the path of a socket may have about 100 bytes only. mkdtemp makes it ours alone (0700).
  const socketFolder = mkdtempSync(join(tmpdir(), socketFolderPrefix));
  replaceNote(join(dataDir, 'parley.socket'), socketFolder);
  const release = () => {
    rmSync(socketFolder, { recursive: true, force: true });
    unlock();
  };
  const options: WorkerOptions = {
    databaseFolder: join(dataDir, 'database'),
    isShared,
    socketPath: join(socketFolder, '.s.PGSQL.5432'),
    transactionIdleMsMax,
    reservePath: toBallastPath(dataDir),
    freeMinBytes: DISK_FREE_MIN_BYTES,
    reserveBytes,
  };
  const worker = new Worker(new URL('./thread.js', import.meta.url), { workerData: options });
  let isClosing = false;
  let isFull = false;
  let isGone = false;
  worker.on('message', (message: WorkerMessage) => {
    if (message === 'full' || message === 'roomy') isFull = message === 'full';
  });
  worker.on('exit', () => {
    isGone = true;
  });
  try {
    await nextMessage(worker, 'ready');
  } catch (error) {
    await worker.terminate();
    release();
    throw error;
  }
  const crash = (error: Error) => {
    if (!isClosing) onCrash(error);
    isClosing = true;
  };
  worker.on('error', (error) => crash(error instanceof Error ? error : new Error(String(error))));
  worker.on('exit', (code) => crash(new Error(`the embedded database ended with code ${code}`)));
  return {
    upgradeCopy,
    connection: { host: socketFolder, port: 5432, user: 'postgres', database: 'postgres' },
    isFull: () => isFull,
    async close() {
      isClosing = true;
      if (isGone) return release();
      const closing = nextMessage(worker, 'closed');
      worker.postMessage('close');
      // A thread that died cannot say goodbye; its folder is released all the same.
      await closing.catch(() => {});
      await worker.terminate();
      release();
    },
  };
}

/** PostgreSQL writes a little at each start, and a whole database at the first. @throws StartRefusal */
function checkRoom(dataDir: string): void {
  const neededBytes = existsSync(join(dataDir, 'database')) ? roomToOpenBytes : roomToMakeBytes;
  const freeBytes = measureFreeBytes(dataDir) + (statSync(toBallastPath(dataDir), { throwIfNoEntry: false })?.size ?? 0);
  if (freeBytes >= neededBytes) return;
  throw new StartRefusal(
    `The disk of the data folder ${dataDir} has ${freeBytes} bytes left, and a start needs ${neededBytes}. Make room, or name another folder with DATA_DIR.`,
  );
}

function toBallastPath(dataDir: string): string {
  return join(dataDir, 'parley.reserve');
}

/** Notes where the socket is, and clears away that of a process that was killed: the folder's lock is ours, so nobody uses it. */
function replaceNote(notePath: string, socketFolder: string): void {
  try {
    const previousNote = readFileSync(notePath, 'utf8');
    if (previousNote.startsWith(join(tmpdir(), socketFolderPrefix))) rmSync(previousNote, { recursive: true, force: true });
  } catch {
    // No note: a first start.
  }
  try {
    writeFileSync(notePath, socketFolder);
  } catch {
    // A full disk: after a kill, an empty folder of ours stays among the temporary files.
  }
}

function nextMessage(worker: Worker, kind: WorkerMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the embedded database ended with code ${code}`)));
    worker.on('message', (message: WorkerMessage) => {
      if (message === kind) resolve();
    });
  });
}
