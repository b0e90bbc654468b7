import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { processesBelow } from '../../test/support/processes/process-table.ts';
import type { Target } from '../completions/load.ts';
import { cores, pin } from '../completions/processes.ts';
import { environmentOfStart, flagsOfStart } from '../support/start-flags.ts';

/** A server under measurement, run as its users run it; what it costs is read from the system. */
export interface Server {
  readonly name: string;
  readonly version: string;
  /** From the start of the process to the first answer. */
  readonly readyMs: number;
  target(model: string, stream: boolean, words?: string): Target;
  /** Of all its processes since their start. */
  cpuSeconds(): number;
  residentMegabytes(): number;
  stop(): Promise<void>;
}

interface Recipe {
  readonly name: string;
  readonly version: string;
  /** The words behind `node`. */
  readonly command: (port: number, upstreamUrl: string) => readonly string[];
  readonly env?: (port: number, upstreamUrl: string) => NodeJS.ProcessEnv;
  readonly readyPath: string;
  readonly path: string;
  readonly headers: (upstreamUrl: string) => Readonly<Record<string, string>>;
  readonly modelPrefix?: string;
  readonly close?: () => void;
}

const adminKey = 'pk-bench-administrator-key-of-40-characters';
const portkeyVersion = '1.15.2';
const portkeyFolder = join(import.meta.dirname, '../../node_modules/.cache/portkey');

/** Installs Portkey's gateway from npm, once. Its packages are none of Parley's. */
export function installPortkey(): void {
  const manifest = join(portkeyFolder, 'node_modules/@portkey-ai/gateway/package.json');
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === portkeyVersion) return;
  mkdirSync(portkeyFolder, { recursive: true });
  const dependencies = { '@portkey-ai/gateway': portkeyVersion };
  // With the newest version that its range gives, it answers 500 to every stream: findings/hono-node-server-headers.sh.
  const overrides = { '@hono/node-server': '1.13.8' };
  writeFileSync(join(portkeyFolder, 'package.json'), JSON.stringify({ private: true, dependencies, overrides }));
  const words = ['install', '--prefix', portkeyFolder, '--no-audit', '--no-fund', '--ignore-scripts'];
  execFileSync('npm', words, { stdio: 'inherit' });
}

const json = { 'content-type': 'application/json' };

export const recipes: Readonly<Record<'gateway' | 'portkey' | 'parley', () => Recipe>> = {
  gateway: () => ({
    name: 'plain Express gateway',
    version: 'Express 5',
    command: (port, upstreamUrl) => [join(import.meta.dirname, 'gateway.ts'), upstreamUrl, String(port)],
    readyPath: '/ready',
    path: '/v1/chat/completions',
    headers: () => ({ ...json, authorization: 'Bearer bench' }),
  }),
  portkey: () => ({
    name: 'Portkey gateway',
    version: portkeyVersion,
    command: (port) => [
      join(portkeyFolder, 'node_modules/@portkey-ai/gateway/build/start-server.js'),
      `--port=${port}`,
      '--headless',
    ],
    // Its own rule against requests to this machine.
    env: () => ({ TRUSTED_CUSTOM_HOSTS: '127.0.0.1' }),
    readyPath: '/',
    path: '/v1/chat/completions',
    headers: (upstreamUrl) => ({
      ...json,
      authorization: 'Bearer bench',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${upstreamUrl}/v1`,
    }),
  }),
  parley: () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'));
    return {
      name: 'Parley',
      version: 'this commit',
      command: () => [...flagsOfStart, join(import.meta.dirname, '../../src/main.js')],
      env: (port, upstreamUrl) => ({
        ...{ PORT: String(port), DATA_DIR: dataDir, DEMO: 'off', LOG_FORMAT: 'json', ...environmentOfStart },
        ...{ PARLEY_ADMIN_KEY: adminKey, OPENAI_BASE_URL: `${upstreamUrl}/v1` },
      }),
      readyPath: '/readyz',
      path: '/api/v1/chat/completions',
      headers: () => ({ ...json, authorization: `Bearer ${adminKey}` }),
      modelPrefix: 'openai/',
      close: () => rmSync(dataDir, { recursive: true, force: true }),
    };
  },
};

/** Starts a server on the core of the services. @throws when it does not answer within a minute. */
export async function startServer(recipe: Recipe, upstreamUrl: string): Promise<Server> {
  const port = await freePort();
  const { PATH, HOME } = process.env;
  const startedMs = performance.now();
  const child = spawn(process.execPath, [...recipe.command(port, upstreamUrl)], {
    env: { PATH, HOME, NODE_ENV: 'production', ...recipe.env?.(port, upstreamUrl) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const id = child.pid ?? 0;
  pin(id, cores.service);
  const url = `http://127.0.0.1:${port}`;
  while (!(await answers(`${url}${recipe.readyPath}`))) {
    if (child.exitCode !== null || performance.now() - startedMs > 60_000) throw new Error(`${recipe.name} did not start`);
    await wait(10);
  }
  const readyMs = performance.now() - startedMs;
  // Threads that were started since then go to the same core.
  pin(id, cores.service);
  return {
    ...{ name: recipe.name, version: recipe.version, readyMs },
    target: (model, stream, words = 'What is the answer to everything?') => ({
      ...{ name: recipe.name, url, path: recipe.path, headers: recipe.headers(upstreamUrl) },
      body: JSON.stringify({
        model: `${recipe.modelPrefix ?? ''}${model}`,
        messages: [{ role: 'user', content: words }],
        stream,
      }),
    }),
    cpuSeconds: () => ownCpuSeconds(id) + processesBelow(id).reduce((sum, one) => sum + one.cpuSeconds, 0),
    residentMegabytes: () => [id, ...processesBelow(id).map((one) => one.id)].reduce((sum, one) => sum + residentOf(one), 0),
    async stop() {
      const exit = once(child, 'exit');
      child.kill();
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await exit;
      clearTimeout(timer);
      recipe.close?.();
    },
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    const reply = await fetch(url);
    await reply.arrayBuffer();
    return reply.status === 200;
  } catch {
    return false;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

function ownCpuSeconds(id: number): number {
  const text = readFileSync(`/proc/${id}/stat`, 'utf8');
  const numbers = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(numbers[11]) + Number(numbers[12])) / 100;
}

function residentOf(id: number): number {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
