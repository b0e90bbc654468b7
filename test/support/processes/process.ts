import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { splitLimits } from '../settings.ts';
import { eventually } from './eventually.ts';

/** `node src/main.js` as a process of its own, for what only a process can show: kill -9, SIGTERM, first start, the lock. */
export interface ParleyProcess {
  readonly pid: number;
  /** All it wrote so far, both outputs. */
  output(): string;
  /** Where it listens, once it said so. @throws Error with its output when it ends or a minute passes before. */
  url(): Promise<string>;
  /** @returns the exit code; null after a kill. */
  ended(): Promise<number | null>;
  kill(signal: NodeJS.Signals): Promise<number | null>;
  /** Sends a signal that does not end it: SIGSTOP, SIGCONT. */
  signal(signal: NodeJS.Signals): void;
}

const mainPath = fileURLToPath(new URL('../../../src/main.js', import.meta.url));
const limitedPath = fileURLToPath(new URL('./limited-parley.js', import.meta.url));
/** No process of a test lives long enough to win back what optimizing the code of the database costs it: a second at its start. */
const briefly = ['--liftoff-only'];
/** As `npm start`. */
const memory = ['--max-semi-space-size=32', '--max-old-space-size=2000'];
const running = new Set<ChildProcess>();

/**
 * Starts Parley with these settings and limits (`src/limits.ts`), and nothing else of this environment but the folder for
 * temporary files.
 *
 * @param main  the program, where it is not the one of this repository.
 */
export function startProcess(values: Readonly<Record<string, string>>, cwd?: string, main = mainPath): ParleyProcess {
  const { env, limits } = splitLimits(values);
  const program = Object.keys(limits).length === 0 ? [main] : [limitedPath, JSON.stringify(limits)];
  return watched(
    spawn(process.execPath, [...briefly, ...memory, ...program], {
      env: { PATH: process.env.PATH ?? '', TMPDIR: tmpdir(), ...always, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(cwd === undefined ? {} : { cwd }),
    }),
  );
}

/**
 * `npm start`, in a process group of its own; signals go to npm's process only.
 *
 * @param path  where `npm`, and the Node that it runs on, are looked for.
 */
export function startNpm(env: Readonly<Record<string, string>>, path: string): ParleyProcess {
  return watched(
    spawn('npm', ['start'], {
      env: { HOME: process.env.HOME ?? '', PATH: path, TMPDIR: tmpdir(), ...always, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
      detached: true,
    }),
  );
}

const always = { PORT: '0', LOG_FORMAT: 'json', DEMO: 'off' };

function watched(child: ChildProcessByStdio<null, Readable, Readable>): ParleyProcess {
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const ended = once(child, 'close').then(() => {
    running.delete(child);
    return child.exitCode;
  });
  return {
    pid: child.pid ?? 0,
    output: () => output,
    url: () =>
      eventually(() => {
        const address = /listens on (http:\S+)/.exec(output)?.[1];
        if (address !== undefined) return address;
        if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}:\n${output}`, { cause: 'final' });
        throw new Error(`does not listen yet:\n${output}`);
      }, 60_000),
    ended: () => ended,
    kill(signal) {
      child.kill(signal);
      return ended;
    },
    signal(signal) {
      child.kill(signal);
    },
  };
}

/** Ends what a failed test left behind; call it in `afterEach`. */
export async function killProcesses(): Promise<void> {
  const left = [...running];
  for (const child of left) child.kill('SIGKILL');
  await Promise.all(left.map((child) => child.exitCode ?? once(child, 'close')));
}
