import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Writable } from 'node:stream';

export interface TiedOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Standard input, output and error. */
  readonly stdio: readonly ['pipe', 'pipe' | 'ignore', 'pipe' | 'ignore'];
  /** Opens a message channel, as `fork` does. */
  readonly hasChannel?: boolean;
}

const shell = '/bin/sh';
const startFd = 3;
/** Waits until the watcher runs, then becomes the program. If the service ends before, nothing starts. */
const startScript = 'read -r word <&3 || exit 1\nunset PWD OLDPWD\nexec "$@" 3<&-';
/** A line of input says that the program ended. End of input without a line means that the service ended: the group is killed. */
const watchScript = 'read -r word || kill -KILL -"$1"';

/**
 * Starts a process that never outlives this one, even after SIGKILL. It is the only place where the service starts a process. The
 * process leads its own group, which a second process watches: the kernel closes the watcher's pipe when the service ends.
 *
 * @param command  the absolute path of a program; a missing one ends with exit code 127.
 *
 * Without /bin/sh nothing watches: the program must notice the end of the service itself. Cost: two more processes, 3 ms; the
 * watcher (1 MB) lives as long as the process.
 */
export function spawnTied(command: string, args: readonly string[], { stdio, hasChannel, ...rest }: TiedOptions): ChildProcess {
  const options: SpawnOptions = {
    ...rest,
    stdio: [...stdio, 'pipe', ...(hasChannel === true ? (['ipc'] as const) : [])],
    serialization: 'json',
    detached: true,
  };
  if (!hasShell()) return spawn(command, [...args], options);
  const child = spawn(shell, ['-c', startScript, 'sh', command, ...args], options);
  const start = child.stdio[startFd] as Writable | null | undefined;
  start?.on('error', () => undefined);
  if (child.pid !== undefined && isWatched(child, child.pid)) start?.end('start\n');
  else killTied(child);
  return child;
}

/** Kills the process and everything in its group. */
export function killTied({ pid }: Pick<ChildProcess, 'pid'>): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
}

/** Starts the watcher of a group. @returns false when it cannot start. */
function isWatched(child: ChildProcess, groupId: number): boolean {
  const watcher = spawnWatcher(watchScript, [String(groupId)]);
  child.once('exit', () => watcher.stdin?.end('ended\n'));
  return watcher.pid !== undefined;
}

/**
 * Starts a shell script in a process group of its own, so that signals for the service do not reach it. It does not keep the service running, and its
 * standard input ends with the service. Call it only where there is /bin/sh.
 */
export function spawnWatcher(script: string, args: readonly string[], errors: 'ignore' | 'inherit' = 'ignore'): ChildProcess {
  const watcher = spawn(shell, ['-c', script, 'sh', ...args], {
    env: {},
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', errors],
  });
  watcher.on('error', () => undefined);
  watcher.stdin?.on('error', () => undefined);
  watcher.unref();
  (watcher.stdin as (Writable & { unref?(): void }) | null)?.unref?.();
  return watcher;
}

/** Whether scripts can be run. */
export function hasShell(): boolean {
  return existsSync(shell);
}
