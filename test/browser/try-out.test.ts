import type { Page } from 'puppeteer-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../support/browser/browser.ts';
import { openPage, visible } from '../support/browser/pages.ts';
import { withService } from '../support/service.ts';

const { service } = await withService();

async function enterKey(page: Page, key: string): Promise<void> {
  await page.locator('#key').fill(key);
  await page.click('#key-use');
}

const waitForStatus = (page: Page, words: string) =>
  page.waitForFunction((part) => document.getElementById('key-status')?.textContent?.includes(part) === true, {}, words);

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
  readonly tags: readonly { readonly name: string }[];
}

const accepted = 'Requests use the key of';

/**
 * Runs the operation of the tab in view until its answer has the words. GraphiQL takes a moment after a change of tabs to see the name of the
 * operation, and asks for that of the tab before when it is run at once: so this runs it again, as a person would.
 */
async function answerOf(page: Page, words: string): Promise<string> {
  const found = await page.waitForFunction(
    (part) => {
      const text = document.querySelector<HTMLElement>('.result-window')?.innerText ?? '';
      if (text.includes(part)) return text;
      document.querySelector<HTMLElement>('.graphiql-execute-button[aria-label^="Execute"]')?.click();
      return undefined;
    },
    { polling: 1000 },
    words,
  );
  return (await found.jsonValue()) ?? '';
}

describe.skipIf(!hasBrowser())('GraphiQL in Chromium', () => {
  it('asks for a key without an error, then shows the schema, without a request to anywhere else', async () => {
    const { page, problems, origins } = await openPage(`${service.url}/graphql`);
    await page.waitForSelector('.graphiql-execute-button');
    expect(await visible(page, '#key-status')).toContain('Enter a key');
    await page.click('.graphiql-execute-button');
    await page.waitForFunction(() => document.querySelector('.graphiql-response')?.textContent?.includes('Enter') === true);
    expect(await page.$('.graphiql-doc-explorer-error')).toBeNull();
    const schemaLoaded = page.waitForResponse((reply) => reply.request().postData()?.includes('__schema') === true);
    await enterKey(page, service.adminKey);
    expect((await schemaLoaded).status()).toBe(200);
    await waitForStatus(page, accepted);
    expect(problems).toEqual([]);
    expect([...origins]).toEqual([service.url]);
  });
  it('explains a key that the service refuses, and does not keep it', async () => {
    const { page } = await openPage(`${service.url}/graphql`);
    for (const [key, words] of [
      ['pk_unknown', 'does not know this key'],
      ['kéy', 'neither spaces nor special characters'],
    ] as const) {
      await enterKey(page, key);
      await waitForStatus(page, words);
    }
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });
  it('keeps the key for this session only, and forgets it when told to', async () => {
    const { page } = await openPage(`${service.url}/graphql`);
    await enterKey(page, service.adminKey);
    await waitForStatus(page, accepted);
    expect(await page.evaluate(() => JSON.stringify([Object.entries(localStorage), document.cookie]))).not.toContain(
      service.adminKey,
    );
    await page.reload();
    await waitForStatus(page, accepted);
    await Promise.all([page.waitForNavigation(), page.click('#key-forget')]);
    await waitForStatus(page, 'Enter a key');
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });
  it('opens the same five tabs again after a visit that changed nothing', async () => {
    const { page } = await openPage(`${service.url}/graphql`);
    const names = () => page.$$eval('.graphiql-tab-button', (tabs) => tabs.map((tab) => tab.textContent?.trim() ?? ''));
    await page.waitForSelector('.graphiql-tab-button');
    const before = await names();
    expect(before).toHaveLength(5);
    // Tabs are stored a moment after they were shown.
    await page.waitForFunction(() => localStorage.getItem('graphiql:tabState') !== null);
    await page.reload();
    await page.waitForSelector('.graphiql-tab-button');
    expect(await names()).toEqual(before);
  });
  it('shows the growing text on a phone, below the document, and nothing beside the window', async () => {
    const { page } = await openPage(`${service.url}/graphql`);
    await page.setViewport({ width: 390, height: 844, isMobile: true, hasTouch: true });
    await enterKey(page, service.adminKey);
    await waitForStatus(page, accepted);
    await page.evaluate(() => document.querySelectorAll<HTMLElement>('.graphiql-tab-button')[2]?.click());
    await page.waitForFunction(
      () => document.querySelectorAll('.graphiql-tab')[2]?.classList.contains('graphiql-tab-active') === true,
    );
    // A word of the answer itself; the page writes its spaces in other signs.
    expect(await answerOf(page, 'conversation')).toContain('"text"');
    const { width, response, editor } = await page.evaluate(() => ({
      width: document.documentElement.scrollWidth,
      response: document.querySelector('.graphiql-response')?.getBoundingClientRect().toJSON(),
      editor: document.querySelector('.graphiql-editors')?.getBoundingClientRect().toJSON(),
    }));
    expect(width).toBeLessThanOrEqual(390);
    expect(response.top).toBeGreaterThanOrEqual(editor.bottom - 1);
    expect(response.width).toBeGreaterThan(250);
  });
  it('opens with five examples, each of which runs', async () => {
    const { page } = await openPage(`${service.url}/graphql`);
    await enterKey(page, service.adminKey);
    await waitForStatus(page, accepted);
    const expected = ['"viewer"', '"createAgent"', '"completionEvents"', '"usage"', '"createCompletion"'];
    const names = await page.$$eval('.graphiql-tab-button', (tabs) => tabs.map((tab) => tab.textContent?.trim() ?? ''));
    expect(names).toEqual(['Agents', 'CreateAgent', 'StreamChat', 'Usage', 'RunCompletion']);
    for (const [index, member] of expected.entries()) {
      await page.evaluate((place) => document.querySelectorAll<HTMLElement>('.graphiql-tab-button')[place]?.click(), index);
      await page.waitForFunction(
        (place) => document.querySelectorAll('.graphiql-tab')[place]?.classList.contains('graphiql-tab-active') === true,
        {},
        index,
      );
      expect(await answerOf(page, member)).not.toContain('"errors"');
    }
  });
});

describe.skipIf(!hasBrowser())('the reference in Chromium', () => {
  it('shows all operations by subject, without a request to anywhere else', async () => {
    const { page, problems, origins } = await openPage(`${service.url}/docs`);
    await page.waitForSelector('.opblock');
    const { paths, tags } = (await (await fetch(`${service.url}/openapi.json`)).json()) as Description;
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
    expect(operations.length).toBeGreaterThan(100);
    // The page draws what is in view: a reader scrolls through it.
    const shown = await page.evaluate(async () => {
      const found = { operations: new Set<string>(), tags: new Set<string>() };
      let previous = -1;
      while (document.documentElement.scrollTop !== previous) {
        previous = document.documentElement.scrollTop;
        for (const block of document.querySelectorAll('.opblock')) found.operations.add(block.id.split('-').at(-1) ?? '');
        for (const tag of document.querySelectorAll<HTMLElement>('.opblock-tag')) found.tags.add(tag.dataset.tag ?? '');
        window.scrollBy(0, window.innerHeight / 2);
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      }
      return { operations: [...found.operations], tags: [...found.tags] };
    });
    expect(shown.operations.toSorted()).toEqual(operations.toSorted());
    expect(shown.tags.toSorted()).toEqual(tags.map(({ name }) => name).toSorted());
    expect(problems).toEqual([]);
    expect([...origins]).toEqual([service.url]);
  });
  it('filters operations by words of their method, path and summary', async () => {
    const { page } = await openPage(`${service.url}/docs`);
    await page.locator('.operation-filter-input').fill('post completions');
    await page.waitForFunction(() => document.querySelectorAll('.opblock').length < 5);
    const paths = await page.$$eval('.opblock', (found) => found.map((each) => each.id));
    expect(paths).toEqual(['operations-Completions-createChatCompletion', 'operations-Completions-createThreadlessCompletion']);
  });
  it('tries an operation with the key of the session', async () => {
    const { page } = await openPage(`${service.url}/graphql`);
    await enterKey(page, service.adminKey);
    await waitForStatus(page, accepted);
    await page.goto(`${service.url}/docs`);
    await waitForStatus(page, accepted);
    await page.locator('.operation-filter-input').fill('agents list ais');
    await page.waitForFunction(() => document.querySelectorAll('.opblock').length < 5);
    await page.locator('.opblock-summary-control').click();
    await page.locator('.try-out__btn').click();
    const replied = page.waitForResponse((reply) => new URL(reply.url()).pathname === '/api/v1/ais');
    await page.locator('.execute').click();
    expect((await replied).status()).toBe(200);
  });
});
