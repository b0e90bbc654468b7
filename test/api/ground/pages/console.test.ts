import { mkdtempSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { expect, it, onTestFinished } from 'vitest';
import { ConsolePage, createConsole, createMissingPage } from '../../../../src/pages/console.ts';

/** Serves the console from a folder of its own, which is empty: what the build does to it is seen at once. */
async function serveConsole(): Promise<{
  readonly folder: string;
  readonly ask: (path: string, accept?: string) => Promise<Response>;
}> {
  const folder = mkdtempSync(join(tmpdir(), 'console-'));
  const page = new ConsolePage({ version: '1.2.3', heartbeatMs: 15_000, folder });
  const app = express().use(createConsole(page), createMissingPage(page));
  const server = await new Promise<ReturnType<typeof app.listen>>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening));
  });
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { folder, ask: (path, accept = 'text/html') => fetch(`http://127.0.0.1:${port}${path}`, { headers: { accept } }) };
}

it.each(['/', '/agents', '/sign-in', '/about'])('%s says that the console is being built, until it is', async (path) => {
  const { folder, ask } = await serveConsole();
  const before = await ask(path);
  expect([before.status, before.headers.get('retry-after'), before.headers.get('cache-control')]).toEqual([503, '5', 'no-store']);
  expect(before.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
  // Its script loads the page again once there is one.
  expect(await before.text()).toMatch(/being built.*\/pages\/unbuilt\.js|\/pages\/unbuilt\.js.*being built/s);
  writeFileSync(join(folder, 'index.html'), '<!-- head --><!-- header --><meta content="{{version}}"><div id="app"></div>');
  const after = await ask(path);
  expect([after.status, await after.text()]).toEqual([
    200,
    expect.stringContaining('<meta content="1.2.3"><div id="app"></div>'),
  ]);
});

it('gives the public pages the header of the manual, and the screens none', async () => {
  const { folder, ask } = await serveConsole();
  writeFileSync(join(folder, 'index.html'), '<!-- head --><!-- header -->');
  const texts = await Promise.all(['/sign-in', '/about', '/', '/usage'].map(async (path) => (await ask(path)).text()));
  // It is in English, also where the console shows the page below it in the language of the reader.
  for (const text of texts.filter((one) => one.includes('site-header'))) {
    expect(text).toContain('<header class="site-header" lang="en">');
    expect(text).toMatch(/<a class="skip"[^>]* lang="en">/);
  }
  expect(texts.map((text) => text.includes('class="site-header"') && text.includes('href="#main"'))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

it.each([
  ['/no-such-place', 'text/html,*/*;q=0.8', true],
  ['/no-such-place', '*/*', false],
  ['/no-such-place', 'application/json', false],
  ['/console/assets/gone.js', '*/*', false],
  ['/api/v1/no-such-place', 'text/html,*/*;q=0.8', false],
  ['/v1/no-such-place', 'text/html', false],
  ['/mcp/no-such-place', 'text/html', false],
  ['/scim/v2/no-such-place', 'text/html', false],
])('answers %s to a client that accepts %s with its page and 404: %s', async (path, accept, isPage) => {
  const { folder, ask } = await serveConsole();
  writeFileSync(join(folder, 'index.html'), '<div id="app"></div>');
  const reply = await ask(path, accept);
  const text = await reply.text();
  // Express answers here what the page leaves to the next handler.
  expect([reply.status, text.includes('<div id="app">')]).toEqual([404, isPage]);
});
