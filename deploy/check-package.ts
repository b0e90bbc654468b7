import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkService, type Listening } from './check-service.ts';

/**
 * Installs `build/parley-<version>.tgz` in an empty folder as a stranger does, without a registry, and uses it: it starts, answers, reads a document in a
 * process of its own, and its command asks about it. `npm run pack:check`, behind `npm run pack`.
 */
const sizeMaxMb = 250;
const run = promisify(execFile);
const build = join(import.meta.dirname, '../build');
const work = mkdtempSync(join(tmpdir(), 'parley-package-'));
const used = join(work, 'used');
const parley = join(work, 'node_modules/.bin/parley');
try {
  mkdirSync(used);
  const [tarball = ''] = execFileSync('sh', ['-c', 'ls *.tgz'], { cwd: build, encoding: 'utf8' }).split('\n');
  // An address at which nothing listens: all that it needs is in it.
  const nowhere = ['--offline', '--registry', 'http://127.0.0.1:9', '--cache', join(work, 'cache')];
  execFileSync('npm', ['install', '--no-audit', '--no-fund', ...nowhere, join(build, tarball)], { cwd: work, stdio: 'inherit' });
  const sizeMb = Number(execFileSync('du', ['-sm', join(work, 'node_modules')], { encoding: 'utf8' }).split('\t')[0]);
  console.log(`${sizeMb} MB installed (at most ${sizeMaxMb})`);
  if (sizeMb > sizeMaxMb) throw new Error('the package is too large');
  await checkService(parley, [], used, join(used, 'data'), askByCommand);
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function askByCommand({ url, key }: Listening): Promise<void> {
  const env = { PATH: process.env.PATH ?? '', PARLEY_URL: url, PARLEY_API_KEY: key };
  writeFileSync(join(used, 'berths.csv'), 'Berth,Ship\nNorth quay,Amity\nSouth quay,Quokka\n');
  const command = async (...words: readonly string[]) => (await run(parley, words, { cwd: used, env })).stdout;
  await command('agents', 'create', '--name', 'Harbour master', '--modelId', 'parley/offline');
  await command('sources', 'add', 'berths.csv', '--agent', 'Harbour master');
  const answer = await command('ask', 'Which ship is at the South quay?', '--agent', 'Harbour master');
  console.log(answer.trim().split('\n').slice(0, 3).join(' | '));
  if (!answer.includes('Quokka')) throw new Error('the answer is not from the document');
}
