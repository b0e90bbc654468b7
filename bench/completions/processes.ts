import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { environmentOfStart, flagsOfStart } from '../support/start-flags.ts';

export interface Child<Ready> {
  readonly ready: Ready;
  /** Sends the process a question; it answers with one message. */
  ask<Answer>(question: string): Promise<Answer>;
  stop(): Promise<void>;
}

/** The interval at which `untilIdle` measures. */
const turnMs = 500;
const turnsMax = 60;
const quietTurnsMin = 4;
const idleShare = 0.05;

/** The service and the baseline share one core; the load client and the mock upstream the other. */
export const cores = { service: 0, load: 1 };

/** Pins a process to one core, if there are two and the system supports it. */
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
    env: { ...process.env, ...(script === 'service.ts' ? environmentOfStart : {}) },
    execArgv: [...(script === 'service.ts' ? flagsOfStart : []), ...execArgv],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  if (child.pid !== undefined) pin(child.pid, core);
  const died = once(child, 'exit').then(([code]) => {
    throw new Error(`${script} ended with ${code}`);
  });
  const [ready] = (await Promise.race([once(child, 'message'), died])) as [Ready];
  died.catch(() => undefined);
  // Threads that were started since then (the database's) go to the same core.
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

/**
 * Waits until a service uses no processor time by itself: in the seconds after its start, V8 compiles the busiest code of the embedded database,
 * which takes two seconds of a core and 600 MB.
 */
export async function untilIdle(service: Child<unknown>): Promise<void> {
  const spentMicros = async () => (await service.ask<{ cpuMicros: number }>('cpu')).cpuMicros;
  let quietTurns = 0;
  for (let turn = 0; turn < turnsMax && quietTurns < quietTurnsMin; turn += 1) {
    const before = await spentMicros();
    await wait(turnMs);
    quietTurns = (await spentMicros()) - before < idleShare * turnMs * 1000 ? quietTurns + 1 : 0;
  }
}
