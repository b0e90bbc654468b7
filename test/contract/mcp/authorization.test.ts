import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { browserOf, decide, openRequest } from '../../support/people/oauth.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { withService } from '../../support/service.ts';

/** The public conformance suite of MCP, for authorization servers: a person at the browser follows the address that it prints. */
const { service, make } = await withService('model', {});
const folder = mkdtempSync(join(tmpdir(), 'parley-mcp-authorization-'));
const suite = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js');
afterAll(() => rmSync(folder, { recursive: true }));

it('the authorization server meets every scenario of the suite', async () => {
  const ann = await make.person();
  const browser = await browserOf(service, ann);
  const port = await freePort();
  const client = { client_name: 'The suite', redirect_uris: [`http://127.0.0.1:${port}/callback`] };
  const { body } = await service.nobody.post('/oauth/register', client);
  const args = ['authorization', '--url', service.url, '--client-id', body.client_id, '--resource', `${service.url}/mcp`];
  const child = spawn(process.execPath, [suite, ...args, '-p', String(port), '-o', folder], {
    cwd: folder,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  let visit: Promise<unknown> | undefined;
  child.stdout.on('data', (piece: Buffer) => {
    text += piece.toString();
    const address = /^(http\S+\/oauth\/authorize\?\S+)$/m.exec(text)?.[1];
    if (address === undefined || visit !== undefined) return;
    visit = openRequest(browser, address)
      .then((page) => decide(browser, page.url, true))
      .catch((error: unknown) => {
        text += String(error);
        child.kill();
      });
  });
  await once(child, 'close');
  await visit;
  const results = [...text.matchAll(/^([✓✗]) (\S+): /gm)].map(([, mark, name]) => [name, mark]);
  expect(results, text).toEqual([
    ['authorization-server-metadata-endpoint', '✓'],
    ['authorization-code-grant', '✓'],
  ]);
}, 120_000);
