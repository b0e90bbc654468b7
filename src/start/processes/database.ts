import { type ChildProcess, fork } from 'node:child_process';
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import type { Settings } from '../../settings.ts';
import { type EmbeddedServer, startConfiguredEmbedded, startEmbedded } from '../../storage/ground/embedded/embedded.ts';
import { logUpgradeCopy } from '../upgrade-log.ts';
import type { Siblings } from './siblings.ts';

/** The argument of the process that has the embedded database and nothing else. */
export const databaseArgument = '--owns-database';

/** What that process says. `full` and `roomy`: whether it refuses writes. */
type DatabaseMessage = { readonly socketFolder: string } | 'full' | 'roomy';

const fullEveryMs = 1_000;

/**
 * The embedded database of this process, for the processes that serve. It ends when the supervisor asks, or has ended; not by signals, because the others
 * have to end first.
 */
export async function ownDatabase(settings: Settings, logger: Logger, onCrash: (error: Error) => void): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
  // As a kill: nothing that was acknowledged is lost, and the next start may have the folder at once.
  process.once('disconnect', () => process.exit(1));
  const server = await startEmbedded(resolve(settings.DATA_DIR), settings, onCrash, { isShared: true });
  if (server.upgradeCopy !== undefined) logUpgradeCopy(logger, server.upgradeCopy);
  const say = (message: DatabaseMessage) => process.send?.(message);
  let wasFull = false;
  const looking = setInterval(() => {
    if (server.isFull() === wasFull) return;
    wasFull = server.isFull();
    say(wasFull ? 'full' : 'roomy');
  }, fullEveryMs);
  process.once('message', async () => {
    clearInterval(looking);
    await server.close();
    process.exit(0);
  });
  say({ socketFolder: String(server.connection.host) });
}

/** The process that has the database, seen from the supervisor. */
export interface DatabaseProcess {
  readonly pid: number | undefined;
  readonly socketFolder: string;
  /** Resolves when it has ended, for whatever reason. */
  readonly end: Promise<void>;
  close(): Promise<void>;
}

/** @returns undefined when it ended before it was ready; it has said why. */
export async function startDatabaseProcess(onFull: (isFull: boolean) => void): Promise<DatabaseProcess | undefined> {
  const [, program = ''] = process.argv;
  const child: ChildProcess = fork(program, [...process.argv.slice(2), databaseArgument]);
  child.on('error', () => undefined);
  const end = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const ready = new Promise<string>((resolve) =>
    child.on('message', (message: DatabaseMessage) => {
      if (typeof message === 'string') onFull(message === 'full');
      else resolve(message.socketFolder);
    }),
  );
  const socketFolder = await Promise.race([ready, end]);
  if (socketFolder === undefined) return undefined;
  return {
    pid: child.pid,
    socketFolder,
    end,
    close() {
      child.send('close', () => undefined);
      return end;
    },
  };
}

/** The embedded database for a process that serves: its own, or that of the process which has it for all. */
export function connectEmbedded(
  settings: Settings,
  siblings: Siblings | undefined,
  onCrash: (error: Error) => void,
): Promise<EmbeddedServer> | undefined {
  if (siblings?.socketFolder === undefined) return startConfiguredEmbedded(settings, onCrash);
  return Promise.resolve({
    upgradeCopy: undefined,
    connection: { host: siblings.socketFolder, port: 5432, user: 'postgres', database: 'postgres' },
    siblings: {
      link: siblings.link,
      callers: { areAsking: () => siblings.areCallersElsewhere(), note: () => siblings.noteCaller() },
    },
    isFull: () => siblings.isFull,
    // It goes on for the others.
    close: () => Promise.resolve(),
  });
}
