import type { HTTPRequest, Page } from 'puppeteer-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../support/browser.ts';
import { openPage, visible } from '../../support/pages.ts';
import { withService } from '../../support/service.ts';

const { service } = await withService();

async function enterKey(page: Page, key: string): Promise<void> {
  await page.locator('#key').fill(key);
  await page.click('#key-use');
}

const waitForStatus = (page: Page, words: string) =>
  page.waitForFunction((part) => document.getElementById('key-status')?.textContent?.includes(part) === true, {}, words);

const accepted = 'Requests use the key of';

/** Queries and mutations go as POST, a subscription may go as GET with the document in its address. */
function runsOperation(request: HTTPRequest, name: string): boolean {
  const sent = request.postData() ?? decodeURIComponent(request.url().replaceAll('+', ' '));
  return new URL(request.url()).pathname === '/graphql' && sent.includes(` ${name}{`);
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
  it('opens with five examples, each of which runs', async () => {
    const { page } = await openPage(`${service.url}/graphql`);
    await enterKey(page, service.adminKey);
    await waitForStatus(page, accepted);
    const expected = ['"viewer"', '"createAgent"', '"completionEvents"', '"usageDays"', '"createCompletion"'];
    const names = await page.$$eval('.graphiql-tab-button', (tabs) => tabs.map((tab) => tab.textContent?.trim() ?? ''));
    expect(names).toEqual(['Agents', 'CreateAgent', 'StreamChat', 'Usage', 'RunCompletion']);
    for (const [index, member] of expected.entries()) {
      await page.evaluate((place) => document.querySelectorAll<HTMLElement>('.graphiql-tab-button')[place]?.click(), index);
      await page.waitForFunction(
        (place) => document.querySelectorAll('.graphiql-tab')[place]?.classList.contains('graphiql-tab-active') === true,
        {},
        index,
      );
      const replied = page.waitForResponse((reply) => runsOperation(reply.request(), names[index] ?? ''));
      await page.click('.graphiql-execute-button');
      const text = await (await replied).text();
      expect(text).toContain(member);
      expect(text).not.toContain('"errors"');
    }
  });
});

describe.skipIf(!hasBrowser())('the reference in Chromium', () => {
  it('shows operations, without a request to anywhere else', async () => {
    const { page, problems, origins } = await openPage(`${service.url}/docs`);
    await page.waitForSelector('.opblock');
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
    await page.locator('.operation-filter-input').fill('list ais');
    await page.locator('.opblock-summary-control').click();
    await page.locator('.try-out__btn').click();
    const replied = page.waitForResponse((reply) => new URL(reply.url()).pathname === '/api/v1/ais');
    await page.locator('.execute').click();
    expect((await replied).status()).toBe(200);
  });
});
