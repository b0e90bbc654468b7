import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { openConsole } from '../../../support/browser/console.ts';
import { holdReply } from '../../../support/browser/held-reply.ts';
import { withService } from '../../../support/service.ts';
import { heldAnswer } from '../../../support/upstream.ts';

/** A reply that comes late describes an earlier time than what the page has learnt since from its streams. */
const { service, make, upstream } = await withService('model');

const ann = await make.person({ name: 'Ann Example' });
const agentId = (await make.agent({ owner: ann, name: 'Harbour pilot' })).id;

const ask = async (page: Page, text: string) => {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.keyboard.press('Enter');
};

describe.skipIf(!hasBrowser())('a late reply', () => {
  it('takes no finished answer off the page, and Stop does not come back', async () => {
    const held = heldAnswer({ text: ['The tide ', 'turns at noon.'] });
    upstream.next(held.script);
    const { page } = await openConsole(service, ann, `/?agent=${agentId}`);
    await ask(page, 'When?');
    const transcript = page.getByRole('region', { name: 'Transcript' });
    await transcript.getByText('The tide').waitFor();
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    const reply = await holdReply(page, 'query ChatTranscript');
    await page.goBack();
    await reply.isAnswered;
    held.goOn();
    await transcript.getByText('The tide turns at noon.').waitFor();
    const stop = page.getByRole('button', { name: 'Stop' });
    await stop.waitFor({ state: 'detached' });
    await reply.letGo();
    expect(await transcript.getByText('The tide turns at noon.').count()).toBe(1);
    expect(await stop.count()).toBe(0);
    // The chat goes on, and nothing of it is lost after a reload.
    upstream.next({ text: 'At midnight.' });
    await ask(page, 'And then?');
    await transcript.getByText('At midnight.').waitFor();
    await stop.waitFor({ state: 'detached' });
    await page.reload();
    await transcript.getByText('The tide turns at noon.').waitFor();
    await transcript.getByText('At midnight.').waitFor();
  });

  it('gives no chat of the list its old name back', async () => {
    const { id } = await make.chat({ owner: ann, agentId, name: 'Old name' });
    const { page } = await openConsole(service, ann);
    const list = page.getByRole('navigation', { name: 'Chats' });
    await list.getByRole('link', { name: 'Old name' }).waitFor();
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    const reply = await holdReply(page, 'query ChatList');
    await page.goBack();
    await reply.isAnswered;
    const renamed = list.getByRole('link', { name: /^New name/ });
    let turn = 0;
    // What happens before the service has begun the subscription is not told.
    await expect
      .poll(
        async () => {
          turn += 1;
          await ann.patch(`/api/v1/chats/${id}`, { name: `New name ${turn}` });
          return renamed.count();
        },
        { timeout: 30_000 },
      )
      .toBe(1);
    await reply.letGo();
    expect(await renamed.count()).toBe(1);
    expect(await list.getByRole('link', { name: 'Old name' }).count()).toBe(0);
  });
});
