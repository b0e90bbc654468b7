import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { openConsole } from '../../../support/browser/console.ts';
import { holdReply } from '../../../support/browser/held-reply.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const { service, make, upstream } = await withService('model');
let ann: Person;
let agentId: string;

beforeAll(async () => {
  ann = await make.person({ name: 'Ann Example' });
  agentId = (await make.agent({ owner: ann, name: 'Harbour pilot' })).id;
});

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
});
