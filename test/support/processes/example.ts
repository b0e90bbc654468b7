import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll } from 'vitest';
import { eventually } from './eventually.ts';

const root = join(import.meta.dirname, '../../..');
/** What git ignores: the copy is as whoever cloned the repository has it. */
const made = new Set(['node_modules', 'dist', '.next', 'next-env.d.ts', '__generated__']);
const runFile = promisify(execFile);

/** A folder of examples/, copied, with its packages installed. */
export interface Example {
  /** Where the copy is. */
  readonly folder: string;
  /** Runs a script of its package to the end. @returns its output. @throws Error with its output when it fails. */
  run(script: string, env?: Environment, ...args: readonly string[]): Promise<string>;
  /** Starts `npm start` with these arguments; ends behind the tests of the file. @returns the address that it prints. */
  start(env: Environment, ...args: readonly string[]): Promise<string>;
}
type Environment = Readonly<Record<string, string>>;

/** Installs an example as its README says, in a folder of its own that is removed behind the tests of the file. */
export async function installExample(name: string): Promise<Example> {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-example-'));
  // Registered here, because a test that starts an example can register nothing behind the others.
  const ends: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const end of ends) await end();
    rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  });
  const filter = (path: string) => !made.has(basename(path));
  for (const path of [join('examples', name), 'clients/typescript', 'schema.graphql']) {
    cpSync(join(root, path), join(scratch, path), { recursive: true, filter });
  }
  const cwd = join(scratch, 'examples', name);
  await npm(cwd, {}, 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline');
  return {
    folder: cwd,
    run: (script, env = {}, ...args) => npm(cwd, env, 'run', '--silent', script, '--', ...args),
    start: (env, ...args) => startNpm(cwd, env, args, (end) => ends.push(end)),
  };
}

/** Installs packages of npm, without their scripts, in a folder of its own that is removed behind the tests of the file. @returns the folder. */
export async function installPackages(...packages: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-packages-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  await npm(folder, {}, 'init', '--yes');
  await npm(folder, {}, 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', ...packages);
  return folder;
}

/** The Node of this process comes first, and nothing that examples send home leaves. */
function environment(env: Environment): NodeJS.ProcessEnv {
  const PATH = [dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);
  const { NODE_ENV: _ofVitest, ...own } = process.env;
  return { ...own, PATH, NO_COLOR: '1', NEXT_TELEMETRY_DISABLED: '1', ...env };
}

async function npm(cwd: string, env: Environment, ...args: readonly string[]): Promise<string> {
  try {
    return (await runFile('npm', args, { cwd, env: environment(env), maxBuffer: 64 * 1024 * 1024 })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`npm ${args.join(' ')} failed in ${cwd}\n${stdout}${stderr}`, { cause: error });
  }
}

/** @param atEnd  takes what ends it. */
function startNpm(
  cwd: string,
  env: Environment,
  args: readonly string[],
  atEnd: (end: () => Promise<void>) => void,
): Promise<string> {
  // npm starts a shell, and that one the server: together they are a process group, which ends as one.
  const child = spawn('npm', ['start', '--', ...args], {
    cwd,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const closed = new Promise((resolve) => child.once('close', resolve));
  atEnd(async () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    await closed;
  });
  return eventually(() => {
    const address = /Local:\s+(http:\/\/[^\s/]+)/.exec(stripVTControlCharacters(output))?.[1];
    if (address !== undefined) return address;
    throw new Error(`no address yet:\n${output}`, child.exitCode === null ? {} : { cause: 'final' });
  }, 240_000);
}
