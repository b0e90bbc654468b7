import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { browserOf, decide, openRequest } from '../support/people/oauth.ts';
import { installPackages } from '../support/processes/example.ts';
import { freePort } from '../support/processes/free-port.ts';
import { withService } from '../support/service.ts';

/**
 * The recipe of docs/mcp.md with the MCP Inspector, which signs in as claude.ai and other MCP clients do: the address is all that it is given. It is
 * installed from npm for this test and is no part of this repository.
 */
const { service, make, upstream } = await withService('model');
const folder = await installPackages('@modelcontextprotocol/inspector@2.12.0');
const inspector = join(folder, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const home = join(folder, 'home');
mkdirSync(home);
const timeoutMs = 120_000;
const callback = `http://127.0.0.1:${await freePort()}/oauth/callback`;

const ann = await make.person();
await make.agent({ owner: ann, modelId: 'openai/test-model', name: 'Ada', description: 'Knows the engine.' });
const browser = await browserOf(service, ann);

/** Runs the Inspector to its end. Whenever it shows the address of a sign-in, the person follows it and agrees. */
async function inspect(
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly stdout: string; readonly signIns: number; readonly told: string }> {
  const all = [
    inspector,
    '--cli',
    `${service.url}/mcp`,
    '--transport',
    'http',
    '--callback-url',
    callback,
    '--format',
    'json',
    ...args,
  ];
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    NO_COLOR: '1',
    MCP_STORAGE_DIR: home,
    MCP_AUTO_OPEN_ENABLED: 'true',
    MCP_INSPECTOR_SECRET_STORE: 'file',
  };
  const child = spawn(process.execPath, all, { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let told = '';
  let visit: Promise<unknown> | undefined;
  child.stdout.on('data', (piece: Buffer) => {
    stdout += piece.toString();
  });
  child.stderr.on('data', (piece: Buffer) => {
    told += piece.toString();
    const address = /(http\S+\/oauth\/authorize\?\S+)\s/.exec(told)?.[1];
    if (address === undefined || visit !== undefined) return;
    visit = agree(address).catch((error: unknown) => {
      told += String(error);
      child.kill();
    });
  });
  const [code] = await once(child, 'close');
  await visit;
  return { code, stdout, told, signIns: visit === undefined ? 0 : 1 };
}

async function agree(address: string): Promise<void> {
  const page = await openRequest(browser, address);
  // The Inspector listens on this machine: the browser ends at its page.
  await decide(browser, page.url, true);
}

async function connectedApps(): Promise<readonly { readonly id: string }[]> {
  const { data } = await browser.graphql('{ viewer { connectedApps { nodes { id } } } }');
  return data?.viewer.connectedApps?.nodes ?? [];
}

it(
  'signs in by the browser, lists the agents and asks one, with the address alone',
  async () => {
    const listed = await inspect('--method', 'tools/list');
    expect(listed.code, listed.told + listed.stdout).toBe(0);
    expect(listed.signIns).toBe(1);
    expect(listed.stdout).toContain('ask_ada');

    upstream.next({ text: 'The stock is 12.' });
    const asked = await inspect('--method', 'tools/call', '--tool-name', 'ask_ada', '--tool-arg', 'question=How many?');
    expect(asked.code, asked.told + asked.stdout).toBe(0);
    // It keeps what it was given.
    expect(asked.signIns).toBe(0);
    expect(asked.stdout).toContain('The stock is 12.');

    expect(await connectedApps()).toHaveLength(1);
  },
  timeoutMs,
);

it(
  'is refused when the person has disconnected it, and signs in once more',
  async () => {
    for (const { id } of await connectedApps()) {
      await browser.graphql('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id });
    }
    expect(await connectedApps()).toEqual([]);
    const listed = await inspect('--method', 'tools/list');
    expect(listed.code, listed.told + listed.stdout).toBe(0);
    expect(listed.signIns).toBe(1);
  },
  timeoutMs,
);
