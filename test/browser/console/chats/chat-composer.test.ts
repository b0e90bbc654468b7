import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { checkScreen, openConsole } from '../../../support/browser/console.ts';
import { holdReply } from '../../../support/browser/held-reply.ts';
import { look } from '../../../support/browser/look.ts';
import { withService } from '../../../support/service.ts';

const { service, make, upstream } = await withService('model');

const ann = await make.person({ name: 'Ann Example' });
const agentId = (await make.agent({ owner: ann, name: 'Harbour pilot' })).id;

const open = async (path: string) => {
  const { page } = await openConsole(service, ann, path);
  const box = page.getByRole('textbox', { name: 'Message' });
  const transcript = page.getByRole('region', { name: 'Transcript' });
  return { page, box, transcript };
};
const openChat = async () => open(`/chats/${(await make.chat({ owner: ann, agentId, name: 'Tides' })).id}`);

describe.skipIf(!hasBrowser())('the box of a chat', () => {
  it('is empty as soon as its message is on its way, and keeps what is written then', async () => {
    upstream.next({ text: 'At noon.' });
    const { page, box, transcript } = await openChat();
    const reply = await holdReply(page, 'mutation ChatSend');
    await box.fill('When is high tide?');
    await page.keyboard.press('Enter');
    await reply.isAnswered;
    expect(await box.inputValue()).toBe('');
    await box.pressSequentially('And tomorrow?');
    await reply.letGo();
    await transcript.getByText('At noon.').waitFor();
    expect(await box.inputValue()).toBe('And tomorrow?');
    await page.reload();
    await transcript.getByText('At noon.').waitFor();
    expect(await box.inputValue()).toBe('And tomorrow?');
  });

  it('gets a refused message back, before what was written since', async () => {
    const { page, box } = await openChat();
    const message = 'The service is out for lunch.';
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('mutation ChatSend(') !== true) return route.fallback();
      await expect.poll(() => box.inputValue()).toBe('And tomorrow?');
      await route.fulfill({ json: { data: null, errors: [{ message, extensions: { code: 'SERVICE_UNAVAILABLE' } }] } });
    });
    await box.fill('When is high tide?');
    await page.keyboard.press('Enter');
    await box.pressSequentially('And tomorrow?');
    await page.getByRole('alert').waitFor();
    expect(await box.inputValue()).toBe('When is high tide?\n\nAnd tomorrow?');
    await page.reload();
    await box.waitFor();
    await expect.poll(() => box.inputValue()).toBe('When is high tide?\n\nAnd tomorrow?');
  });

  it('goes on in the new chat with what was written while its first message was on its way', async () => {
    upstream.next({ text: 'At noon.' });
    const { page, box, transcript } = await open(`/?agent=${agentId}`);
    const reply = await holdReply(page, 'mutation ChatSend');
    await box.fill('When is high tide?');
    await page.keyboard.press('Enter');
    await reply.isAnswered;
    await box.pressSequentially('And tomorrow?');
    await reply.letGo();
    await transcript.getByText('At noon.').waitFor();
    expect(await box.inputValue()).toBe('And tomorrow?');
    await page.getByRole('link', { name: 'New chat' }).first().click();
    await page.waitForURL((url) => url.pathname === '/');
    expect(await box.inputValue()).toBe('');
  });

  it.each([
    ['a chat', openChat],
    ['a new chat', () => open(`/?agent=${agentId}`)],
  ])(
    'sends in %s what was entered while the message before was on its way, also when the page is hidden then',
    async (_place, openPlace) => {
      for (const text of ['At noon.', 'At one.']) upstream.next({ text });
      const { page, box, transcript } = await openPlace();
      const reply = await holdReply(page, 'mutation ChatSend');
      await box.fill('When is high tide?');
      await page.keyboard.press('Enter');
      await reply.isAnswered;
      await box.fill('And tomorrow?');
      await page.keyboard.press('Enter');
      await look(page, 'hidden');
      expect(await box.inputValue()).toBe('And tomorrow?');
      await reply.letGo();
      await transcript.getByText('At one.').waitFor();
      expect(await transcript.getByText('And tomorrow?').count()).toBe(1);
      expect(await box.inputValue()).toBe('');
    },
  );

  it('keeps what was entered behind a message that is refused', async () => {
    const { page, box } = await openChat();
    const { promise: isEntered, resolve: enter } = Promise.withResolvers<void>();
    let sentCount = 0;
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('mutation ChatSend(') !== true) return route.fallback();
      sentCount += 1;
      await isEntered;
      const errors = [{ message: 'Out for lunch.', extensions: { code: 'SERVICE_UNAVAILABLE' } }];
      await route.fulfill({ json: { data: null, errors } });
    });
    await box.fill('When is high tide?');
    await page.keyboard.press('Enter');
    await box.fill('And tomorrow?');
    await page.keyboard.press('Enter');
    enter();
    await page.getByRole('alert').waitFor();
    await expect.poll(() => box.inputValue()).toBe('When is high tide?\n\nAnd tomorrow?');
    expect(sentCount).toBe(1);
  });

  it('takes a file that is dropped anywhere in the chat, and nothing that is dropped leaves the page', async () => {
    const { page, transcript } = await openChat();
    const drop = (target: Locator, type: 'file' | 'address') =>
      target.evaluate((element, what) => {
        const dataTransfer = new DataTransfer();
        if (what === 'file') dataTransfer.items.add(new File(['a, b'], 'list.txt', { type: 'text/plain' }));
        else dataTransfer.setData('text/uri-list', 'https://elsewhere.example/');
        const names = ['dragover', 'drop'];
        return names.map((name) => element.dispatchEvent(new DragEvent(name, { bubbles: true, cancelable: true, dataTransfer })));
      }, type);
    // An event that was not prevented lets the browser open what was dropped.
    const prevented = [false, false];
    expect(await drop(transcript, 'file')).toEqual(prevented);
    const files = page.getByRole('list', { name: 'Files of the message' });
    await files.getByText('list.txt').waitFor();
    expect(await drop(transcript, 'address')).toEqual(prevented);
    expect(await files.getByRole('listitem').count()).toBe(1);
    await page.getByRole('link', { name: 'Usage' }).click();
    const heading = page.getByRole('heading', { level: 1, name: 'Usage' });
    await heading.waitFor();
    expect(await drop(heading, 'file')).toEqual(prevented);
  });

  it('of an agent that is gone says so, and asks nobody else', async () => {
    const gone = await make.agent({ owner: ann, name: 'Lighthouse keeper' });
    await ann.delete(`/api/v1/ais/${gone.id}`);
    const { page, box } = await open(`/?agent=${gone.id}&question=When%3F`);
    await page.getByRole('heading', { level: 1, name: 'This agent is not there' }).waitFor();
    await checkScreen(page, 'chat-agent-gone');
    expect(await box.count()).toBe(0);
    await page.getByRole('link', { name: 'Ask another agent' }).click();
    await page.getByRole('heading', { level: 1, name: 'Harbour pilot' }).waitFor();
  });

  it('and a message in other words are answered by the model that was chosen', async () => {
    const { page, box, transcript } = await openChat();
    const picker = page.getByRole('combobox', { name: 'Model' });
    await picker.selectOption('parley/offline');
    await box.fill('When?');
    await page.keyboard.press('Enter');
    const answeredBy = transcript.getByText(/^(?:Version \d+ · )?parley\/offline ·/);
    await answeredBy.waitFor();
    await page.reload();
    await answeredBy.waitFor();
    expect(await picker.inputValue()).toBe('parley/offline');
    await transcript.getByRole('button', { name: 'Edit the message' }).click();
    await transcript.getByRole('textbox', { name: 'The message in other words' }).fill('When again?');
    await transcript.getByRole('button', { name: 'Send again' }).click();
    await transcript.getByText('When again?', { exact: true }).waitFor();
    await answeredBy.waitFor();
    await transcript.getByText('2/2').waitFor();
  });
});
