import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { checkScreen, openConsole } from '../../../support/browser/console.ts';
import { withService } from '../../../support/service.ts';
import { heldAnswer } from '../../../support/upstream.ts';

const { service, make, upstream } = await withService('model');

const ann = await make.person({ name: 'Ann Example' });
const agentId = (await make.agent({ owner: ann, name: 'Harbour pilot' })).id;

const chat = (name: string) => make.chat({ owner: ann, agentId, name });

describe.skipIf(!hasBrowser())('the list of chats', () => {
  it('renames, pins, exports, finds and deletes chats', async () => {
    await chat('Winter tyres');
    const summer = await chat('Summer tyres');
    const { page, problems } = await openConsole(service, ann);
    const list = page.getByRole('navigation', { name: 'Chats' });
    const act = async (name: string, what: string) => {
      const item = page.getByRole('menuitem', { name: what });
      await list.getByRole('link', { name }).hover();
      await list.getByRole('button', { name: `More about ${name}` }).click();
      await item.click();
    };
    await act('Winter tyres', 'Pin');
    await list.getByRole('region', { name: 'Pinned' }).getByRole('link', { name: 'Winter tyres' }).waitFor();
    await act('Summer tyres', 'Rename');
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Tyres for July');
    // What is typed stays when the chat moves to another part of the list meanwhile.
    await ann.patch(`/api/v1/chats/${summer.id}`, { pinPosition: 1 });
    await page.locator('section[aria-label=Pinned]').getByText('Summer tyres').waitFor();
    await page.keyboard.press('Enter');
    await list.getByRole('link', { name: 'Tyres for July' }).waitFor();
    // Nor does it move while its menu is open; another window tells that the change has come.
    const { page: other } = await openConsole(service, ann);
    await list.getByRole('button', { name: 'More about Tyres for July' }).click();
    await ann.patch(`/api/v1/chats/${summer.id}`, { pinPosition: null });
    const today = 'section[aria-label=Today]';
    await other.locator(today).getByText('Tyres for July').waitFor();
    await page.getByRole('menuitem', { name: 'Pin' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator(today).getByText('Tyres for July').waitFor();
    await checkScreen(page, 'chat-list');
    const [file] = await Promise.all([page.waitForEvent('download'), act('Tyres for July', 'Export as Markdown')]);
    expect(readFileSync(await file.path(), 'utf8')).toContain('Tyres for July');
    await list.getByRole('searchbox', { name: 'Search chats' }).fill('july');
    await list.getByRole('region', { name: 'Found' }).getByRole('link').waitFor();
    expect(await list.getByRole('link', { name: 'Winter tyres' }).count()).toBe(0);
    await list.getByRole('searchbox', { name: 'Search chats' }).fill('');
    await act('Tyres for July', 'Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await list.getByRole('link', { name: 'Tyres for July' }).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  it('shows at once what happens elsewhere: a new chat, a run, an answer that nobody has read, in the chat that is open too', async () => {
    const { page } = await openConsole(service, ann);
    const list = page.getByRole('navigation', { name: 'Chats' });
    await list.getByRole('link', { name: 'New chat' }).waitFor();
    const { id } = await chat('From elsewhere');
    const entry = list.getByRole('link', { name: 'From elsewhere' });
    await entry.waitFor();
    const held = heldAnswer({ text: ['At ', 'noon.'] });
    upstream.next(held.script, { text: 'Again at noon.' });
    const sending = ann.post(`/api/v1/chats/${id}/messages`, { prompt: 'When?' });
    await entry.getByRole('status', { name: 'Is being answered' }).waitFor();
    held.goOn();
    await sending;
    await entry.getByRole('img', { name: 'Unread' }).waitFor();
    await entry.click();
    const transcript = page.getByRole('region', { name: 'Transcript' });
    await transcript.getByText('At noon.', { exact: true }).waitFor();
    await entry.getByRole('img', { name: 'Unread' }).waitFor({ state: 'detached' });
    await ann.post(`/api/v1/chats/${id}/messages`, { prompt: 'And tomorrow?' });
    await transcript.getByText('Again at noon.').waitFor();
    await transcript.getByText('And tomorrow?').waitFor();
  });

  it('keeps what was written, and sends files with it', async () => {
    upstream.next({ text: 'It is a list.' });
    const { page } = await openConsole(service, ann, `/?agent=${agentId}`);
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.pressSequentially('What is this');
    await page.keyboard.press('Shift+Enter');
    await box.pressSequentially('file?');
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    await page.goBack();
    expect(await box.inputValue()).toBe('What is this\nfile?');
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('a, b') });
    await page.getByRole('list', { name: 'Files of the message' }).getByText('list.txt').waitFor();
    await checkScreen(page, 'chat-file');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const transcript = page.getByRole('region', { name: 'Transcript' });
    await transcript.getByText('It is a list.').waitFor();
    await transcript.getByRole('link', { name: /list\.txt/ }).waitFor();
    expect(await box.inputValue()).toBe('');
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('a, b');
  });

  it('lets ten tabs see an answer as it comes, over the six connections of a browser', async () => {
    const held = heldAnswer({ text: ['It ', 'comes.'] });
    upstream.next(held.script);
    const { page, context } = await openConsole(service, ann, `/?agent=${agentId}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('Does it come?');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.waitForURL('**/chats/*');
    const tabs = [page, ...(await Promise.all(Array.from({ length: 9 }, () => context.newPage())))];
    for (const tab of tabs.slice(1)) await tab.goto(page.url());
    for (const tab of tabs) await tab.getByText('It', { exact: true }).waitFor();
    held.goOn();
    for (const tab of tabs) await tab.getByText('It comes.').waitFor();
  });
});
