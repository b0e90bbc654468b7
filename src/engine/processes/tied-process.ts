import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

export interface TiedOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Standard input, output and error. */
  readonly stdio: readonly ['pipe', 'pipe' | 'ignore', 'ignore'];
  /** Opens a channel for messages, as `fork` does. */
  readonly hasChannel?: boolean;
}

const shell = '/bin/sh';
const lifelineFd = 3;
/**
 * Runs the command in the process of the shell itself. Beside it a second process waits on the lifeline, a pipe whose other end the service
 * alone holds: the kernel closes it when the service ends, in whatever way, and then the whole process group is killed.
 */
const script = [
  'exec 5<&0',
  '( ( read -r _ <&3; kill -KILL 0 ) </dev/null >/dev/null 2>&1 4>&- 5<&- & )',
  'unset PWD OLDPWD',
  'exec "$@" <&5 5<&- 3<&-',
].join('\n');

/**
 * Starts a process that does not outlive this one, also when this one is killed with SIGKILL and whatever the started program does. It is
 * the only way in which the service starts a process. The process leads a group of its own: `killTied` kills the group.
 *
 * @param command  the absolute path of a program. One that is missing ends with exit code 127.
 *
 * Where there is no /bin/sh, nothing stands beside the process: the program must watch for the end of the service itself.
 * Cost: 2 ms and one waiting shell of 1 MB beside the process.
 */
export function spawnTied(command: string, args: readonly string[], { stdio, hasChannel, ...rest }: TiedOptions): ChildProcess {
  const options: SpawnOptions = {
    ...rest,
    stdio: [...stdio, 'pipe', ...(hasChannel === true ? (['ipc'] as const) : [])],
    serialization: 'json',
    detached: true,
  };
  const child = existsSync(shell)
    ? spawn(shell, ['-c', script, 'sh', command, ...args], options)
    : spawn(command, [...args], options);
  const lifeline = child.stdio[lifelineFd];
  lifeline?.on('error', () => undefined);
  // The lifeline is no reason for the service to go on.
  if (lifeline !== null && lifeline !== undefined && 'unref' in lifeline && typeof lifeline.unref === 'function')
    lifeline.unref();
  const close = () => lifeline?.destroy();
  child.once('exit', close).once('error', close);
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
