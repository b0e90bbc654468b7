import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Builds the console into `dist/`: `npm run build`. With `--if-changed` only when its sources are others than those it was built from, and not at all
 * where its packages are not installed, as in the image. A running service goes on with the old files until the new ones are complete.
 */
const here = import.meta.dirname;
const dist = join(here, 'dist');
const stamp = join(dist, 'sources.sha256');
const isOptional = process.argv.includes('--if-changed');
// Beside a service that starts, or is already being used.
if (isOptional) setPriority(constants.priority.PRIORITY_LOW);
const hash = sourcesHash();

if (!isOptional || (isInstalled() && isChanged())) await alone(build);

function isChanged(): boolean {
  return !existsSync(stamp) || readFileSync(stamp, 'utf8') !== hash;
}

/** One build at a time: tests, `npm start` and a person may all ask for one. */
async function alone(work: () => Promise<void>): Promise<void> {
  const lock = `${dist}.lock`;
  while (true) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      if (isLeftBehind(lock)) rmSync(lock, { recursive: true, force: true });
      await sleep(200);
    }
  }
  try {
    if (!isOptional || isChanged()) await work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

/** No build takes two minutes. */
function isLeftBehind(lock: string): boolean {
  return (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY) < Date.now() - 120_000;
}

async function build(): Promise<void> {
  // A test that asks for a build says `test`, with which React would be the slow one for its developers, and twice as large.
  process.env.NODE_ENV = 'production';
  const { build: buildConsole } = await import('vite');
  const fresh = `${dist}.${process.pid}`;
  try {
    await buildConsole({
      configFile: join(here, 'vite.config.ts'),
      logLevel: isOptional ? 'error' : 'info',
      build: { outDir: fresh },
    });
    writeFileSync(join(fresh, 'sources.sha256'), hash);
    const old = `${dist}.old.${process.pid}`;
    if (existsSync(dist)) renameSync(dist, old);
    renameSync(fresh, dist);
    rmSync(old, { recursive: true, force: true });
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function isInstalled(): boolean {
  return ['vite', 'react', 'urql'].every(
    (name) => existsSync(join(here, '..', 'node_modules', name)) || existsSync(join(here, 'node_modules', name)),
  );
}

/** Of everything that the build reads of this repository. */
function sourcesHash(): string {
  const digest = createHash('sha256');
  const files = [
    join(here, 'index.html'),
    join(here, 'diagram.html'),
    join(here, 'vite.config.ts'),
    join(here, 'printed-documents.ts'),
    join(here, 'package.json'),
    ...filesIn(join(here, 'src')),
    ...filesIn(join(here, '../clients/typescript/src')),
  ];
  for (const file of files) digest.update(file.slice(here.length)).update(readFileSync(file));
  return digest.digest('hex');
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
