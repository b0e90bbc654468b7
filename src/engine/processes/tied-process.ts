import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Writable } from 'node:stream';

export interface TiedOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Standard input, output and error. */
  readonly stdio: readonly ['pipe', 'pipe' | 'ignore', 'ignore'];
  /** Opens a channel for messages, as `fork` does. */
  readonly hasChannel?: boolean;
}

const shell = '/bin/sh';
const startFd = 3;
/** Waits for the word that the watcher is there, and becomes the program. The service that ends before says nothing, and nothing starts. */
const startScript = 'read -r word <&3 || exit 1\nunset PWD OLDPWD\nexec "$@" 3<&-';
/** A line says that the program ended. Its input ends without one when the service ends, in whatever way: the group is killed. */
const watchScript = 'read -r word || kill -KILL -"$1"';

/**
 * Starts a process that does not outlive this one, also when this one is killed with SIGKILL and whatever the started program does. It is
 * the only way in which the service starts a process. The process leads a group of its own, which a second process watches: the kernel closes
 * the pipe that the watcher reads when the service ends.
 *
 * @param command  the absolute path of a program. One that is missing ends with exit code 127.
 *
 * Where there is no /bin/sh, nothing watches: the program must watch for the end of the service itself.
 * Cost: two processes more to start, 3 ms; the watcher of 1 MB stays as long as the process.
 */
export function spawnTied(command: string, args: readonly string[], { stdio, hasChannel, ...rest }: TiedOptions): ChildProcess {
  const options: SpawnOptions = {
    ...rest,
    stdio: [...stdio, 'pipe', ...(hasChannel === true ? (['ipc'] as const) : [])],
    serialization: 'json',
    detached: true,
  };
  if (!existsSync(shell)) return spawn(command, [...args], options);
  const child = spawn(shell, ['-c', startScript, 'sh', command, ...args], options);
  const start = child.stdio[startFd] as Writable | null | undefined;
  start?.on('error', () => undefined);
  if (child.pid !== undefined && isWatched(child, child.pid)) start?.end('start\n');
  else killTied(child);
  return child;
}

/** Kills the process and all that it started in its group. */
export function killTied({ pid }: Pick<ChildProcess, 'pid'>): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}

/** Starts the watcher of a group, in a group of its own so that no signal for the service ends it. @returns false when it cannot be started. */
function isWatched(child: ChildProcess, groupId: number): boolean {
  const watcher = spawn(shell, ['-c', watchScript, 'sh', String(groupId)], {
    env: {},
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.on('error', () => undefined);
  watcher.stdin.on('error', () => undefined);
  // A process that nobody waits for is no reason for the service to go on.
  watcher.unref();
  (watcher.stdin as Writable & { unref?(): void }).unref?.();
  child.once('exit', () => watcher.stdin.end('ended\n'));
  return watcher.pid !== undefined;
}
