import { afterAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { accessibilityFaults, checkScreen, keepConsolePicture, openConsole } from '../../../support/browser/console.ts';
import { startApiServer } from '../../../support/egress/api-server.ts';
import { addFile, indexed } from '../../../support/knowledge/knowledge.ts';
import { withService } from '../../../support/service.ts';
import { heldAnswer, type UpstreamScript } from '../../../support/upstream.ts';

const { service, make, upstream } = await withService('model');

const answer = [
  '# Prices\n\nA repair costs **15 €** [1], not `20`. See [the list](https://prices.example/list) [7].\n\n',
  '| what | price |\n| --- | ---: |\n| tube | 4 |\n\n',
  '```ts\nconst price = 15; // euros\n```\n\n',
  'Never <b>this</b> & that. ![chart](https://pictures.example/chart.png)\n\n- one\n\n- two',
];

const api = await startApiServer();
const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
const agentId = (await make.agent({ owner: ann, name: 'Bicycle shop', intermediateStepsVisible: true })).id;
const data = { services: [{ name: 'Puncture repair', priceEuro: 15 }] };
await indexed(ann, (await make.apiDataSource({ owner: ann, agentId, name: 'Prices', data })).id);
const parameters = { type: 'object', properties: { part: { type: 'string' } }, required: ['part'] };
const order = { method: 'POST', url: `${api.url}/orders`, parameters, body: '{"part":"{part}"}', requireApproval: true };
const { status, body } = await ann.post(`/api/v1/ais/${agentId}/tools`, { name: 'order', type: 'API_FUNCTION', data: order });
if (status >= 300) throw new Error(JSON.stringify(body));

afterAll(() => api.close());

const open = async (view = {}) => {
  const opened = await openConsole(service, ann, `/?agent=${agentId}`, view);
  const transcript = opened.page.getByRole('region', { name: 'Transcript' });
  const ask = async (text: string) => {
    await opened.page.getByRole('textbox', { name: 'Message' }).fill(text);
    await opened.page.keyboard.press('Enter');
  };
  const isOver = () => opened.page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
  return { ...opened, transcript, ask, isOver };
};

describe.skipIf(!hasBrowser())('an answer in the console', () => {
  it('is Markdown without foreign pictures or HTML, its code in colors, and its citations open their passages', async () => {
    upstream.next({ text: answer });
    const { page, transcript, ask, isOver, problems, strangers } = await open();
    await ask('What does a puncture repair cost?');
    await isOver();
    await transcript.locator('[data-kind="keyword"]').first().waitFor();
    expect(await transcript.getByRole('heading', { name: 'Prices' }).count()).toBe(1);
    expect(await transcript.getByRole('cell', { name: '4' }).count()).toBe(1);
    expect(await transcript.getByText('Never <b>this</b> & that.').count()).toBe(1);
    const link = transcript.getByRole('link', { name: 'the list (prices.example)' });
    expect(await link.getAttribute('rel')).toContain('noopener');
    expect(await transcript.getByRole('link', { name: 'chart (pictures.example)' }).count()).toBe(1);
    await transcript.getByRole('button', { name: /^Source 1/ }).click();
    const sources = page.getByRole('complementary', { name: 'Sources' });
    await sources.locator('mark').getByText('Puncture repair').waitFor();
    expect(await sources.getByRole('link', { name: 'Open the document' }).getAttribute('href')).toMatch(
      /^\/documents\/.+passage=/,
    );
    await checkScreen(page, 'chat-sources');
    await page.keyboard.press('Escape');
    await sources.waitFor({ state: 'detached' });
    await transcript.getByText(/^1 step/).click();
    await transcript.getByText('Searched the knowledge: 1 document').waitFor();
    await page.reload();
    await transcript.getByText('How this was answered').click();
    await transcript.getByText('Searched the knowledge: 1 document').waitFor();
    expect(problems).toEqual([]);
    expect([...strangers]).toEqual([]);
  });

  it('has sources that open while it is being said, and show their passages once it is stored', async () => {
    const { script, goOn } = heldAnswer({ text: ['A repair costs 15 € [1]', ', as the list says.'] });
    upstream.next(script);
    const { page, transcript, ask, isOver } = await open();
    await ask('What does a puncture repair cost?');
    await transcript.getByRole('button', { name: /^Source 1/ }).click();
    const sources = page.getByRole('complementary', { name: 'Sources' });
    const link = sources.getByRole('link', { name: 'Open the document' });
    expect(await link.getAttribute('href')).toMatch(/passage=.*Puncture/);
    goOn();
    await isOver();
    await sources.locator('mark').getByText('Puncture repair').waitFor();
    expect(await link.getAttribute('href')).toMatch(/passage=\d+-\d+/);
  });

  it('has words without the marks of Markdown for sources that are closed', async () => {
    const files = {
      'care.md': '# Lamp care\n\nThe **bulb** of a lamp is cleaned.',
      'bulbs.md': '# Lamp bulbs\n\nThe **glass** of a lamp bulb.',
    };
    for (const [name, text] of Object.entries(files))
      await indexed(ann, (await addFile(ann, agentId, name, text, 'text/markdown')).body.id);
    upstream.next({ text: ['Clean the bulb of a lamp [1] and its glass [2].'] });
    const { page, transcript, ask, isOver } = await open();
    await ask('How do I clean the bulb of a lamp?');
    await isOver();
    await transcript.getByRole('button', { name: /^Source 1/ }).click();
    const items = page.getByRole('complementary', { name: 'Sources' }).getByRole('listitem');
    await items.nth(0).locator('mark').first().waitFor();
    expect(await items.nth(1).locator('p').textContent()).toMatch(/^Lamp (?:care|bulbs)\s+The (?:bulb|glass) of/);
    await keepConsolePicture(page, 'chat-sources-closed');
  });

  it('marks the sentence that supports it, also in the document, from which one comes back to the open sources', async () => {
    const terms =
      '# Warranty\n\nBicycles are checked **twice a year**. The warranty on batteries lasts two years. Tyres have none.\n';
    const { id: sourceId } = (await addFile(ann, agentId, 'terms.md', terms, 'text/markdown')).body;
    await indexed(ann, sourceId);
    upstream.next({ text: ['A battery is under warranty for two years [1].'] });
    const { page, transcript, ask, isOver } = await open();
    await ask('How long is the warranty on batteries?');
    await isOver();
    await transcript.getByRole('button', { name: /^Source 1/ }).click();
    const sources = page.getByRole('complementary', { name: 'Sources' });
    const support = sources.locator('mark[data-kind="support"]');
    await support.getByText('The warranty on batteries lasts two years.').waitFor();
    await sources.getByRole('heading', { name: 'Warranty' }).waitFor();
    await checkScreen(page, 'chat-source-support');
    await sources.getByRole('link', { name: 'Open the document' }).click();
    await page.getByRole('heading', { level: 1, name: 'terms.md' }).waitFor();
    await page.locator('mark[data-kind="support"]').getByText('The warranty on batteries lasts two years.').waitFor();
    const back = page.getByRole('link', { name: 'Back to the answer' });
    await checkScreen(page, 'knowledge-document-back');
    await back.click();
    await support.getByText('The warranty on batteries lasts two years.').waitFor();
    await transcript.getByText('A battery is under warranty').waitFor();
    await page.goBack();
    await page.goBack();
    await support.waitFor();
    await page.reload();
    await support.getByText('The warranty on batteries lasts two years.').waitFor();
    await sources.getByRole('button', { name: 'Close the sources' }).click();
    await page.reload();
    await transcript.getByText('A battery is under warranty').waitFor();
    expect(await sources.count()).toBe(0);
  });

  it('asks before it calls a tool that needs a person, with arguments that can be changed', async () => {
    const call: UpstreamScript = { toolCalls: [{ id: 'call_1', name: 'order', arguments: '{"part":"tube"}' }] };
    upstream.next(call, { text: 'It is ordered.' });
    const { page, transcript, ask } = await open();
    await ask('Order a tube');
    const card = transcript.getByRole('region', { name: 'May it call order?' });
    await card.getByRole('textbox', { name: 'Arguments' }).fill('{"part": ');
    await card.getByText('This is no JSON object.').waitFor();
    expect(await card.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true);
    await card.getByRole('textbox', { name: 'Arguments' }).fill('{"part": "saddle"}');
    await checkScreen(page, 'chat-approval');
    await card.getByRole('button', { name: 'Approve' }).click();
    await transcript.getByText('It is ordered.').waitFor();
    expect(api.requests.map(({ body }) => body)).toEqual(['{"part":"saddle"}']);
  });

  it('that waits for two approvals says so at the first, after a reload too', async () => {
    const call = (id: string) => ({ id, name: 'order', arguments: `{"part":"${id}"}` });
    upstream.next({ toolCalls: [call('chain'), call('bell')] }, { text: 'Both are ordered.' });
    const { page, transcript, ask } = await open();
    await ask('Order a chain and a bell');
    const cards = transcript.getByRole('region', { name: /^May it call order\? [12]\/2$/ });
    await cards.first().getByRole('button', { name: 'Approve' }).click();
    const waits = cards.first().getByText('This waits for the answer to the other call.');
    await waits.waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.reload();
    await waits.waitFor();
    await keepConsolePicture(page, 'chat-approval-waits');
    await cards.last().getByRole('button', { name: 'Approve' }).click();
    await transcript.getByText('Both are ordered.').waitFor();
    expect(await waits.count()).toBe(0);
  });

  it('that failed, or has no word, keeps saying so and can be asked for again when the chat has gone on', async () => {
    upstream.next({ status: 500, body: '{"error":{"message":"The model is ill."}}' }, { text: '' }, { text: 'Well again.' });
    const { page, transcript, ask, isOver } = await open();
    await ask('Does it work?');
    await transcript.getByText('The answer failed.').waitFor();
    await isOver();
    await ask('And now?');
    await transcript.getByText('The model answered without a word.').waitFor();
    await isOver();
    await ask('And in the end?');
    await transcript.getByText('Well again.').waitFor();
    await isOver();
    await page.reload();
    await transcript.getByText('Well again.').waitFor();
    await transcript.getByText('The answer failed.').waitFor();
    await transcript.getByText('The model answered without a word.').waitFor();
    expect(await transcript.getByRole('button', { name: 'Try again' }).count()).toBe(2);
    await keepConsolePicture(page, 'chat-failed-before');
  });

  it('can be asked for again and rated, and a message said in other words: branches lead from one to the other', async () => {
    upstream.next({ text: 'First answer.' }, { text: 'Second answer.' }, { text: 'Third answer.' });
    const { page, transcript, ask, isOver } = await open();
    await ask('Why?');
    await transcript.getByText('First answer.').waitFor();
    await isOver();
    await transcript.getByRole('button', { name: 'Answer again' }).click();
    await page.getByRole('menuitem', { name: 'With the same model' }).click();
    await transcript.getByText('Second answer.').waitFor();
    await isOver();
    expect(await transcript.getByText('First answer.').count()).toBe(0);
    await transcript.getByText('2/2').waitFor();
    await transcript.getByRole('button', { name: 'Previous branch' }).click();
    await transcript.getByText('First answer.').waitFor();
    await transcript.getByRole('button', { name: 'Bad answer' }).click();
    const why = page.getByRole('dialog', { name: 'What was wrong?' });
    await why.getByLabel('It is wrong').check();
    await why.getByRole('textbox', { name: 'In your words' }).fill('No reason is given.');
    expect(await accessibilityFaults(page)).toEqual([]);
    await why.getByRole('button', { name: 'Send', exact: true }).click();
    await why.waitFor({ state: 'hidden' });
    await transcript.getByRole('button', { name: 'Bad answer', pressed: true }).waitFor();
    await transcript.getByRole('button', { name: 'Edit the message' }).click();
    await transcript.getByRole('textbox', { name: 'The message in other words' }).fill('Why, in one word?');
    await transcript.getByRole('button', { name: 'Send again' }).click();
    await transcript.getByText('Third answer.').waitFor();
    await isOver();
    await transcript.getByText('First answer.').waitFor({ state: 'hidden' });
    await transcript.getByRole('group', { name: 'Branches' }).first().waitFor();
    await keepConsolePicture(page, 'chat-branches');
  });

  it('that failed says why, and is asked for again; one that goes on is stopped', async () => {
    upstream.next({ status: 500, body: '{"error":{"message":"The model is ill."}}' }, { text: 'Now it works.' });
    const { page, transcript, ask, isOver } = await open({ scheme: 'dark' });
    await ask('Does it work?');
    await transcript.getByText('The answer failed.').waitFor();
    await checkScreen(page, 'chat-failed');
    await transcript.getByRole('button', { name: 'Try again' }).click();
    await transcript.getByText('Now it works.').waitFor();
    await isOver();
    upstream.next({ text: ['Slowly ', ...Array.from({ length: 600 }, (_, index) => `${index} `)], chunkDelayMs: 50 });
    await ask('And slowly?');
    await transcript.getByText('Slowly').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await transcript.getByText('Stopped.').waitFor();
    await isOver();
  });
});
