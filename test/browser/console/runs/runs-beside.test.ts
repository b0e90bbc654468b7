import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { checkScreen, keepConsolePicture, openConsole, overflowWidth } from '../../../support/browser/console.ts';
import { pricedModel, pricedModelSettings } from '../../../support/runs/priced-model.ts';
import { withService } from '../../../support/service.ts';

/** How people sort runs: two beside each other, tags, and filters that one saves. */
const { service, make, upstream } = await withService('model', { env: await pricedModelSettings() });

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
const clerkId = (await make.agent({ owner: ann, name: 'Clerk', modelId: pricedModel, instructions: 'Be brief.' })).id;
const poetId = (await make.agent({ owner: ann, name: 'Poet', modelId: pricedModel, instructions: 'Rhyme.' })).id;

async function ask(agentId: string, prompt: string, text: string, tokens: number): Promise<string> {
  const { id } = await make.chat({ owner: ann, agentId });
  upstream.next({ text, usage: { prompt_tokens: 100, completion_tokens: tokens } });
  const { body } = await ann.post(`/api/v1/chats/${id}/messages`, { prompt });
  return body.runId;
}
const open = async (path: string, view: Parameters<typeof openConsole>[3] = {}) => openConsole(service, ann, path, view);

describe.skipIf(!hasBrowser())('two runs', () => {
  it('stand beside each other, with what differs in what they were asked, did, took and cost', async () => {
    await ask(clerkId, 'Roses?', 'Red.', 10);
    await ask(poetId, 'Roses and violets?', 'Red and blue, I tell you.', 30);
    const { page } = await open('/runs');
    const choose = (name: string) => page.getByRole('checkbox', { name: `Compare ${name} with another run` });
    await choose('Clerk').first().check();
    await page.getByText('Choose another run to compare it with.').waitFor();
    await choose('Poet').first().check();
    await page.getByRole('link', { name: 'Compare these' }).click();
    await page.getByRole('heading', { name: 'Two runs side by side' }).waitFor();
    const totals = page.getByRole('table', { name: 'Totals' });
    const tokens = totals.getByRole('row', { name: /^Tokens out/ });
    await tokens.waitFor();
    expect((await tokens.getByRole('cell').allTextContents()).map((text) => text.trim())).toEqual(['10', '30', '+20 (+200%)']);
    expect(
      await totals
        .getByRole('row', { name: /^Tokens in/ })
        .getByRole('cell')
        .last()
        .textContent(),
    ).toBe('');
    expect(await totals.getByRole('row', { name: /^Cost/ }).getByRole('cell').last().textContent()).toContain('+');
    await page.getByRole('region', { name: 'What was asked: second run' }).getByText('Roses and violets?').waitFor();
    await page.getByRole('region', { name: 'What it said: first run' }).getByText('Red.').waitFor();
    await page
      .getByRole('region', { name: 'What the model was told first: second run' })
      .getByText(/Rhyme\./)
      .waitFor();
    expect(await page.getByRole('list', { name: 'Steps' }).count()).toBe(2);
    await checkScreen(page, 'runs-beside');
    const phone = await open(new URL(page.url()).pathname + new URL(page.url()).search, {
      ...{ width: 390, height: 844, locale: 'de-DE', scheme: 'dark' },
    });
    await phone.page.getByRole('heading', { name: 'Zwei Läufe nebeneinander' }).waitFor();
    await phone.page.getByRole('table', { name: 'Summen' }).waitFor();
    expect(await overflowWidth(phone.page)).toBe(0);
    await keepConsolePicture(phone.page, 'runs-beside-phone');
  });

  it('say when one of them is not there', async () => {
    const { page } = await openConsole(service, ann, '/');
    await page.goto(`${service.url}/runs/beside?one=run_0&other=run_1`);
    await page.getByText('There is no such run').waitFor();
  });
});

describe.skipIf(!hasBrowser())('tags of runs', () => {
  it('are given, shown in the list, found by, and taken away', async () => {
    const id = await ask(clerkId, 'Tides?', 'At noon.', 10);
    const { page } = await open(`/runs/${id}`);
    const tags = page.getByRole('region', { name: 'Tags' });
    await tags.getByRole('combobox', { name: 'New tag' }).fill('to read');
    await page.keyboard.press('Enter');
    await tags.getByRole('listitem').getByText('to read').waitFor();
    await checkScreen(page, 'run-tags');
    await page.goto(`${service.url}/runs`);
    await page.getByRole('row').getByText('to read').waitFor();
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByRole('combobox', { name: 'Tag' }).selectOption('to read');
    await page.waitForURL(/tag=to/);
    await expect
      .poll(() => page.getByRole('checkbox', { name: /^Compare .* with another run$/ }).count(), { timeout: 10_000 })
      .toBe(1);
    await page.getByRole('link', { name: 'Clerk' }).click();
    await tags.getByRole('button', { name: 'Remove to read' }).click();
    await tags.getByRole('listitem').waitFor({ state: 'detached' });
  });
});

describe.skipIf(!hasBrowser())('filters of runs', () => {
  it('are saved by name, applied, and deleted', async () => {
    const { page } = await open('/runs?status=FAILED&days=7');
    const dialog = page.getByRole('dialog', { name: 'Saved filters' });
    await page.getByRole('button', { name: 'Saved filters' }).click();
    await dialog.getByText('No saved filters yet.').waitFor();
    await dialog.getByRole('textbox', { name: 'Save what the list shows now' }).fill('Failed this week');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('button', { name: 'Failed this week', exact: true }).waitFor();
    await checkScreen(page, 'runs-saved-filters');
    await page.goto(`${service.url}/runs`);
    await page.getByRole('button', { name: 'Saved filters' }).click();
    await dialog.getByRole('button', { name: 'Failed this week', exact: true }).click();
    await page.waitForURL((url) => url.search === '?status=FAILED&days=7');
    expect(await page.getByRole('combobox', { name: 'State' }).inputValue()).toBe('FAILED');
    await page.getByRole('button', { name: 'Saved filters' }).click();
    await dialog.getByRole('button', { name: 'Delete the filter Failed this week' }).click();
    await dialog.getByText('No saved filters yet.').waitFor();
  });
});
