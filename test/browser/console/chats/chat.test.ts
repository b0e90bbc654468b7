import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { checkScreen, keepConsolePicture, openConsole, overflowWidth } from '../../../support/browser/console.ts';
import { withService } from '../../../support/service.ts';
import { heldAnswer } from '../../../support/upstream.ts';

const { service, make, upstream } = await withService('model');

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
const agent = await make.agent({
  owner: ann,
  name: 'Harbour pilot',
  description: 'Knows the harbour and its tides.',
  introduction: 'Ask me about the harbour.',
});
const agentId = agent.id;

describe.skipIf(!hasBrowser())('the chat of the console', () => {
  it('begins a chat with the suggested question, streams the answer, and goes on after a reload in its middle', async () => {
    const held = heldAnswer({ text: ['The tide turns ', 'at **noon**.\n\n', '- first\n', '- second\n'] });
    upstream.next(held.script);
    const { page, problems, strangers } = await openConsole(service, ann);
    await page.getByText('Ask me about the harbour.').waitFor();
    await checkScreen(page, 'chat-new');
    await page.getByRole('button', { name: 'What can you help me with?' }).click();
    await page.waitForURL('**/chats/*');
    const transcript = page.getByRole('region', { name: 'Transcript' });
    await transcript.getByText('The tide turns').waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await keepConsolePicture(page, 'chat-streaming');
    await page.reload();
    await transcript.getByText('The tide turns').waitFor();
    held.goOn();
    await transcript.getByText('second').waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    expect(await transcript.locator('strong').innerText()).toBe('noon');
    expect(await transcript.getByText('The tide turns').count()).toBe(1);
    await checkScreen(page, 'chat-answered');
    expect(problems).toEqual([]);
    expect([...strangers]).toEqual([]);
  });

  it('is used on a telephone in dark colors', async () => {
    upstream.otherwise({ text: 'At noon.' });
    const { page } = await openConsole(service, ann, `/?agent=${agentId}&question=When%3F`, { scheme: 'dark', width: 390 });
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('region', { name: 'Transcript' }).getByText('At noon.').waitFor();
    expect(await overflowWidth(page)).toBe(0);
    await checkScreen(page, 'chat-phone');
    await page.getByRole('button', { name: 'Chats', exact: true }).click();
    await page.getByRole('navigation', { name: 'Chats' }).getByRole('link', { name: 'New chat' }).waitFor();
    await checkScreen(page, 'chat-phone-list');
  });
});
