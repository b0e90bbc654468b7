import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';

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
