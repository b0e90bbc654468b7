import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { accessibilityFaults, checkScreen, keepConsolePicture, openConsole } from '../../../support/browser/console.ts';
import { sessionFor } from '../../../support/browser/console-sessions.ts';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const { service, make, upstream } = await withService('model', { env: { SHARE_WITH_ANYONE: 'on' } });

const organization = await make.organization();
const ann = await make.person({ organization, name: 'Ann Example' });
const bob = await make.person({ organization, name: 'Bob Reader' });
const boss = await make.person({ organization, name: 'Berta Boss', role: 'ADMIN' });
const agentId = (await make.agent({ owner: ann, name: 'Harbour pilot', visibility: 'ORGANIZATION' })).id;

async function newChat(prompt = 'When is high tide?', answer = 'At **noon**.'): Promise<string> {
  const { id } = await make.chat({ owner: ann, agentId, name: 'Tides' });
  upstream.next({ text: answer });
  await ann.post(`/api/v1/chats/${id}/messages`, { prompt });
  return id;
}
async function share(chatId: string, input: object): Promise<string> {
  const document = 'mutation ($chatId: ID!, $input: ShareChatInput!) { shareChat(chatId: $chatId, input: $input) { url } }';
  const { url } = (await ann.graphql(document, { chatId, input })).data.shareChat;
  return `/shared#${url.split('#')[1]}`;
}

/** The page of a link: in a session of a person, or without one. */
async function openShared(who: Person | undefined, path: string, heading: string): Promise<Page> {
  let page: Page;
  if (who === undefined) {
    ({ page } = await sessionFor(service.url, {
      colorScheme: 'light',
      deviceScaleFactor: 1,
      locale: 'en-US',
      reducedMotion: 'reduce',
    }));
  } else ({ page } = await openConsole(service, who, '/shares'));
  await page.goto(service.url + path);
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
  return page;
}

describe.skipIf(!hasBrowser())('sharing a chat', () => {
  it('is a link for people whom one names, shown once, which they open and go on from', async () => {
    const { page } = await openConsole(service, ann, `/chats/${await newChat()}`);
    await page.getByRole('button', { name: 'Share this chat' }).click();
    const dialog = page.getByRole('dialog', { name: 'Share this chat' });
    await dialog.getByLabel('Who may open it').selectOption({ label: 'People I name' });
    await dialog.getByLabel('Their e-mail addresses').fill('nobody@example.com');
    await dialog.getByRole('button', { name: 'Make a link' }).click();
    await dialog.getByText('no member of the organization').waitFor();
    await dialog.getByLabel('Their e-mail addresses').fill(bob.email);
    await dialog.getByLabel('When it ends').selectOption({ label: 'In a week' });
    await dialog.getByRole('button', { name: 'Make a link' }).click();
    const url = (await dialog.getByRole('region', { name: 'Link to the chat' }).textContent()) ?? '';
    await dialog.getByText('Bob Reader').waitFor();
    await checkScreen(page, 'share-dialog');

    const reader = await openShared(bob, `/shared${new URL(url).hash}`, 'Tides');
    await reader.getByText('Shared by Ann Example').waitFor();
    expect(await reader.getByRole('region', { name: 'Transcript' }).textContent()).toContain('At noon.');
    await checkScreen(reader, 'shared-chat');
    upstream.next({ text: 'At six.' });
    await reader.getByRole('button', { name: 'Go on from here' }).click();
    await reader.getByRole('textbox', { name: 'Message' }).fill('And tomorrow?');
    await reader.keyboard.press('Enter');
    await reader.getByRole('region', { name: 'Transcript' }).getByText('At six.').waitFor();

    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await dialog.getByText('Revoked').waitFor();
    const late = await openShared(bob, `/shared${new URL(url).hash}`, 'This link opens nothing');
    await late.getByText('it is not for you').waitFor();
  });

  it('grows before the eyes of a reader', async () => {
    const chatId = await newChat();
    const page = await openShared(bob, await share(chatId, { audience: 'ORGANIZATION', mode: 'GROWING' }), 'Tides');
    await page.getByText('it grows while they talk').waitFor();
    upstream.next({ text: 'At six.' });
    await ann.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'And tomorrow?' });
    await page.getByText('At six.').waitFor();
  });

  it('says how many sources are hidden from the reader', async () => {
    const own = await make.agent({ owner: ann, name: 'Mechanic', visibility: 'PRIVATE', generateCitations: true });
    const source = await make.apiDataSource({ owner: ann, agentId: own.id, data: { repair: 'A puncture repair costs 15 euro' } });
    await indexed(ann, source.id);
    const { id } = await make.chat({ owner: ann, agentId: own.id, name: 'Repairs' });
    upstream.next({ text: 'It costs 15 euro [1].' });
    await ann.post(`/api/v1/chats/${id}/messages`, { prompt: 'What does a puncture repair cost?' });
    const page = await openShared(bob, await share(id, { audience: 'ORGANIZATION' }), 'Repairs');
    await page.getByText('1 source is hidden from you').waitFor();
    await page.getByText('you cannot go on from here').waitFor();
    expect(await page.getByText('costs 15 euro').count()).toBe(1);
  });

  it('with anyone opens without a sign-in, and keeps the link while somebody signs in', async () => {
    const path = await share(await newChat(), { audience: 'ANYONE' });
    const page = await openShared(undefined, path, 'Tides');
    await page.getByText('Sign in to go on from here').waitFor();
    await checkScreen(page, 'shared-with-anyone');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL((url) => url.pathname === '/sign-in');
    await page.goto(new URL('/shared', service.url).href);
    await page.getByRole('heading', { name: 'Tides' }).waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    const closed = await openShared(
      undefined,
      await share(await newChat(), { audience: 'ORGANIZATION' }),
      'This link opens nothing',
    );
    await closed.getByText('for people who are signed in').waitFor();
  });

  it('is listed: one’s own, and for administrators all, without the chats of others', async () => {
    await share(await newChat(), { audience: 'ORGANIZATION' });
    const { page } = await openConsole(service, ann, '/shares');
    await page.getByRole('heading', { name: 'Shared chats' }).waitFor();
    await page.getByRole('link', { name: 'Tides' }).first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const { page: all } = await openConsole(service, boss, '/shares');
    await all.getByText('Nothing is shared').waitFor();
    await all.getByLabel('Whose links').selectOption({ label: 'Links of everybody' });
    await all.getByText('A chat you cannot read').first().waitFor();
    await keepConsolePicture(all, 'shares-of-all');
    await all.getByRole('button', { name: 'Revoke' }).first().click();
    await all.getByText('Revoked').first().waitFor();
  });
});
