import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import packageJson from '../../package.json' with { type: 'json' };

export interface Child<Ready> {
  readonly ready: Ready;
  /** Asks the process something it answers with one message. */
  ask<Answer>(question: string): Promise<Answer>;
  stop(): Promise<void>;
}

/** For `untilIdle`. */
const turnMs = 500;
const turnsMax = 60;
const quietTurnsMin = 4;
const idleShare = 0.05;

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

/** What `npm start` gives the service's process. */
const flagsOfStart = packageJson.scripts.start.match(/--\S+/g) ?? [];

export async function start<Ready>(
  script: string,
  args: readonly string[],
  core: number,
  execArgv: readonly string[] = [],
): Promise<Child<Ready>> {
  const child = fork(join(import.meta.dirname, script), [...args], {
    execArgv: [...(script === 'service.ts' ? flagsOfStart : []), ...execArgv],
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

/**
 * Waits until a service does nothing by itself any more: in the seconds after its start, the busiest code of the embedded database is compiled,
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
