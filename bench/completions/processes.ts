import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

export interface Child<Ready> {
  readonly ready: Ready;
  /** Asks the process something it answers with one message. */
  ask<Answer>(question: string): Promise<Answer>;
  stop(): Promise<void>;
}

/** The service and the baseline share one core; the load client and the mock upstream the other. */
export const cores = { service: 0, load: 1 };

/** Keeps a process on one core, where there are two and the system can. */
export function pin(pid: number, core: number): boolean {
  if (availableParallelism() < 2) return false;
  try {
    execFileSync('taskset', ['-a', '-cp', String(core), String(pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export async function start<Ready>(
  script: string,
  args: readonly string[],
  core: number,
  execArgv: readonly string[] = [],
): Promise<Child<Ready>> {
  const child = fork(join(import.meta.dirname, script), [...args], {
    execArgv: [...execArgv],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  if (child.pid !== undefined) pin(child.pid, core);
  const died = once(child, 'exit').then(([code]) => {
    throw new Error(`${script} ended with ${code}`);
  });
  const [ready] = (await Promise.race([once(child, 'message'), died])) as [Ready];
  died.catch(() => undefined);
  // Threads that came since then (the database's) belong to the same core.
  if (child.pid !== undefined) pin(child.pid, core);
  return {
    ready,
    async ask(question) {
      const answer = once(child, 'message');
      child.send(question);
      return (await answer)[0];
    },
    async stop() {
      const exit = once(child, 'exit');
      child.send('stop');
      const timer = setTimeout(() => child.kill(), 3_000);
      if (script !== 'service.ts') child.kill();
      await exit;
      clearTimeout(timer);
    },
  };
}
