import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { Readable } from 'node:stream';
import { copiesOf, instructionsOf } from './dockerfile.ts';

/**
 * Does the steps of the Dockerfile in an empty folder, without Docker: `npm run deploy:check`. Measures what they install, starts what comes out
 * and asks for its health. A missing file or package, or one that was trimmed too much, ends it with an error. Needs the package registry.
 */
const sizeMaxMb = 400;
const root = join(import.meta.dirname, '..');
const work = mkdtempSync(join(tmpdir(), 'parley-image-'));
try {
  const image = build();
  const sizeMb = Number(execFileSync('du', ['-sm', image], { encoding: 'utf8' }).split('\t')[0]);
  console.log(`${sizeMb} MB in /app (at most ${sizeMaxMb})`);
  if (sizeMb > sizeMaxMb) throw new Error('the image is too large');
  await start(image);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Each stage is a folder by its name. @returns the folder of the last one, which has none. */
function build(): string {
  const image = join(work, 'image');
  let stage = image;
  for (const { name, rest } of instructionsOf(readFileSync(join(root, 'Dockerfile'), 'utf8'))) {
    if (name === 'FROM') stage = join(work, / AS (\w+)$/.exec(rest)?.[1] ?? 'image');
    mkdirSync(stage, { recursive: true });
    if (name === 'COPY') {
      for (const { from, to, stage: earlier } of copiesOf(rest)) {
        const source = earlier === undefined ? join(root, from) : join(work, earlier, from.replace(/^\/app\//, ''));
        mkdirSync(dirname(join(stage, to)), { recursive: true });
        cpSync(source, join(stage, to), { recursive: true, filter: (path) => !isLeftOut(path) });
      }
    }
    // What else is run prepares folders of the image.
    if (name === 'RUN' && stage !== image) {
      console.log(`RUN ${rest}`);
      execFileSync('sh', ['-c', rest], { cwd: stage, stdio: 'inherit' });
    }
  }
  return image;
}

/** As .dockerignore says. */
function isLeftOut(path: string): boolean {
  const here = relative(root, path);
  return /generated\/models/.test(path) || /^console\/(?:dist|node_modules)/.test(here);
}

async function start(image: string): Promise<void> {
  const env = {
    PATH: process.env.PATH ?? '',
    NODE_ENV: 'production',
    PORT: '0',
    DATA_DIR: join(work, 'data'),
    LOG_FORMAT: 'json',
  };
  const child = spawn(process.execPath, ['--max-semi-space-size=32', '--max-old-space-size=2000', 'src/main.js'], {
    cwd: image,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await ask(child);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    if ((await ended) !== 0) throw new Error('it does not end well');
  } finally {
    child.kill('SIGKILL');
  }
}

/** @throws Error when a request is not answered well. */
async function ask(child: ChildProcessByStdio<null, Readable, null>): Promise<void> {
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
      const found = /listens on (http:\S+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${output}`)));
  });
  const key = /pk_[0-9A-Za-z]+/.exec(output)?.[0];
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
