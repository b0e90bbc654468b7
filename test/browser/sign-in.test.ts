import type { Page } from 'puppeteer-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../support/browser/browser.ts';
import { openPage, visible } from '../support/browser/pages.ts';
import { withService } from '../support/service.ts';

const { service, make } = await withService();

async function newLink(): Promise<string> {
  const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
  const { body } = await ann.post('/api/v1/admin/sign-in-links', {});
  return new URL(body.url).hash;
}

const isShown = (page: Page, selector: string) => page.waitForSelector(selector, { visible: true });

/** Signs in by the link: one press. */
async function useLink(page: Page): Promise<void> {
  await Promise.all([page.waitForNavigation(), page.click('#use-link')]);
}

describe.skipIf(!hasBrowser())('signing in, in Chromium', () => {
  it('leads from a link to a result in GraphiQL, and signs out again', async () => {
    const hash = await newLink();
    const { page, problems, origins } = await openPage(`${service.url}/sign-in?next=/graphql${hash}`);
    await isShown(page, '#use-link');
    expect(page.url()).toBe(`${service.url}/sign-in?next=/graphql`);
    await useLink(page);
    expect(new URL(page.url()).pathname).toBe('/graphql');
    await page.waitForFunction(
      () => document.getElementById('key-status')?.textContent?.includes('signed in as Ann Example') === true,
    );
    const result = await page.waitForFunction(
      () => {
        const text = document.querySelector<HTMLElement>('.result-window')?.innerText ?? '';
        if (text.includes('"data"')) return text;
        document.querySelector<HTMLElement>('.graphiql-execute-button[aria-label^="Execute"]')?.click();
        return undefined;
      },
      { polling: 1_000 },
    );
    expect(await result.jsonValue()).not.toContain('"errors"');
    // The cookie is out of reach of scripts.
    expect(await page.evaluate(() => document.cookie)).toBe('');
    await isShown(page, '#site-sign-out');
    expect(await visible(page, '#site-person')).toBe('Ann Example');
    await Promise.all([page.waitForNavigation(), page.click('#site-sign-out')]);
    await isShown(page, '#site-sign-in');
    await page.waitForFunction(() => document.getElementById('key-status')?.textContent?.includes('or sign in') === true);
    expect(problems).toEqual([]);
    expect([...origins]).toEqual([service.url]);
  });

  it('says that a link was used, and can be read and pressed by everybody', async () => {
    const { page } = await openPage(`${service.url}/sign-in#link=${'A'.repeat(43)}`);
    await isShown(page, '#use-link');
    await page.click('#use-link');
    await isShown(page, '#problem');
    expect(await visible(page, '#problem')).toContain('unknown, was used before, or is older than an hour');
    expect(await page.$eval('#problem', (element) => element.getAttribute('role'))).toBe('alert');
    expect(await visible(page, '#by-password')).toContain('E-mail address');
  });

  it('leads from a link to the chat in one press, offers a password later, and signs in by it', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const { body } = await ann.post('/api/v1/admin/sign-in-links', {});
    const { page, problems } = await openPage(`${service.url}/sign-in${new URL(body.url).hash}`);
    await isShown(page, '#use-link');
    await useLink(page);
    expect(new URL(page.url()).pathname).toBe('/');
    await isShown(page, 'nav a[href="/usage"]');
    const offer = 'section[aria-label="Signing in"]';
    expect(await page.$(offer)).toBeNull();
    await page.click('nav a[href="/usage"]');
    await isShown(page, offer);
    expect(await visible(page, offer)).toContain('Choose how to sign in next time.');
    await page.locator(`${offer} button`).click();
    await page.locator('input[autocomplete="new-password"]').fill('correct horse battery');
    await page.locator('form:has(input[autocomplete="new-password"]) button[type="submit"]').click();
    await page.waitForFunction(() => document.body.innerText.includes('The password is set.'));
    await page.click('nav a[href="/usage"]');
    await page.waitForFunction(() => location.pathname === '/usage');
    expect(await page.$(offer)).toBeNull();
    await page.goto(`${service.url}/sign-in?next=/docs`);
    await isShown(page, '#sign-out');
    await page.click('#sign-out');
    await isShown(page, '#by-password');
    await page.locator('#email').fill(ann.email);
    await page.locator('#password').fill('correct horse battery');
    await Promise.all([page.waitForNavigation(), page.click('#use-password')]);
    expect(new URL(page.url()).pathname).toBe('/docs');
    expect(problems).toEqual([]);
  });

  it('shows no field for a password where only providers sign in', async () => {
    const ways = { isSignedIn: false, passkeyHost: null, hasOwnWays: false, providers: [{ name: 'one', label: 'One' }] };
    const answers = { '/sign-in/session': { status: 200, body: JSON.stringify(ways) } };
    const { page } = await openPage(`${service.url}/sign-in?next=/docs`, answers);
    await isShown(page, '.provider');
    expect(await page.$$eval('.provider', (links) => links.map((link) => link.getAttribute('href')))).toEqual([
      '/sign-in/oidc/one?next=%2Fdocs',
    ]);
    expect(await page.$$('input')).toHaveLength(1);
    expect(await page.$('#password')).toBeNull();
  });

  it.each([
    ['//evil.example/x', '/'],
    ['/\\evil.example/x', '/'],
    ['https://evil.example/x', '/'],
    ['javascript:alert(1)', '/'],
    ['/.//evil.example/x', '//evil.example/x'],
    ['/docs?x=1', '/docs'],
  ])('leads to addresses of its own only: %s', async (next, path) => {
    const { page } = await openPage(`${service.url}/sign-in?next=${encodeURIComponent(next)}${await newLink()}`);
    await isShown(page, '#use-link');
    await useLink(page);
    const { origin, pathname } = new URL(page.url());
    expect({ origin, pathname }).toEqual({ origin: service.url, pathname: path });
  });
});
