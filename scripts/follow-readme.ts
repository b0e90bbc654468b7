import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ReaderShell } from './support/reader-shell.ts';
import { type ReadmeBlock, readmeBlocks } from './support/readme.ts';

/**
 * `npm run readme:follow`: does what README.md and docs/recipes.md say, block by block, in a clean clone of the last commit and with the Node of the machine. Needs the
 * package registry, git, bash and curl. Fails when a block fails, shows something else than the README says, or leaves the service running.
 */
const startMaxMs = 300_000;
const stopMaxMs = 30_000;
const outputMaxMs = 60_000;
const addressInReadme = 'http://127.0.0.1:4000';
const keyInReadme = 'pk_…';

interface Row {
  readonly title: string;
  readonly seconds?: number;
  readonly result: string;
  readonly isBad?: boolean;
}
interface Service {
  readonly process: ChildProcess;
  readonly url: string;
  readonly key: string;
}

const work = mkdtempSync(join(tmpdir(), 'parley-readme-'));
const clone = join(work, 'parley');
const port = await freePort();
const env = bareEnvironment();
const rows: Row[] = [];
let service: Service | undefined;
let shell: ReaderShell | undefined;
try {
  execFileSync('git', ['clone', '--quiet', join(import.meta.dirname, '..'), clone], { env });
  shell = new ReaderShell(clone, env);
  for (const block of readmeBlocks()) {
    const row = await follow(block, shell).catch((error: unknown) => failed(block, String(error)));
    console.log(lineOf(row));
    rows.push(row);
  }
} finally {
  shell?.close();
  if (service !== undefined) {
    const row = await stop(service);
    console.log(lineOf(row));
    rows.push(row);
  }
  rmSync(work, { recursive: true, force: true });
}
process.exitCode = rows.some(({ isBad }) => isBad === true) ? 1 : 0;

async function follow(block: ReadmeBlock, into: ReaderShell): Promise<Row> {
  if (typeof block.run === 'object') return { title: block.title, result: `not run: ${block.run.notBecause}` };
  if (/\bnpm start\b/.test(block.text)) return start(block);
  if (service === undefined) throw new Error('the service does not run');
  const text = block.text.replaceAll(addressInReadme, service.url).replaceAll(keyInReadme, service.key);
  if (block.run === 'endless') return begin({ ...block, text }, service);
  const { code, output, seconds } = await into.paste(text);
  if (code !== 0) return failed(block, `ended with ${code}\n${output}`);
  if (output.includes('{"error":')) return failed(block, `shows an error\n${output}`);
  const missing = block.shows.filter((pattern) => !pattern.test(output));
  if (missing.length > 0) return failed(block, `does not show ${missing.join(', ')}\n${output}`);
  return { title: block.title, seconds, result: block.shows.length > 0 ? 'shows what it promises' : 'ok' };
}

function failed({ title }: ReadmeBlock, why: string): Row {
  return { title, result: `FAILED: ${why}`, isBad: true };
}

/** Runs a block that stays: it installs the packages and starts the service. */
async function start(block: ReadmeBlock): Promise<Row> {
  const begunMs = performance.now();
  const child = spawn('bash', ['-c', block.text], { cwd: clone, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const [, url = '', key = ''] = await outputOf(child, /listens on (http:\S+)[\s\S]*?\b(pk_\w{20,})/, startMaxMs);
  service = { process: child, url, key };
  return { title: block.title, seconds: (performance.now() - begunMs) / 1_000, result: 'listens, and prints a key' };
}

/** Runs a block that never ends until it shows something. */
async function begin(block: ReadmeBlock, { url, key }: Service): Promise<Row> {
  const begunMs = performance.now();
  const child = spawn('bash', ['-c', block.text], {
    cwd: clone,
    env: { ...env, PARLEY: url, PARLEY_KEY: key },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  try {
    await outputOf(child, /^data: \{"data":/m, outputMaxMs);
  } finally {
    endGroup(child);
  }
  return { title: block.title, seconds: (performance.now() - begunMs) / 1_000, result: 'shows events until it is stopped' };
}

/** As Ctrl-C in its terminal. */
async function stop({ process: child }: Service): Promise<Row> {
  const title = 'Ctrl-C';
  const begunMs = performance.now();
  const ended = child.exitCode === null ? once(child, 'exit') : Promise.resolve();
  if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGINT');
  const late = setTimeout(() => endGroup(child), stopMaxMs);
  await ended;
  clearTimeout(late);
  const seconds = (performance.now() - begunMs) / 1_000;
  if (child.signalCode === 'SIGKILL') return { title, seconds, result: 'FAILED: the service does not stop', isBad: true };
  const isFree = await listens(port).then(
    () => true,
    () => false,
  );
  return isFree
    ? { title, seconds, result: 'stops, and its port is free' }
    : { title, seconds, result: 'FAILED: its port is still taken', isBad: true };
}

/** @throws Error with all output when the process ends or the time is over before; the process and what it started are ended then. */
function outputOf(child: ChildProcess, pattern: RegExp, timeoutMs: number): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => {
      endGroup(child);
      reject(new Error(`not within ${timeoutMs / 1_000} s\n${output}`));
    }, timeoutMs);
    child.once('close', (code) => {
      clearTimeout(timer);
      reject(new Error(`ended with ${code}\n${output}`));
    });
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
        const found = pattern.exec(output);
        if (found === null) return;
        clearTimeout(timer);
        resolve(found);
      });
  });
}

/** What a login gives, without what npm and this checkout add. Another clone of this repository may belong to another user, which git refuses. */
function bareEnvironment(): NodeJS.ProcessEnv {
  const gitConfig = join(work, 'gitconfig');
  writeFileSync(gitConfig, '[safe]\n\tdirectory = *\n');
  const kept = Object.entries(process.env).filter(([name]) =>
    /^(HOME|USER|LANG|TERM|TMPDIR|NODE_EXTRA_CA_CERTS|.*_proxy)$/i.test(name),
  );
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  return { ...Object.fromEntries(kept), PATH: folders.join(delimiter), GIT_CONFIG_GLOBAL: gitConfig, PORT: String(port) };
}

function endGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
}

async function freePort(): Promise<number> {
  return listens(0);
}

/** Listens for a moment. @throws Error when the port is taken. */
async function listens(wanted: number): Promise<number> {
  const server = createServer().listen(wanted, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : wanted;
}

function lineOf({ title, seconds, result }: Row): string {
  return [title.padEnd(46), (seconds === undefined ? '–' : `${seconds.toFixed(1)} s`).padStart(8), result].join('  ');
}
