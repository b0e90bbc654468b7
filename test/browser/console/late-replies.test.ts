import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../support/browser/browser.ts';
import { openConsole } from '../../support/browser/console.ts';
import { holdReply } from '../../support/browser/held-reply.ts';
import { indexed } from '../../support/knowledge/knowledge.ts';
import { withService } from '../../support/service.ts';

/** What a stream told is newer than the reply to a query that was sent before, when that comes late. Chats have tests of their own. */
const { service, make } = await withService();

const ann = await make.person({ name: 'Ann Example' });
const agentId = (await make.agent({ owner: ann, name: 'Harbour pilot' })).id;
const sourceId = (await make.apiDataSource({ owner: ann, agentId, name: 'Old name', data: { berth: 40 } })).id;
await indexed(ann, sourceId);

const renameSource = async (name: string) => {
  const { status } = await ann.patch(`/api/v1/data-sources/${sourceId}`, { name });
  expect(status).toBe(200);
};

/** Changes something until the page shows it: what happens before the service has begun the subscription is not told. */
async function changeUntil(change: (turn: number) => Promise<unknown>, isShown: () => Promise<boolean>): Promise<void> {
  let turn = 0;
  await expect
    .poll(
      async () => {
        turn += 1;
        await change(turn);
        return isShown();
      },
      { timeout: 30_000 },
    )
    .toBe(true);
}

/** Leaves a screen and comes back, while the reply to its query is held. */
async function comeBack(page: Page, query: string) {
  await page.getByRole('link', { name: 'Usage' }).click();
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  const reply = await holdReply(page, `query ${query}`);
  await page.goBack();
  await reply.isAnswered;
  return reply;
}

describe.skipIf(!hasBrowser())('a late reply', () => {
  it('gives no source its old name back', async () => {
    await renameSource('Old name');
    const { page } = await openConsole(service, ann, `/knowledge/${sourceId}`);
    await page.getByRole('heading', { level: 1, name: 'Old name' }).waitFor();
    const reply = await comeBack(page, 'SourcePage');
    const renamed = page.getByRole('heading', { level: 1, name: /^New name/ });
    await changeUntil(
      (turn) => renameSource(`New name ${turn}`),
      async () => (await renamed.count()) === 1,
    );
    await reply.letGo();
    expect(await renamed.count()).toBe(1);
  });

  it('gives no source of the list its old name back', async () => {
    await renameSource('Old name');
    const { page } = await openConsole(service, ann, '/knowledge');
    await page.getByRole('link', { name: 'Old name' }).waitFor();
    const reply = await comeBack(page, 'SourceList');
    const renamed = page.getByRole('link', { name: /^New name/ });
    await changeUntil(
      (turn) => renameSource(`New name ${turn}`),
      async () => (await renamed.count()) === 1,
    );
    await reply.letGo();
    expect(await renamed.count()).toBe(1);
  });

  it('hides nothing that happened while it was on its way', async () => {
    const { page, context } = await openConsole(service, ann, '/account/memories');
    await page.getByRole('heading', { level: 1 }).waitFor();
    const isFollowed = page.waitForResponse((reply) => reply.request().postData()?.includes('subscription Memories') === true);
    const reply = await comeBack(page, 'Memories');
    await isFollowed;
    const other = await context.newPage();
    await other.goto(`${service.url}/account/memories`);
    await other.getByRole('heading', { level: 1 }).waitFor();
    // Tabs share the stream: when the other one shows it, this one has heard of it. Its query is on its way, and it asks again once that is answered.
    const create = 'mutation ($input: CreateMemoryInput!) { createMemory(input: $input) { id } }';
    const text = /^Likes the northern quay/;
    await changeUntil(
      (turn) => ann.graphql(create, { input: { text: `Likes the northern quay ${turn} times.` } }),
      async () => (await other.getByText(text).count()) > 0,
    );
    expect(await page.getByText(text).count()).toBe(0);
    await reply.letGo();
    await page.getByText(text).first().waitFor();
  });
});
