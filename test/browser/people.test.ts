import type { Page } from 'puppeteer-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../support/browser.ts';
import { openPage, visible } from '../support/pages.ts';
import { withService } from '../support/service.ts';

const { service, make } = await withService();
const password = 'correct horse battery';
const isShown = (page: Page, selector: string) => page.waitForSelector(selector, { visible: true });

/** Calls GraphQL as a page of the service does: in the session of the browser. */
function ask(page: Page, query: string) {
  return page.evaluate(async (document) => {
    const reply = await fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'graphql-require-preflight': 'true' },
      body: JSON.stringify({ query: document }),
    });
    return reply.json();
  }, query);
}

describe.skipIf(!hasBrowser())('people, in Chromium', () => {
  it('leads from a link to a password, from there to an invitation, and the invited person in on a small screen', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const { body } = await ann.post('/api/v1/admin/sign-in-links', {});
    const { page } = await openPage(`${service.url}/sign-in?next=/docs${new URL(body.url).hash}`);
    await isShown(page, '#use-link');
    await page.click('#use-link');
    await isShown(page, '#set-password');
    await page.locator('#new-password').fill(password);
    await Promise.all([page.waitForNavigation(), page.click('#save-password')]);
    const email = `invited-${Date.now()}@example.com`;
    const { data } = await ask(page, `mutation { invite(input: { email: "${email}" }) { url } }`);

    const invited = await openPage(`${service.url}/docs`);
    await invited.page.setViewport({ width: 390, height: 800 });
    await invited.page.goto(data.invite.url);
    await isShown(invited.page, '#by-invitation');
    expect(invited.page.url()).toBe(`${service.url}/sign-in`);
    expect(await visible(invited.page, '#by-invitation')).toContain('You are invited to');
    expect(await invited.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await invited.page.locator('#invited-name').fill('Bob Example');
    await invited.page.locator('#invited-password').fill(password);
    await Promise.all([invited.page.waitForNavigation(), invited.page.click('#accept')]);
    expect(new URL(invited.page.url()).pathname).toBe('/graphql');
    const { data: own } = await ask(invited.page, '{ viewer { role user { name email } } }');
    expect(own.viewer).toEqual({ role: 'MEMBER', user: { name: 'Bob Example', email } });
    expect(invited.problems).toEqual([]);

    const again = await openPage(`${service.url}/sign-in${new URL(data.invite.url).hash}`);
    await isShown(again.page, '#problem');
    expect(await visible(again.page, '#problem')).toContain('was used before');
    await isShown(again.page, '#by-password');
  });
});
