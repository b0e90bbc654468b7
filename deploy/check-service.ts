import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

/** A service that listens, and its first key. */
export interface Listening {
  readonly url: string;
  readonly key: string;
}

/**
 * Starts a service that was put together, with its data in a new folder, asks for its health, its pages and an answer, and ends it.
 *
 * @param more  what else is tried while it runs.
 * @throws Error when something is not answered well, or when it does not end well.
 */
export async function checkService(
  command: string,
  words: readonly string[],
  cwd: string,
  dataDir: string,
  more: (listening: Listening) => Promise<void> = async () => undefined,
): Promise<void> {
  const env = { PATH: process.env.PATH ?? '', NODE_ENV: 'production', PORT: '0', DATA_DIR: dataDir, LOG_FORMAT: 'json' };
  const child = spawn(command, words, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const listening = await listens(child);
    await ask(listening);
    await more(listening);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    if ((await ended) !== 0) throw new Error('it does not end well');
  } finally {
    child.kill('SIGKILL');
  }
}

export interface StartFigures {
  /** From the command to the first 200 of /readyz. */
  readonly readyMs: number;
  /** Of all its processes when nobody has asked it for a while; pages that they share count once. Undefined where the system does not say. */
  readonly idleMb: number | undefined;
}

/** Starts a service, waits until it is ready and then quiet, and ends it. @throws Error when it does not get ready, or does not end well. */
export async function measureStart(
  command: string,
  words: readonly string[],
  cwd: string,
  dataDir: string,
  quietMs: number,
): Promise<StartFigures> {
  const env = { PATH: process.env.PATH ?? '', NODE_ENV: 'production', PORT: '0', DATA_DIR: dataDir, LOG_FORMAT: 'json' };
  const beganMs = performance.now();
  const child = spawn(command, words, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const url = await printedUrl(child);
    while ((await fetch(`${url}/readyz`)).status !== 200) await wait(20);
    const readyMs = performance.now() - beganMs;
    await wait(quietMs);
    const idleMb = measureMemory(child.pid ?? 0);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    if ((await ended) !== 0) throw new Error('it does not end well');
    return { readyMs, idleMb };
  } finally {
    child.kill('SIGKILL');
  }
}

function printedUrl(child: ChildProcessByStdio<null, Readable, null>): Promise<string> {
  let output = '';
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
      const url = /listens on (http:\S+)/.exec(output)?.[1]?.replace(/\/$/, '');
      if (url !== undefined) resolve(url);
    });
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${output}`)));
  });
}

/** In MiB, of a process and those below it. */
function measureMemory(pid: number): number | undefined {
  const path = `/proc/${pid}/smaps_rollup`;
  if (!existsSync(path)) return undefined;
  const ownMb = Number(/^Pss:\s+(\d+)/m.exec(readFileSync(path, 'utf8'))?.[1] ?? 0) / 1_024;
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return children.reduce((sum, child) => sum + (measureMemory(Number(child)) ?? 0), ownMb);
}

function listens(child: ChildProcessByStdio<null, Readable, null>): Promise<Listening> {
  let output = '';
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
      const url = /listens on (http:\S+)/.exec(output)?.[1]?.replace(/\/$/, '');
      const key = /pk_[0-9A-Za-z]+/.exec(output)?.[0];
      if (url !== undefined && key !== undefined) resolve({ url, key });
    });
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${output}`)));
  });
}

async function ask({ url, key }: Listening): Promise<void> {
  const question = { model: 'parley/offline', messages: [{ role: 'user', content: 'Hi' }] };
  const completion = {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(question),
  };
  for (const [path, init] of [
    ['/healthz', {}],
    ['/readyz', {}],
    ['/docs/', {}],
    ['/', { headers: { accept: 'text/html' } }],
    ['/api/v1/chat/completions', completion],
  ] as const) {
    const { status } = await fetch(url + path, init);
    console.log(`${path} ${status}`);
    if (status !== 200) throw new Error(`${path} answers ${status}`);
  }
}
