import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../support/browser/browser.ts';
import { lowContrast } from '../support/browser/low-contrast.ts';
import { keepPicture, openPage, visible } from '../support/browser/pages.ts';
import { withService } from '../support/service.ts';

/** The token and account addresses of a drive. */
const drive = createServer((req, res) => {
  const isAccount = req.url?.startsWith('/drive/v3/about') === true;
  const user = { displayName: 'Ann', emailAddress: 'ann@drive.example' };
  res.writeHead(200, { 'content-type': 'application/json' });
  res.end(JSON.stringify(isAccount ? { user } : { access_token: 'a', refresh_token: 'r', expires_in: 3600, scope: 'read' }));
});
await new Promise<void>((resolve) => drive.listen(0, '127.0.0.1', resolve));
afterAll(() => void drive.close());
const driveUrl = `http://127.0.0.1:${(drive.address() as AddressInfo).port}`;
const { service, make } = await withService('plain', {
  env: {
    GOOGLE_CLIENT_ID: 'id',
    GOOGLE_CLIENT_SECRET: 'secret',
    GOOGLE_API_URL: driveUrl,
    GOOGLE_AUTHORIZE_URL: `${driveUrl}/authorize`,
    GOOGLE_TOKEN_URL: `${driveUrl}/token`,
  },
});

/** Where the drive sends a person back who has agreed. */
async function callbackUrl(input: object = {}) {
  const ann = await make.person({ name: 'Ann <b>Example</b>' });
  const { body } = await ann.post('/api/v1/connections/authorize', { provider: 'DRIVE_A', ...input });
  const state = new URL(body.url).searchParams.get('state') ?? '';
  return { ann, url: `${service.url}/oauth/callback?${new URLSearchParams({ state, code: 'c' })}` };
}

describe.skipIf(!hasBrowser())('an account is connected, in Chromium', () => {
  it('when the person has confirmed whom it serves, and not before', async () => {
    const { ann, url } = await callbackUrl();
    const { page, problems, origins } = await openPage(url);
    const text = await visible(page, 'main');
    for (const words of ['ann@drive.example', 'Google Drive', 'Ann <b>Example</b>', ann.email]) expect(text).toContain(words);
    const connections = async () => (await ann.get('/api/v1/connections')).body.data.length;
    expect(await connections()).toBe(0);
    await Promise.all([page.waitForNavigation(), page.click('main button')]);
    await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Connected');
    expect(await visible(page, 'main')).toContain('You can close this page.');
    expect(await connections()).toBe(1);
    expect(problems).toEqual([]);
    expect([...origins]).toEqual([service.url]);
  });
  it('and the person goes on to where the connection was asked for', async () => {
    const { url } = await callbackUrl({ returnTo: '/about' });
    const { page } = await openPage(url);
    await page.click('main button');
    await page.waitForFunction(() => location.pathname === '/about');
  });
  it('only once: the same answer connects nothing', async () => {
    const { url } = await callbackUrl();
    await openPage(url);
    const { page } = await openPage(url);
    expect(await visible(page, 'h1')).toBe('Not connected');
    expect(await visible(page, '[role="alert"]')).toContain('was used already');
  });
  it.each(['light', 'dark'] as const)('on a page that everybody can read in %s colors, on a telephone too', async (scheme) => {
    for (const width of [1280, 390]) {
      const { page, problems } = await openPage((await callbackUrl()).url, {}, scheme, width);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      expect(await page.evaluate(lowContrast)).toEqual([]);
      expect(problems).toEqual([]);
      await keepPicture(page, `connect-${scheme}-${width}`);
    }
  });
});
