import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { openConsole } from '../../../support/browser/console.ts';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';
import { heldAnswer, type UpstreamScript } from '../../../support/upstream.ts';

const { service, make, upstream } = await withService('model');
let ann: Person;
let agentId: string;

beforeAll(async () => {
  ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
  agentId = (await make.agent({ owner: ann, name: 'Harbour pilot' })).id;
  const parameters = { type: 'object', properties: { part: { type: 'string' } } };
  const order = {
    method: 'POST',
    url: 'http://127.0.0.1:9/orders',
    parameters,
    body: '{"part":"{part}"}',
    requireApproval: true,
  };
  const { status } = await ann.post(`/api/v1/ais/${agentId}/tools`, { name: 'order', type: 'API_FUNCTION', data: order });
  expect(status).toBe(200);
});

const hasFocus = (target: Locator) => target.evaluate((element) => element === document.activeElement);
const expectFocus = (target: Locator) => expect.poll(() => hasFocus(target), { timeout: 10_000 }).toBe(true);
const expectNews = (page: Page, text: string) => page.getByRole('status', { name: 'News' }).getByText(text).waitFor();
const ask = async (page: Page, text: string) => {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.keyboard.press('Enter');
};

describe.skipIf(!hasBrowser())('the focus of the keyboard', () => {
  it('goes from Stop to the box, and what happens is said once', async () => {
    const held = heldAnswer({ text: ['The tide ', 'turns.'] });
    upstream.next(held.script);
    const { page } = await openConsole(service, ann, `/?agent=${agentId}`);
    await ask(page, 'When?');
    await page.waitForURL('**/chats/*');
    await expectNews(page, 'An answer is coming.');
    const stop = page.getByRole('button', { name: 'Stop' });
    await stop.focus();
    await page.keyboard.press('Enter');
    await stop.waitFor({ state: 'detached' });
    await expectFocus(page.getByRole('textbox', { name: 'Message' }));
    await expectNews(page, 'Stopped.');
    held.goOn();
    upstream.next({ text: 'At noon.' });
    await ask(page, 'And now?');
    await expectNews(page, 'The answer is there.');
  });

  it('stays near a call that was approved, which was said to wait', async () => {
    const call: UpstreamScript = { toolCalls: [{ id: 'call_1', name: 'order', arguments: '{"part":"tube"}' }] };
    upstream.next(call, { text: 'It could not be ordered.' });
    const { page } = await openConsole(service, ann, `/?agent=${agentId}`);
    await ask(page, 'Order a tube');
    await expectNews(page, 'A call waits for your approval.');
    await page.getByRole('button', { name: 'Approve' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Transcript' }).getByText('It could not be ordered.').waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).not.toBe('BODY');
  });

  it('returns from the dialog of a menu to the button of the menu', async () => {
    await make.chat({ owner: ann, agentId, name: 'Tides' });
    await make.chat({ owner: ann, agentId, name: 'Berths' });
    const { page } = await openConsole(service, ann, '/');
    const chats = page.getByRole('navigation', { name: 'Chats' });
    const entry = chats.getByRole('listitem').filter({ hasText: 'Tides' });
    const more = entry.getByRole('button');
    await more.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Rename' }).press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await expectFocus(more);
    const isInList = () => chats.evaluate((element) => element.contains(document.activeElement));
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Delete' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
    await entry.waitFor({ state: 'detached' });
    // What is nearest: something of the list.
    await expect.poll(isInList).toBe(true);
  });

  it('stays in a menu, and in a field, when a chat comes late', async () => {
    const moorings = await make.chat({ owner: ann, agentId, name: 'Moorings' });
    const pilots = await make.chat({ owner: ann, agentId, name: 'Pilots' });
    const { page } = await openConsole(service, ann, '/');
    const chats = page.getByRole('navigation', { name: 'Chats' });
    // As from a link that was followed before: the code of the chat, or its transcript, was on its way.
    const comes = async ({ id, name }: { readonly id: string; readonly name: string }) => {
      await page.evaluate((path) => history.pushState(null, '', path), `/chats/${id}`);
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await page.getByRole('textbox', { name: 'Message' }).waitFor();
    };
    await chats.getByRole('button', { name: 'More about Moorings' }).click();
    const rename = page.getByRole('menuitem', { name: 'Rename' });
    await rename.waitFor();
    await comes(moorings);
    await rename.press('Escape');
    const search = page.getByRole('searchbox', { name: 'Search chats' });
    await search.pressSequentially('moor');
    await comes(pilots);
    await expectFocus(search);
  });

  it('stays on a button while what it does goes on', async () => {
    const { page } = await openConsole(service, ann, '/account');
    const box = page.getByRole('textbox', { name: 'Name' });
    await box.fill('Ann Example');
    const save = page.getByRole('button', { name: 'Save' }).first();
    await box.fill('Ann Sample');
    await save.focus();
    await page.keyboard.press('Enter');
    // Nothing is left to save.
    await expect.poll(() => save.isDisabled()).toBe(true);
    await expect.poll(() => page.evaluate(() => document.activeElement?.matches('body, :disabled'))).toBe(false);
  });
});

describe.skipIf(!hasBrowser())('what happens without a look at it', () => {
  it('is said: an answer that failed, a function that waits for its output', async () => {
    const { page } = await openConsole(service, ann, `/?agent=${agentId}`);
    upstream.next({ status: 400 });
    await ask(page, 'When?');
    await expectNews(page, 'The answer failed.');
    const client = { type: 'object', properties: { place: { type: 'string' } } };
    const tool = { name: 'look', type: 'CLIENT_FUNCTION', data: { description: 'Looks.', parameters: client } };
    const { body, status } = await ann.post(`/api/v1/ais/${agentId}/tools`, tool);
    expect(status, JSON.stringify(body)).toBe(200);
    upstream.next({ toolCalls: [{ id: 'call_2', name: 'look', arguments: '{"place":"quay"}' }] });
    await ask(page, 'Look');
    await expectNews(page, 'A function waits for its output.');
  });

  it('is said: that the indexing of a source has ended', async () => {
    const { page } = await openConsole(service, ann, '/knowledge');
    const source = await make.apiDataSource({ owner: ann, agentId, name: 'Tides', data: { high: 'noon' } });
    await page.getByRole('link', { name: 'Tides' }).waitFor();
    await indexed(ann, source.id);
    const news = page.getByRole('status', { name: 'News' }).getByText('Tides: Ready');
    // The page may have been told nothing of the first reading: all is read anew while it looks.
    await expect.poll(() => page.getByRole('row', { name: 'Tides' }).getByText('Ready').count()).toBe(1);
    const again = 'mutation ($id: ID!) { refreshDataSource(id: $id, forceRefresh: true) { id } }';
    const { data } = await ann.graphql(again, { id: source.id });
    expect(data).toEqual({ refreshDataSource: { id: source.id } });
    await news.waitFor();
  });
});

describe.skipIf(!hasBrowser())('a choice of a menu', () => {
  it('says which colors and which language hold', async () => {
    const { page } = await openConsole(service, ann, '/usage');
    const you = page.getByRole('button', { name: /^You: / });
    await you.click();
    await page.getByRole('menuitemradio', { name: 'Colors of the device', checked: true }).waitFor();
    await page.getByRole('menuitemradio', { name: 'English', checked: true }).waitFor();
    await page.getByRole('menuitemradio', { name: 'Dark colors', checked: false }).click();
    await you.click();
    await page.getByRole('menuitemradio', { name: 'Dark colors', checked: true }).waitFor();
    await page.getByRole('menuitemradio', { name: 'Deutsch', checked: false }).click();
    await page.getByRole('button', { name: /^Sie: |^Du: |: Ann / }).click();
    await page.getByRole('menuitemradio', { name: 'Deutsch', checked: true }).waitFor();
    expect(await page.getByRole('menuitemradio', { checked: true }).count()).toBe(2);
  });
});
