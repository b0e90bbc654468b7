import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../../support/browser/browser.ts';
import {
  accessibilityFaults,
  checkScreen,
  keepConsolePicture,
  openConsole,
  overflowWidth,
} from '../../support/browser/console.ts';
import { indexed, itemsOf } from '../../support/knowledge/knowledge.ts';
import type { Person } from '../../support/make.ts';
import { gate, isSubagent, messagesOf } from '../../support/runs/research.ts';
import { withService } from '../../support/service.ts';
import type { UpstreamRequest, UpstreamScript } from '../../support/upstream.ts';

const { service, make, upstream } = await withService('model');
/** A word without a place to break, as German has them. */
const longWord = 'Donaudampfschifffahrtsgesellschaftskapitänsversammlung';
let ann: Person;
let agentId: string;
/** What the addresses of the console name, by the word that stands for it. */
let ids: Readonly<Record<string, string>>;

beforeAll(async () => {
  ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
  await service.client().graphql('mutation ($id: ID!) { setOperator(id: $id, isOperator: true) { id } }', { id: ann.userId });
  const enabledTools = [{ type: 'deep_research' }];
  const shown = { generateCitations: true, intermediateStepsVisible: true };
  ({ id: agentId } = await make.agent({ owner: ann, name: `Pilot of the ${longWord}`, enabledTools, ...shown }));
  const parameters = { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] };
  const data = { description: 'Looks out of the window', parameters };
  const tool = await ann.post(`/api/v1/ais/${agentId}/tools`, { name: 'look_out', type: 'CLIENT_FUNCTION', data });
  expect(tool.status).toBe(200);
  const services = [{ name: 'Puncture repair', priceEuro: 15 }];
  const source = await make.apiDataSource({ owner: ann, agentId, name: `Prices of the ${longWord}`, data: { services } });
  await indexed(ann, source.id);
  const { id: chatId } = await make.chat({ owner: ann, agentId, name: `All about the ${longWord}` });
  upstream.next({ text: `The ${longWord} costs 15 € [1].\n\n| ${longWord} | ${longWord} |\n| --- | --- |\n| 1 | 2 |` });
  expect((await ann.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'What does a repair cost?' })).status).toBe(200);
  const { data: found } = await ann.graphql('{ runs(first: 1) { nodes { id } } }');
  const group = await ann.graphql('mutation ($input: CreateGroupInput!) { createGroup(input: $input) { id } }', {
    input: { name: `Friends of the ${longWord}`, availability: 'EVERYONE', memberEmails: ['a@long.example'] },
  });
  const [item] = await itemsOf(ann, source.id);
  const organization = { id: ann.orgId, tenantId: ann.tenantId };
  const { userId: person } = await make.person({ organization, name: `Person of the ${longWord}` });
  ids = {
    ...{ agent: agentId, source: source.id, chat: chatId, run: found.runs.nodes[0].id, item: item.id },
    group: group.data.createGroup.id,
    person,
  };
});

/** Dialogs, by the screen and the button that opens them. */
const dialogs: readonly (readonly [address: string, button: string])[] = [
  ['/people', 'Invite'],
  ['/people/groups', 'New group'],
  ['/account/keys', 'New key'],
  ['/account/connections', 'Connect'],
  ['/account/memories', 'Add a memory'],
  ['/account/schedules', 'New schedule'],
  ['/administration/documents', 'New document'],
  ['/administration/mcp-clients', 'New client'],
  ['/administration/webhooks', 'New webhook'],
  ['/agents', 'New agent'],
  ['/knowledge', 'Add knowledge'],
  ['/agents/<agent>/skills', 'Add a skill'],
  ['/agents/<agent>/inputs', 'Add an input'],
  ['/agents/<agent>/secrets', 'Add a secret'],
];

describe.skipIf(!hasBrowser())('at 200 % zoom and on a telephone, in dark colors', () => {
  let page: Page;
  beforeAll(async () => {
    // A window of 1280 pixels at 200 %.
    ({ page } = await openConsole(service, ann, '/', { scheme: 'dark', width: 640, height: 400, scale: 2 }));
  });

  it.each([
    ...['/', '/chats/<chat>', '/agents', '/agents/<agent>', '/knowledge', '/knowledge/<source>', '/runs', '/runs/<run>'],
    ...['/usage', '/people', '/people/groups', '/people/invitations', '/people/groups/<group>', '/people/<person>'],
    ...['/runs/questions', '/runs/feedback', '/knowledge/search', '/documents/<item>', '/about'],
    ...['documents', 'try', 'history', 'permissions', 'settings'].map((part) => `/knowledge/<source>/${part}`),
    ...['instructions', 'knowledge', 'tools', 'skills', 'inputs', 'secrets', 'flows', 'sharing', 'profile'].map(
      (section) => `/agents/<agent>/${section}`,
    ),
    ...['keys', 'audit', 'data', 'webhooks', 'schedules', 'connections', 'installation'].map((part) => `/administration/${part}`),
    ...['', '/keys', '/connections', '/memories', '/schedules', '/shares', '/imports'].map((part) => `/account${part}`),
  ])('%s never scrolls sideways, and axe finds nothing', async (address) => {
    await page.setViewportSize({ width: 640, height: 400 });
    await page.goto(service.url + address.replace(/<(.+)>/, (_, name) => ids[name] ?? ''));
    const isChat = address === '/' || address.startsWith('/chats/');
    const content = isChat ? page.getByRole('textbox', { name: 'Message' }) : page.getByRole('heading', { level: 1, name: /./ });
    await content.waitFor();
    await expect.poll(() => page.getByRole('status', { name: 'Loading' }).count(), { timeout: 30_000 }).toBe(0);
    const name = `journeys${address.replaceAll(/[/<>]+/g, '-')}`;
    await keepConsolePicture(page, `${name}-zoom`);
    expect(await overflowWidth(page)).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 800 });
    await keepConsolePicture(page, `${name}-phone`);
    expect(await overflowWidth(page)).toBe(0);
  });
});

describe.skipIf(!hasBrowser())('a dialog on a telephone', () => {
  it.each(dialogs)('of %s that opens by “%s” never scrolls sideways', async (address, button) => {
    const { page } = await openConsole(service, ann, '/', { width: 390 });
    await page.goto(service.url + address.replace(/<(.+)>/, (_, name) => ids[name] ?? ''));
    await page.getByRole('main').getByRole('button', { name: button, exact: true }).first().click();
    await page.getByRole('dialog').waitFor();
    expect(await overflowWidth(page)).toBe(0);
  });
});

describe.skipIf(!hasBrowser())('at 1,440 pixels', () => {
  it.each(['en-US', 'de-DE'])('nothing of the navigation and the tabs is cut: %s', async (locale) => {
    const { page } = await openConsole(service, ann, '/', { width: 1440, height: 900, locale });
    for (const address of ['/people', '/administration/keys', '/account', '/knowledge', '/runs', '/usage']) {
      await page.goto(service.url + address);
      await page.getByRole('heading', { level: 1, name: /./ }).waitFor();
      const cut = await page
        .locator('nav a, nav a span, header h1, header button')
        .evaluateAll((all) => all.filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth + 1));
      expect(cut.length, address).toBe(0);
    }
  });
});

describe.skipIf(!hasBrowser())('a journey through the console', () => {
  it('by keyboard alone: asks, reads the source of the answer, goes back, and makes an agent', async () => {
    upstream.next({ text: 'A repair costs 15 € [1].' });
    const { page, problems } = await openConsole(service, ann);
    const transcript = page.getByRole('region', { name: 'Transcript' });
    await expectFocus(page.getByRole('textbox', { name: 'Message' }));
    await page.keyboard.type('What does a puncture repair cost?');
    await page.keyboard.press('Enter');
    const citation = transcript.getByRole('button', { name: /^Source 1/ });
    await citation.waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    await expectFocus(page.getByRole('textbox', { name: 'Message' }));

    await tabTo(citation, 'Shift+Tab');
    await page.keyboard.press('Enter');
    const sources = page.getByRole('complementary', { name: 'Sources' });
    await sources.locator('mark').getByText('Puncture repair').waitFor();
    await expectFocus(sources);
    await page.keyboard.press('Escape');
    await sources.waitFor({ state: 'detached' });
    await expectFocus(citation);

    await page.keyboard.press('Enter');
    await tabTo(sources.getByRole('link', { name: 'Open the document' }));
    await page.keyboard.press('Enter');
    await page.waitForURL('**/documents/**');
    await page.getByRole('heading', { level: 1, name: /./ }).waitFor();
    await expectSomeFocus(page);
    await page.goBack();
    // The panel is open again, where the way went on.
    await expectFocus(sources);
    await page.keyboard.press('Escape');
    await sources.waitFor({ state: 'detached' });
    await expectFocus(page.getByRole('textbox', { name: 'Message' }));

    await page.keyboard.press('Control+k');
    await expectFocus(page.getByRole('combobox', { name: /^Search agents/ }));
    await page.keyboard.press('Escape');
    await expectFocus(page.getByRole('textbox', { name: 'Message' }));
    await page.keyboard.press('Control+k');
    await page.keyboard.type('Agents');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
    await expectSomeFocus(page);

    const add = page.getByRole('main').getByRole('button', { name: 'New agent' }).first();
    await tabTo(add);
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'New agent' });
    await expectFocus(dialog.getByRole('textbox', { name: 'Name' }));
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await expectFocus(add);
    await page.keyboard.press('Enter');
    await expectFocus(dialog.getByRole('textbox', { name: 'Name' }));
    await page.keyboard.type('Lighthouse keeper');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Keeps the light.');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Answer briefly.');
    await tabTo(dialog.getByRole('button', { name: 'Create' }));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Lighthouse keeper' }).waitFor();
    await expectSomeFocus(page);
    expect(problems).toEqual([]);
  });

  it('follows a research: who works on what while it goes on, and a report with its citations in the end', async () => {
    const { opened, open } = gate();
    const questions = ['What does a puncture repair cost?', 'Who mends punctures?'];
    const call = { id: 'call_1', name: 'deep_research', arguments: JSON.stringify({ task: 'Prices', questions }) };
    upstream.otherwise((request: UpstreamRequest): UpstreamScript => {
      if (isSubagent(request)) return { text: 'A puncture repair costs 15 € [1].', gate: opened };
      const findings = messagesOf(request).findLast(({ role }) => role === 'tool')?.content ?? '';
      if (findings === '') return { toolCalls: [call] };
      return { text: `# Report\n\nIt costs 15 € [${/\[(\d+)\] [^;\n]*Prices/.exec(findings)?.[1]}].` };
    });
    const { page, problems } = await openConsole(service, ann, `/?agent=${agentId}`);
    const transcript = page.getByRole('region', { name: 'Transcript' });
    await page.getByRole('textbox', { name: 'Message' }).fill('Research the prices');
    await page.keyboard.press('Enter');
    const work = transcript.locator('summary').filter({ hasText: 'works on a task' });
    await work.click();
    for (const hasText of questions) {
      const step = transcript.getByRole('listitem').filter({ hasText }).filter({ hasText: 'works on a task' });
      await step.getByRole('progressbar').waitFor();
    }
    expect(await transcript.getByRole('heading', { name: 'Report' }).count()).toBe(0);
    await checkScreen(page, 'journeys-research');
    open();
    await transcript.getByRole('heading', { name: 'Report' }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    expect(await transcript.getByRole('progressbar').count()).toBe(0);
    await transcript.getByRole('button', { name: /^Source 1: Prices/ }).click();
    await page.getByRole('complementary', { name: 'Sources' }).locator('mark').getByText('Puncture repair').waitFor();
    await keepConsolePicture(page, 'journeys-report');
    expect(problems).toEqual([]);
  });

  it('plays the function that an agent calls: what the person writes becomes the answer', async () => {
    const call = { id: 'call_1', name: 'look_out', arguments: '{"place":"quay"}' };
    upstream.next({ toolCalls: [call] }, { text: 'Two boats are at the quay.' });
    const { page, problems } = await openConsole(service, ann, `/?agent=${agentId}`);
    const transcript = page.getByRole('region', { name: 'Transcript' });
    await page.getByRole('textbox', { name: 'Message' }).fill('What is at the quay?');
    await page.keyboard.press('Enter');
    const card = transcript.getByRole('region', { name: 'It asks for the output of look_out' });
    await card.getByText('"place": "quay"').waitFor();
    await card.getByRole('textbox', { name: 'Output' }).fill('I see two boats.');
    await checkScreen(page, 'journeys-function');
    await card.getByRole('button', { name: 'Give the output' }).click();
    await transcript.getByText('Two boats are at the quay.').waitFor();
    await card.getByText('Answered').waitFor();
    const told = messagesOf(upstream.requests.at(-1)).findLast(({ role }) => role === 'tool');
    expect(told?.content).toContain('I see two boats.');
    expect(problems).toEqual([]);
  });
});

/** Moves the focus to an element with the key alone. */
async function tabTo(target: Locator, key = 'Tab'): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < 80; presses += 1) {
    if (await hasFocus(target)) return;
    await target.page().keyboard.press(key);
  }
  throw new Error(`${key} does not lead to ${target}`);
}

function hasFocus(target: Locator): Promise<boolean> {
  return target.evaluate((element) => element === document.activeElement);
}

async function expectFocus(target: Locator): Promise<void> {
  await target.waitFor();
  await expect.poll(() => hasFocus(target), { timeout: 10_000 }).toBe(true);
}

/** Whatever has the focus, it is not lost. */
async function expectSomeFocus(page: Page): Promise<void> {
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName), { timeout: 10_000 }).not.toBe('BODY');
}
