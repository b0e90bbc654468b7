import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { checkScreen, openConsole } from '../../../support/browser/console.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('model');
let release = () => {};
const held = new Promise<void>((resolve) => (release = resolve));
let isForbidden = true;

const page = (title: string, body: string) =>
  `<!doctype html><title>${title}</title><main><h1>${title}</h1><p>${body}</p></main>`;
const site = createServer(async (req, res) => {
  const pages: Readonly<Record<string, string>> = {
    '/docs/': page('Harbour', 'Read the <a href="/docs/fees">fees</a> and the <a href="/docs/tides">tides</a>.'),
    '/docs/fees': page('Fees', 'A berth for one night costs forty crowns.'),
    '/docs/tides': page('Tides', 'High water comes twice a day at the northern quay.'),
  };
  const html = pages[req.url ?? ''];
  if (req.url === '/docs/tides') await held;
  const isRefused = req.url === '/docs/fees' && isForbidden;
  res.writeHead(html === undefined ? 404 : isRefused ? 403 : 200, { 'content-type': 'text/html; charset=utf-8' });
  res.end(isRefused ? '' : html);
});

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
await make.agent({ owner: ann, name: 'Harbour pilot' });
await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));

afterAll(() => {
  site.closeAllConnections();
  site.close();
});

describe.skipIf(!hasBrowser())('a web site in the console', () => {
  it('is added by its address, shows how far it is read, what failed, and another try', async () => {
    const { page: tab, problems } = await openConsole(service, ann, '/knowledge?new');
    const dialog = tab.getByRole('dialog', { name: 'Add knowledge' });
    await dialog.getByRole('radio', { name: 'Web site' }).check();
    await dialog.getByLabel('Address', { exact: true }).fill('https://user:secret@example.com/');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.locator('[aria-invalid]').waitFor();
    await checkScreen(tab, 'knowledge-add-site-refused');
    await dialog.getByLabel('Address', { exact: true }).fill(`http://127.0.0.1:${(site.address() as AddressInfo).port}/docs/`);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await tab.getByRole('progressbar', { name: 'Progress of reading' }).waitFor();
    await tab.getByRole('button', { name: 'Stop' }).waitFor();
    await checkScreen(tab, 'knowledge-reading');
    release();
    await tab.getByRole('progressbar', { name: 'Progress of reading' }).waitFor({ state: 'detached' });
    const failures = tab.getByRole('list', { name: 'Not read' });
    await failures.getByText('/docs/fees').first().waitFor();
    await tab.getByText('Ready, with failures', { exact: true }).waitFor();
    await checkScreen(tab, 'knowledge-failures');
    isForbidden = false;
    await tab.getByRole('button', { name: 'Try the failed ones again' }).click();
    await tab.getByText('Ready', { exact: true }).waitFor();
    await failures.waitFor({ state: 'detached' });
    await tab.getByRole('link', { name: 'History' }).click();
    await tab.getByRole('cell', { name: 'It was added' }).waitFor();
    await checkScreen(tab, 'knowledge-history');
    expect(problems).toEqual([]);
  });
});
