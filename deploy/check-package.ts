import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkService, type Listening, measureStart } from './check-service.ts';

/**
 * Installs `build/parley-<version>.tgz` in an empty folder as a stranger does, without a registry, and uses it: it starts, answers, reads a document in a
 * process of its own, and its command asks about it. The packed client asks it too, from a folder of its own. Prints how long starts take and what it needs when nobody asks;
 * only its size is a bound here, because other work on the machine changes the rest. `npm run pack:check`, behind `npm run pack` and
 * `npm run pack:client`; with `--figures`, only what is measured.
 */
const sizeMaxMb = 250;
const readyMaxMs = 3_000;
const idleMaxMb = 350;
/** A service that nobody asks gives memory back after a while. */
const quietMs = 45_000;
const areFiguresEnough = process.argv.includes('--figures');
const run = promisify(execFile);
const build = join(import.meta.dirname, '../build');
const work = mkdtempSync(join(tmpdir(), 'parley-package-'));
const used = join(work, 'used');
const parley = join(work, 'node_modules/.bin/parley');
/** What somebody writes who has the client and nothing else. */
const clientProgram = `import { documents, ParleyClient } from '@parley/client';

const parley = new ParleyClient({ url: process.env.PARLEY_URL ?? '', apiKey: process.env.PARLEY_API_KEY ?? '' });
const { data } = await parley.rest('get', '/api/v1/ais', { query: { search: 'Harbour' } });
const agent = data[0];
if (agent === undefined) throw new Error('the agent is not found');
const { viewer } = await parley.graphql(documents.ViewerDocument, {});
const chat = await parley.rest('post', '/api/v1/ais/{aiId}/chats', { path: { aiId: agent.id }, body: {} });
let last = '';
for await (const event of parley.streamChat(chat.id, { prompt: 'Hello' })) last = event.type;
console.log(agent.name, typeof viewer, last, 'ended');
`;
try {
  mkdirSync(used);
  install(/^parley-\d.*\.tgz$/, work);
  const sizeMb = Number(execFileSync('du', ['-sm', join(work, 'node_modules')], { encoding: 'utf8' }).split('\t')[0]);
  console.log(`${sizeMb} MB installed (at most ${sizeMaxMb})`);
  if (sizeMb > sizeMaxMb) throw new Error('the package is too large');
  if (!areFiguresEnough)
    await checkService(parley, [], used, join(used, 'data'), async (listening) => {
      await askByCommand(listening);
      await askByClient(listening);
    });
  await printFigures();
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** The first start makes the database; another one opens it. */
async function printFigures(): Promise<void> {
  const folder = join(work, 'measured');
  for (const which of ['first start', 'start on its data']) {
    const [load = 0] = loadavg();
    const { readyMs, idleMb } = await measureStart(parley, [], used, folder, which === 'first start' ? 0 : quietMs);
    console.log(
      `${which}: ${(readyMs / 1_000).toFixed(1)} s until ready (target ${readyMaxMs / 1_000} s), load ${load.toFixed(1)}`,
    );
    if (which !== 'first start')
      console.log(`idle: ${idleMb?.toFixed(0) ?? '–'} MB after ${quietMs / 1_000} s (target ${idleMaxMb} MB)`);
  }
}

function install(name: RegExp, folder: string): void {
  const tarball = readdirSync(build).find((file) => name.test(file));
  if (tarball === undefined) throw new Error(`build has no package ${name.source}: pack it first`);
  // An address at which nothing listens: all that it needs is in it.
  const nowhere = ['--offline', '--registry', 'http://127.0.0.1:9', '--cache', join(work, 'cache')];
  execFileSync('npm', ['install', '--no-audit', '--no-fund', ...nowhere, join(build, tarball)], {
    cwd: folder,
    stdio: 'inherit',
  });
}

/** As a program of somebody who has the client and nothing else: REST, GraphQL, a subscription, and its types. */
async function askByClient({ url, key }: Listening): Promise<void> {
  const folder = join(work, 'client');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }');
  install(/^parley-client-.*\.tgz$/, folder);
  writeFileSync(join(folder, 'program.ts'), clientProgram);
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    'false',
    '--module',
    'nodenext',
    '--lib',
    'es2024,dom,dom.asynciterable',
  ];
  const compiler = join(import.meta.dirname, '../node_modules/.bin/tsc');
  const types = ['--types', 'node', '--typeRoots', join(import.meta.dirname, '../node_modules/@types')];
  await run(compiler, [...options, ...types, 'program.ts'], { cwd: folder });
  const env = { PATH: process.env.PATH ?? '', PARLEY_URL: url, PARLEY_API_KEY: key };
  const { stdout } = await run(process.execPath, ['program.ts'], { cwd: folder, env });
  console.log(`the client: ${stdout.trim()}`);
  if (!stdout.includes('Harbour master') || !stdout.includes('ended')) throw new Error('the client got no answer');
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
