import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { checkScreen, keepConsolePicture, openConsole } from '../../../support/browser/console.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';
import { heldAnswer } from '../../../support/upstream.ts';

/** What is sent while an answer is being given, and what the agent gets of a chat. */
const { service, make, upstream } = await withService('model');

const ann = await make.person({ name: 'Ann Example' });
const agentId = (await make.agent({ owner: ann, name: 'Harbour pilot' })).id;

type View = Parameters<typeof openConsole>[3];

/** A chat in which an answer is being given; the rest of it comes when it is told to go on. */
async function openBusy(view: View = {}) {
  const { id } = await make.chat({ owner: ann, agentId, name: 'Tides' });
  const { script, goOn } = heldAnswer({ text: ['At ', 'noon.'] });
  upstream.next(script);
  upstream.otherwise({ text: 'At midnight.' });
  const opened = await openConsole(service, ann, `/chats/${id}`, view);
  const { page } = opened;
  const box = page.getByRole('textbox', { name: /^(Message|Nachricht)$/ });
  const transcript = page.getByRole('region', { name: 'Transcript' });
  const queue = page.getByRole('region', { name: /^(Queue|Warteschlange)$/ });
  const ask = async (text: string) => {
    await box.fill(text);
    await page.keyboard.press('Enter');
  };
  await ask('When is high tide?');
  await page.getByText('At', { exact: true }).waitFor();
  return { ...opened, id, box, transcript, queue, ask, goOn };
}
const send = async (prompt: string, chatId: string) => {
  upstream.next({ text: `Yes ${prompt}` });
  expect((await ann.post(`/api/v1/chats/${chatId}/messages`, { prompt })).body).toMatchObject({ status: 'completed' });
};
const askedLast = () => JSON.stringify(upstream.requests.at(-1)?.body);

describe.skipIf(!hasBrowser())('a message while another one is answered', () => {
  it('waits in sight, across a reload, can be edited, and is asked as it says then', async () => {
    const { page, box, transcript, queue, ask, goOn } = await openBusy();
    await ask('And low tide?');
    await queue.getByText('And low tide?').waitFor();
    await queue.getByText('Waits for the answer to end').waitFor();
    expect(await box.inputValue()).toBe('');
    await page.reload();
    await queue.getByText('And low tide?').waitFor();
    await queue.getByRole('button', { name: 'Edit the waiting message' }).click();
    await queue.getByRole('textbox', { name: 'The waiting message' }).fill('And the lowest tide?');
    await keepConsolePicture(page, 'chat-queue-edit');
    await queue.getByRole('button', { name: 'Save' }).click();
    await queue.getByText('And the lowest tide?').waitFor();
    await checkScreen(page, 'chat-queue');
    goOn();
    await transcript.getByText('At midnight.').waitFor();
    await queue.waitFor({ state: 'detached' });
    await transcript.getByText('And the lowest tide?').waitFor();
    expect(askedLast()).toContain('And the lowest tide?');
  });

  it('is taken back into the box, before what was written since', async () => {
    const { page, box, queue, ask, goOn, transcript } = await openBusy();
    await ask('And low tide?');
    await queue.getByText('And low tide?').waitFor();
    await box.fill('By the way');
    await queue.getByRole('button', { name: 'Take back into the box' }).click();
    await queue.waitFor({ state: 'detached' });
    // The news of the empty queue may come before the reply that gives the text back.
    await eventually(async () => expect(await box.inputValue()).toBe('And low tide?\n\nBy the way'));
    goOn();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    expect(await transcript.getByText('And low tide?').count()).toBe(0);
  });

  it('joins the answer by choice', async () => {
    const { page, box, transcript, queue, goOn } = await openBusy();
    await box.fill('In metres, please');
    await page.getByRole('button', { name: 'How to send' }).click();
    await page.getByRole('menuitem', { name: 'Into this answer, at its next step' }).click();
    await queue.getByText('In metres, please').waitFor();
    await queue.getByText('Joins the answer at its next step').waitFor();
    expect(await queue.getByRole('button', { name: 'Take back into the box' }).count()).toBe(0);
    goOn();
    await transcript.getByText('At midnight.').waitFor();
    await transcript.getByText('In metres, please').waitFor();
    expect(askedLast()).toContain('In metres, please');
  });

  it('stops the answer by choice, also once it waits', async () => {
    const { page, transcript, queue, ask, goOn } = await openBusy();
    await ask('Never mind: and the weather?');
    await queue.getByRole('button', { name: 'More about this message' }).click();
    await page.getByRole('menuitem', { name: 'Stop the answer and ask this' }).click();
    await transcript.getByText('At midnight.').waitFor();
    await transcript.getByText('Stopped.').waitFor();
    goOn();
    await queue.waitFor({ state: 'detached' });
  });

  it('is withdrawn, on a phone, in German', async () => {
    const { page, queue, ask, goOn } = await openBusy({ width: 390, height: 844, locale: 'de-DE', scheme: 'dark' });
    await ask('Und bei Ebbe?');
    await queue.getByText('Und bei Ebbe?').waitFor();
    await keepConsolePicture(page, 'chat-queue-phone');
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    await queue.getByRole('button', { name: 'Mehr zu dieser Nachricht' }).click();
    await page.getByRole('menuitem', { name: 'Zurückziehen' }).click();
    await queue.waitFor({ state: 'detached' });
    goOn();
  });
});

describe.skipIf(!hasBrowser())('what the agent gets of a chat', () => {
  const openTold = async () => {
    const { id } = await make.chat({ owner: ann, agentId, name: 'Tides' });
    for (const prompt of ['one', 'two', 'three']) await send(prompt, id);
    const { page } = await openConsole(service, ann, `/chats/${id}`);
    const transcript = page.getByRole('region', { name: 'Transcript' });
    await transcript.getByText('Yes three').waitFor();
    const choose = async (name: string) => {
      await page.getByRole('button', { name: 'More about this chat' }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    return { id, page, transcript, choose };
  };

  it('is a summary in place of the earlier part, which is shown on demand, and undone', async () => {
    const { id, page, transcript, choose } = await openTold();
    upstream.next({ text: 'They counted to one.' });
    await choose('Summarize the earlier part');
    const summary = transcript.getByRole('region', { name: 'Summary' });
    await summary.getByText('They counted to one.').waitFor();
    await transcript.getByText('Yes one').waitFor({ state: 'detached' });
    await transcript.getByText('Yes two').waitFor();
    await checkScreen(page, 'chat-summary');
    await summary.getByRole('button', { name: 'Show what was said before' }).click();
    await transcript.getByText('Yes one').waitFor();
    await page.reload();
    await transcript.getByText('Yes two').waitFor();
    expect(await transcript.getByText('Yes one').count()).toBe(0);
    await summary.getByRole('button', { name: 'Undo' }).click();
    await summary.waitFor({ state: 'detached' });
    await transcript.getByText('Yes one').waitFor();
    await send('four', id);
    expect(askedLast()).toContain('Yes one');
  });

  it('begins afresh from here, while the chat stays, and this is undone', async () => {
    const { id, page, transcript, choose } = await openTold();
    await choose('Begin afresh from here');
    const mark = transcript.getByRole('region', { name: 'Begun afresh' });
    await mark.waitFor();
    await transcript.getByText('Yes three').waitFor();
    await keepConsolePicture(page, 'chat-afresh');
    await send('four', id);
    await transcript.getByText('Yes four').waitFor();
    expect(askedLast()).not.toContain('Yes three');
    await mark.getByRole('button', { name: 'Undo' }).click();
    await mark.waitFor({ state: 'detached' });
    await send('five', id);
    expect(askedLast()).toContain('Yes three');
  });

  it('goes into a copy, which is a chat of its own', async () => {
    const { id, page, transcript, choose } = await openTold();
    await choose('Duplicate');
    await page.waitForURL((url) => url.pathname.startsWith('/chats/') && !url.pathname.endsWith(id));
    await transcript.getByText('Yes three').waitFor();
    await eventually(async () => expect(await page.getByRole('heading', { name: 'Tides' }).count()).toBe(1));
  });
});
