import type { Page } from 'puppeteer-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../support/browser/browser.ts';
import { lowContrast } from '../support/browser/low-contrast.ts';
import { keepPicture, openPage, visible } from '../support/browser/pages.ts';
import { withService } from '../support/service.ts';

const { service, make } = await withService();

/** Types into the search, and waits for the results of the last letter. */
async function search(page: Page, words: string): Promise<void> {
  await page.locator('#site-search').fill(words);
  await page.waitForSelector('#site-results:not([hidden])');
}

/** What stands under the arrow keys, as the field tells assistive technology. */
const reached = (page: Page) =>
  page.evaluate(() => {
    const id = document.getElementById('site-search')?.getAttribute('aria-activedescendant') ?? '';
    return document.getElementById(id)?.querySelector('.site-title')?.textContent;
  });

const groups = (page: Page) => page.$$eval('#site-results [role="group"]', (found) => found.map((group) => group.ariaLabel));

describe.skipIf(!hasBrowser())('the search of the header, in Chromium', () => {
  it('is reached by "/", walked by arrows, left by Escape, and followed by Enter', async () => {
    const { page, problems, origins } = await openPage(`${service.url}/about`);
    await page.keyboard.press('/');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('site-search');
    await search(page, 'chats');
    expect(await reached(page)).toBe('Chats');
    const selected = () => page.$$eval('[role="option"]', (found) => found.findIndex((option) => option.ariaSelected === 'true'));
    await page.keyboard.press('ArrowDown');
    expect(await selected()).toBe(1);
    await page.keyboard.press('ArrowUp');
    expect(await selected()).toBe(0);
    await page.keyboard.press('Escape');
    expect(await page.$('#site-results:not([hidden])')).toBeNull();
    await page.keyboard.press('ArrowDown');
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    expect(page.url()).toBe(`${service.url}/manual/docs/chats.md`);
    expect(problems).toEqual([]);
    expect([...origins]).toEqual([service.url]);
  });
  it('types a slash where letters are text', async () => {
    const { page } = await openPage(`${service.url}/docs`);
    await page.waitForSelector('.operation-filter-input');
    await page.focus('.operation-filter-input');
    await page.keyboard.type('/api/v1/chats');
    expect(await page.$eval('.operation-filter-input', (field) => (field as HTMLInputElement).value)).toBe('/api/v1/chats');
  });
  it('leads to an operation of the reference, from another page and from the reference itself', async () => {
    const { page } = await openPage(`${service.url}/manual`);
    await search(page, 'generate profile');
    expect(await groups(page)).toContain('REST');
    await page.click('#site-results [href^="/docs#"]');
    const isOpen = (id: string) => page.waitForSelector(`#${id}.is-open`);
    await isOpen('operations-Agents-generateAgentProfile');
    await search(page, 'post user-inputs');
    await page.click('#site-results [href^="/docs#/Agent%20user%20inputs/"]');
    await page.waitForSelector('[id^="operations-Agent_user_inputs-"].is-open');
  });
  it('leads to a document in GraphiQL that runs', async () => {
    const link = await make.person({ role: 'ADMIN', name: 'Ann Example' });
    const { body } = await link.post('/api/v1/admin/sign-in-links', {});
    const { page } = await openPage(`${service.url}/sign-in?next=/manual${new URL(body.url).hash}`);
    await page.locator('#use-link').click();
    await page.waitForFunction(() => location.pathname === '/manual');
    await search(page, 'agents');
    await page.click('#site-results [href^="/graphql?query=query+Agents"]');
    const result = await page.waitForFunction(
      () => {
        const text = document.querySelector<HTMLElement>('.result-window')?.innerText ?? '';
        if (text.includes('"agents"')) return text;
        document.querySelector<HTMLElement>('.graphiql-execute-button[aria-label^="Execute"]')?.click();
        return undefined;
      },
      { polling: 1_000 },
    );
    expect(await result.jsonValue()).not.toContain('"errors"');
    expect(await visible(page, '#site-person')).toBe('Ann Example');
  });
  it('says when there is nothing, and shows what somebody typed as text', async () => {
    const { page } = await openPage(`${service.url}/about`);
    await search(page, '<img src=x> zzz');
    expect(await visible(page, '#site-results')).toBe('Nothing found for “<img src=x> zzz”.');
    expect(await visible(page, '#site-found')).toBe('0 results');
  });
  it.each(['light', 'dark'] as const)('can be read by everybody in %s colors, on a telephone too', async (scheme) => {
    for (const [path, ready] of [
      ['/manual/docs/knowledge.md', 'article'],
      ['/graphql', '.graphiql-tab-button'],
      ['/docs', '.opblock'],
    ] as const) {
      for (const width of [1280, 390]) {
        const { page, problems, close } = await openPage(`${service.url}${path}`, {}, scheme, width);
        await page.waitForSelector(ready);
        await page.waitForSelector('[data-state="signed-out"]');
        await search(page, 'schedule');
        expect([path, width, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, width, width]);
        const within = await page.$eval('#site-results', (list) => {
          const { left, right } = list.getBoundingClientRect();
          return left >= 0 && right <= window.innerWidth;
        });
        expect([path, width, within]).toEqual([path, width, true]);
        // The colors of Swagger UI and of the editor are their own.
        const header = await page.evaluate(lowContrast, '.site-header');
        const bar = await page.evaluate(lowContrast, '.key-bar');
        expect([path, width, header, bar]).toEqual([path, width, [], []]);
        expect(problems).toEqual([]);
        await keepPicture(page, `search${path.replaceAll('/', '-')}-${scheme}-${width}`);
        await close();
      }
    }
  });
});
