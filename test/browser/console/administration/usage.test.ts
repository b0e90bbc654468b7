import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { checkScreen, keepConsolePicture, openConsole, overflowWidth } from '../../../support/browser/console.ts';
import type { Organization, Person } from '../../../support/make.ts';
import { pricedModelSettings, pricedUsage } from '../../../support/runs/priced-model.ts';
import { withService } from '../../../support/service.ts';

const { service, make, upstream } = await withService('model', { env: { ...(await pricedModelSettings()), CHAT_BIN_DAYS: '0' } });
let organization: Organization;
let ann: Person;
let bob: Person;

beforeAll(async () => {
  organization = await make.organization();
  ann = await make.person({ organization, role: 'ADMIN', name: 'Ann Example' });
  bob = await make.person({ organization, name: 'Bob Builder, "the" =1' });
  await ask(ann, 1);
  await ask(bob, 2);
});

const usage = { ...pricedUsage, prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 100 } };

/** Each answer costs $0.0012: the model has one price for all input. */
async function ask(who: Person, times: number) {
  for (let time = 0; time < times; time += 1) {
    upstream.next({ text: 'Hello', usage });
    const reply = await who.post('/api/v1/chat/completions', {
      model: 'lab/priced',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(reply.status).toBe(200);
  }
}

describe.skipIf(!hasBrowser())('usage', () => {
  it("tells a week's cost by person in two clicks, as CSV too, and as it grows", async () => {
    const { page, problems } = await openConsole(service, ann, '/usage');
    await page.getByRole('link', { name: '7 days' }).click();
    await page.getByRole('navigation', { name: 'What usage is counted by' }).getByRole('link', { name: 'People' }).click();
    const rows = page.getByRole('table', { name: 'Usage: People' }).getByRole('row');
    await rows.filter({ hasText: 'Bob Builder' }).getByText('$0.0024').waitFor();
    await rows.filter({ hasText: 'Ann Example' }).getByText('$0.0012').waitFor();
    await page.getByText('300 written to them').waitFor();
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const file = await saving;
    expect(file.suggestedFilename()).toMatch(/^usage-by-person-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv$/);
    const text = (await readFile(await file.path(), 'utf8')).replace('\uFEFF', '');
    expect(text.split('\r\n')).toEqual([
      'Person,Id,Runs,Failed,Input tokens,Output tokens,Cost (USD),Runs without a price,Indexing tokens,Input tokens from caches,Input tokens into caches,Tokens',
      `"Bob Builder, ""the"" =1",${bob.userId},2,0,2000,1000,0.0024,0,0,1200,200,3000`,
      `Ann Example,${ann.userId},1,0,1000,500,0.0012,0,0,600,100,1500`,
      '',
    ]);
    await ask(bob, 1);
    await rows.filter({ hasText: 'Bob Builder' }).getByText('$0.0036').waitFor();
    expect(problems).toEqual([]);
  });

  it.each(['light', 'dark'] as const)(
    'is a plot and a table of the same numbers in %s colors, on a telephone too',
    async (scheme) => {
      const { page, problems, strangers } = await openConsole(service, ann, '/usage?days=30&measure=runs', { scheme });
      await page.locator('canvas').waitFor();
      await page.getByText('The days as a table').focus();
      await page.keyboard.press('Enter');
      const today = page.getByRole('table', { name: 'Usage by day' }).getByRole('row').last();
      await expect.poll(async () => Number(await today.getByRole('cell').first().textContent())).toBeGreaterThanOrEqual(3);
      await keepConsolePicture(page, `usage-table-${scheme}`);
      await page.getByText('The days as a table').click();
      await checkScreen(page, `usage-${scheme}`);
      await page.setViewportSize({ width: 390, height: 800 });
      expect(await overflowWidth(page)).toBe(0);
      await checkScreen(page, `usage-phone-${scheme}`);
      expect(problems).toEqual([]);
      expect([...strangers]).toEqual([]);
    },
  );

  it.each(['ADMIN', 'MEMBER'] as const)('of %s keeps what a deleted chat used and cost', async (role) => {
    const fred = await make.person({ role, name: 'Fred' });
    const agent = await make.agent({ owner: fred, name: 'Adviser', modelId: 'lab/priced' });
    upstream.next({ text: 'Hello', usage });
    const chat = await make.chat({ owner: fred, agentId: agent.id });
    expect((await fred.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi' })).status).toBe(200);
    const open = async () => {
      const { page } = await openConsole(service, fred, '/usage?by=person');
      await page.getByText('$0.0012').first().waitFor();
      await page.getByText('The days as a table').click();
      const day = page.getByRole('table', { name: 'Usage by day' }).getByRole('row').last().getByRole('cell');
      const part = page.getByRole('table', { name: 'Usage: People' }).getByRole('row', { name: /Fred/ }).getByRole('cell');
      const cells = async () => [...(await day.allTextContents()), ...(await part.allTextContents())];
      return { page, cells };
    };
    const before = await open();
    // The days and the parts are asked one after the other, and the ledger is written behind the answer.
    await expect.poll(before.cells).toEqual(['1', '1,500', '$0.0012', '1', '1,500', '$0.0012']);
    expect((await fred.delete(`/api/v1/chats/${chat.id}`)).status).toBe(200);
    const after = await open();
    await expect.poll(after.cells).toEqual(['0', '1,500', '$0.0012', '–', '1,500', '$0.0012']);
    await keepConsolePicture(after.page, `usage-deleted-${role}`);
  });

  it('shows members their own runs, and how near the limits are', async () => {
    const small = await make.organization();
    const [dora, emil] = [
      await make.person({ organization: small, name: 'Dora' }),
      await make.person({ organization: small, name: 'Emil' }),
    ];
    await ask(dora, 1);
    await ask(emil, 1);
    const setLimit =
      'mutation ($id: ID!, $input: UpdateOrganizationInput!) { updateOrganization(id: $id, input: $input) { id } }';
    const limited = await service.client().graphql(setLimit, { id: small.id, input: { apiUsageTokenLimit: 3_500 } });
    expect(limited.errors).toBeUndefined();
    const { page } = await openConsole(service, dora, '/usage?by=person');
    const rows = page.getByRole('table', { name: 'Usage: People' }).getByRole('row');
    await rows.filter({ hasText: 'Dora' }).waitFor();
    expect(await rows.filter({ hasText: 'Emil' }).count()).toBe(0);
    await page.getByText('Nearly used up').waitFor();
    await checkScreen(page, 'usage-member');
  });

  it('teaches what it is for while nothing was used, and refuses a range that is too long in words', async () => {
    const cleo = await make.person({ name: 'Cleo' });
    const { page } = await openConsole(service, cleo, '/usage');
    await page.getByRole('heading', { name: 'No usage in this period' }).waitFor();
    await keepConsolePicture(page, 'usage-empty');
    await page.goto(`${service.url}/usage?from=2020-01-01&to=2020-12-31`);
    await page.getByRole('alert').filter({ hasText: 'at most 92 days' }).waitFor();
  });
});
