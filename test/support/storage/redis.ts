import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../processes/eventually.ts';
import { freePort } from '../processes/free-port.ts';
import { testServerUrl } from './databases.ts';

/** Whether the Debian package redis-server is installed. `.ci/run` installs it, so tests of Redis are never left out there. */
export const hasRedis = isThere('redis-server');

/** Tests of Redis need a database server, and redis-server; in CI both are there. */
export const canTestRedis = testServerUrl !== undefined && (hasRedis || process.env.CI === 'true');
export const whyNoRedis =
  testServerUrl === undefined
    ? 'Redis is tested with a database server only: set TEST_DATABASE_URL.'
    : 'Redis is not tested: install redis-server (Debian).';

/** A Redis of its own, a process on a free port that keeps nothing on disk. */
export interface TestRedis {
  readonly port: number;
  readonly url: string;
  /** It accepts connections and answers nothing, until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** Ends at once, and all that it had is gone. */
  kill(): Promise<void>;
  /** Again on the same port, empty. */
  restart(): Promise<void>;
  /** What redis-cli answers. */
  ask(...args: readonly string[]): string;
  close(): Promise<void>;
}

/** @param options  of redis-server, such as `['--requirepass', 'secret']`. */
export async function startRedis(options: readonly string[] = []): Promise<TestRedis> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'parley-redis-'));
  let server: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  async function start(): Promise<void> {
    const fixed = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
    const child = spawn('redis-server', [...fixed, ...options], { stdio: 'ignore' });
    server = child;
    ended = new Promise((resolve) => child.once('exit', resolve));
    await eventually(() => answers(port));
  }
  async function kill(): Promise<void> {
    server?.kill('SIGKILL');
    await ended;
  }
  await start();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    freeze: () => void server?.kill('SIGSTOP'),
    thaw: () => void server?.kill('SIGCONT'),
    kill,
    restart: start,
    ask: (...args) => execFileSync('redis-cli', ['-p', String(port), ...args], { encoding: 'utf8' }).trim(),
    async close() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function isThere(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function answers(port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
  });
}
