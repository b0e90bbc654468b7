import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { killTied, spawnTied } from '../../../src/engine/processes/tied-process.ts';
import { boxes } from '../../../src/engine/tools/code/box/box.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { type MachineProcess, processesBelow, stillRunning } from '../../support/processes/process-table.ts';
import { runAlone } from '../../support/runs/programs.ts';

/** TEST_BUBBLEWRAP names a bubblewrap in another place. */
const bubblewrapPath = process.env.TEST_BUBBLEWRAP ?? '/usr/bin/bwrap';
const limits = { timeoutMs: 30_000, memoryMaxBytes: 1024 * 1024 * 1024 };
const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

function start(program: string, ...args: string[]): number {
  const path = fileURLToPath(new URL(`../../support/${program}`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
  started.push(child);
  return child.pid ?? 0;
}

/** Waits until the processes below one have used this much processor time, so that their program is running. */
function underWay(id: number, cpuSeconds: number): Promise<readonly MachineProcess[]> {
  return eventually(() => {
    const below = processesBelow(id);
    expect(below.reduce((sum, one) => sum + one.cpuSeconds, 0)).toBeGreaterThan(cpuSeconds);
    return below;
  }, 110_000);
}

for (const [kind, box] of Object.entries(boxes(bubblewrapPath))) {
  const printed = await runAlone(box, 'print(6 * 7)', limits).then(
    ({ stdout }) => stdout,
    () => '',
  );
  describe.runIf(printed === '42\n')(`a program in a box of ${kind}`, () => {
    it('ends with the service that is killed, though it never would', async () => {
      const service = start('processes/abandoned-program.ts', kind, bubblewrapPath);
      const below = await underWay(service, 3);
      expect(below.length).toBeGreaterThanOrEqual(2);
      process.kill(service, 'SIGKILL');
      await eventually(() => expect(stillRunning(below)).toEqual([]), 10_000);
    });
  });
}

describe('a tied process', () => {
  const start = (...args: string[]) => spawnTied('/bin/sh', args, { env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'ignore'] });

  it('gets its input, and answers with its output and exit code', async () => {
    const child = start('-c', 'read line; echo "got $line"; exit 7');
    let printed = '';
    child.stdout?.on('data', (part) => (printed += String(part)));
    child.stdin?.end('words\n');
    expect(await once(child, 'close')).toEqual([7, null]);
    expect(printed).toBe('got words\n');
  });
  it('sees nothing of our environment, and holds no descriptor but its own three', async () => {
    const child = start('-c', 'for fd in 3 4 5 6 7 8; do [ -e /proc/self/fd/$fd ] && echo "fd $fd"; done; /usr/bin/env');
    let printed = '';
    child.stdout?.on('data', (part) => (printed += String(part)));
    await once(child, 'close');
    expect(printed.split('\n').filter((line) => !/^(?:PWD|_|SHLVL|OLDPWD)=/.test(line))).toEqual(['']);
  });
  it('leaves nothing behind when it ends, and when it is killed', async () => {
    const before = processesBelow(process.pid).map(({ id }) => id);
    const own = () => processesBelow(process.pid).filter(({ id }) => !before.includes(id));
    const child = start('-c', 'echo ready; /bin/sleep 600 & wait');
    await once(child.stdout ?? child, 'data');
    // The shell, what it started, and the watcher.
    await eventually(() => expect(own()).toHaveLength(3));
    killTied(child);
    await eventually(() => expect(own()).toEqual([]), 10_000);
    const brief = start('-c', 'echo ready; read line');
    await once(brief.stdout ?? brief, 'data');
    await eventually(() => expect(own()).toHaveLength(2));
    brief.stdin?.end('\n');
    await once(brief, 'close');
    await eventually(() => expect(own()).toEqual([]), 10_000);
  });
  it('that cannot be started ends with an exit code', async () => {
    const child = spawnTied('/no/such/program', [], { env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'ignore'] });
    expect(await once(child, 'close')).toEqual([127, null]);
  });
});

it('the service starts programs in one way only, and itself again in one folder', () => {
  const root = fileURLToPath(new URL('../../../src', import.meta.url));
  const starting = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => {
    if (!/\.[cm]?[jt]s$/.test(name)) return false;
    const text = readFileSync(join(root, name), 'utf8');
    return (
      /(?:import (?!type)[^;]*from|import|require|getBuiltinModule)\s*\(?\s*['"](?:node:)?child_process['"]/.test(text) ||
      (/['"](?:node:)?cluster['"]/.test(text) && /\bfork\b/.test(text))
    );
  });
  // The processes of one machine are this service's own code; test/cluster/processes.test.ts kills each and sees the others end.
  expect(starting.sort()).toEqual([
    'engine/processes/tied-process.ts',
    'start/processes/database.ts',
    'start/processes/supervisor.ts',
  ]);
});
