import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import {
  accessibilityFaults,
  checkScreen,
  keepConsolePicture,
  openConsole,
  overflowWidth,
} from '../../../support/browser/console.ts';
import { pricedModelSettings } from '../../../support/runs/priced-model.ts';
import { withService } from '../../../support/service.ts';

/** The dialogs of the evaluation of an agent. One of the models has a price. */
const { service, make, upstream } = await withService('model', { env: await pricedModelSettings() });
const modelId = 'lab/priced';

const ann = await make.person({ organization: await make.organization(), role: 'ADMIN', name: 'Ann Example' });

async function ask(query: string, variables: Readonly<Record<string, unknown>>) {
  return ann.ask(query, variables);
}

/** An agent with two versions and another draft, and a dataset with cases. */
async function agentWithDataset(name: string, questions: readonly string[]) {
  const agent = await make.agent({ owner: ann, name, modelId, options: { maxOutputTokens: [100] } });
  const { id } = agent;
  const update = 'mutation ($id: ID!, $to: String!) { updateAgent(id: $id, input: { instructions: $to }) { id } }';
  await ask(update, { id, to: 'Answer in one sentence.' });
  await ask('mutation ($id: ID!) { setAgentPublishing(id: $id, publishing: ON_REQUEST) { id } }', { id });
  await ask(update, { id, to: 'Answer in one word.' });
  const { createDataset } = await ask('mutation ($id: ID!) { createDataset(agentId: $id, input: { name: "Tides" }) { id } }', {
    id,
  });
  const cases = questions.map((question) => ({ question, mustContain: ['seven'], rubric: 'It names an hour.' }));
  if (cases.length > 0)
    await ask('mutation ($id: ID!, $cases: [DatasetCaseInput!]!) { addDatasetCases(datasetId: $id, cases: $cases) { id } }', {
      id: createDataset.id,
      cases,
    });
  return { id, datasetId: createDataset.id as string };
}

const settings: readonly (readonly [string, string, string])[] = [
  ['It has the expected numbers', 'By how much a number may differ', '0.1'],
  ['It matches a pattern', 'Regular expression', 'seven'],
  ['It is JSON that fits a schema', 'JSON Schema', '{"type": "object"}'],
  ['It comes in time', 'Milliseconds at most', '60000'],
  ['It takes few tokens', 'Tokens at most', '500'],
  ['It costs little', 'Cost at most, in USD', '0.5'],
];

async function addScorer(page: Page, label: string) {
  await page.getByRole('dialog').getByRole('combobox', { name: 'Add a scorer' }).selectOption({ label });
}

describe.skipIf(!hasBrowser())('the evaluation of an agent', () => {
  it('asks several versions and models, with every scorer and judge', async () => {
    const agent = await agentWithDataset('Tide pilot', ['When is high tide?']);
    upstream.otherwise(({ body }) => {
      const text = JSON.stringify(body);
      if (text.includes('neither')) return { text: '{"better":"neither","reason":"Both name an hour."}' };
      if (text.includes('You judge')) return { text: '{"verdict":"pass","reason":"It names an hour."}' };
      return { text: text.includes('one word') ? 'Seven.' : 'High tide is at seven.' };
    });
    const { page } = await openConsole(service, ann, `/agents/${agent.id}/evaluation`);
    await page.getByRole('button', { name: 'New experiment' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Add a version' }).click();
    await dialog.getByRole('combobox', { name: 'Compared with it, 2' }).selectOption('Version 1');
    await dialog.getByRole('button', { name: 'Add a model' }).click();
    await dialog.getByRole('combobox', { name: 'Model 1' }).selectOption(modelId);
    await dialog.getByText('3 answers are asked for.').waitFor();
    for (const name of ['It is the expected answer', 'No other document is cited']) await addScorer(page, name);
    for (const [name, label, value] of settings) {
      await addScorer(page, name);
      await dialog
        .getByRole('textbox', { name: label })
        .or(dialog.getByRole('spinbutton', { name: label }))
        .fill(value);
    }
    for (const name of ['A judge says that it passes', 'A judge compares two answers']) await addScorer(page, name);
    for (const field of await dialog.getByRole('combobox', { name: 'The model that judges' }).all())
      await field.selectOption(modelId);
    await dialog.getByRole('textbox', { name: 'What is weighed in every case' }).first().fill('It is short.');
    // What the service refuses stands beside its field.
    await dialog.getByRole('textbox', { name: 'Regular expression' }).fill('(a)\\1');
    await dialog.getByRole('button', { name: 'Start' }).click();
    await expect
      .poll(() => dialog.getByRole('textbox', { name: 'Regular expression' }).getAttribute('aria-invalid'))
      .toBe('true');
    await checkScreen(page, 'evaluation-scorers');
    await dialog.getByRole('textbox', { name: 'Regular expression' }).fill('[Ss]even');
    await dialog.getByRole('button', { name: 'Start' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('table', { name: 'Result' }).waitFor({ timeout: 30_000 });
    const id = page.url().split('/').at(-1);
    const { experiment } = await ask(
      'query ($id: ID!) { experiment(id: $id) { variants { version modelId } scorers { kind pattern schema tolerance max modelId rubric } } }',
      { id },
    );
    expect(experiment.variants.map(({ version }: { version: string }) => version)).toEqual(['2', 'draft', '1']);
    expect(experiment.scorers.map(({ kind }: { kind: string }) => kind)).toEqual([
      ...['CONTAINS', 'CITES', 'REFUSES', 'TOOL_CALLS', 'EQUALS', 'CITES_NO_OTHER', 'NUMBERS', 'MATCHES', 'JSON_SCHEMA'],
      ...['LATENCY', 'TOKENS', 'COST', 'JUDGE', 'JUDGE_PAIR'],
    ]);
    expect(experiment.scorers.slice(6)).toMatchObject([
      { tolerance: 0.1 },
      { pattern: '[Ss]even' },
      { schema: '{"type":"object"}' },
      { max: 60_000 },
      { max: 500 },
      { max: 0.5 },
      { modelId, rubric: 'It is short.' },
      { modelId, rubric: null },
    ]);
    await page.getByText('The judge likes both alike: Both name an hour.').waitFor();
    await page.getByRole('combobox', { name: /^Compared with/ }).selectOption({ index: 1 });
    await page.getByRole('list', { name: 'Cases' }).getByText('Version 1 with lab/priced').waitFor();
    await page.locator('summary', { hasText: 'How answers are scored' }).click();
    await page.getByText('What a judge is told').first().waitFor();
    await checkScreen(page, 'evaluation-several');
  });

  it('goes on with more money where it ended, and asks nothing twice', async () => {
    const questions = Array.from({ length: 12 }, (_, index) => `High tide on day ${index}?`);
    const agent = await agentWithDataset('Budget pilot', questions);
    const before = upstream.requests.length;
    upstream.otherwise(() => ({ text: 'At seven.', usage: { prompt_tokens: 20, completion_tokens: 100 } }));
    const { page } = await openConsole(service, ann, `/agents/${agent.id}/evaluation`);
    await page.getByRole('button', { name: 'New experiment' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Remove Compared with it, 1' }).click();
    await dialog.getByRole('spinbutton', { name: 'What it may cost, in USD' }).fill('0.001');
    await dialog.getByRole('button', { name: 'Start' }).click();
    await page.getByText('Stopped: the budget is used up').waitFor({ timeout: 30_000 });
    await page.getByRole('button', { name: 'Go on' }).click();
    await dialog.getByRole('spinbutton', { name: 'What it may cost, in USD' }).fill('0.0001');
    await dialog.getByRole('button', { name: 'Go on' }).click();
    await expect
      .poll(() => dialog.getByRole('spinbutton', { name: 'What it may cost, in USD' }).getAttribute('aria-invalid'))
      .toBe('true');
    await checkScreen(page, 'evaluation-resume-refused');
    await dialog.getByRole('spinbutton', { name: 'What it may cost, in USD' }).fill('1');
    await dialog.getByRole('button', { name: 'Go on' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Done', { exact: true }).waitFor({ timeout: 30_000 });
    const asked = upstream.requests.slice(before).map(({ body }) => /High tide on day \d+\?/.exec(JSON.stringify(body))?.[0]);
    expect([...asked].sort()).toEqual([...questions].sort());
  });

  it('has a model write cases from documents, which count once a person agrees', async () => {
    const agent = await agentWithDataset('Handbook pilot', []);
    upstream.otherwise(() => ({
      text: JSON.stringify({ question: 'When is high tide?', expected: 'At seven.', mustContain: ['seven'] }),
    }));
    const { page } = await openConsole(service, ann, `/agents/${agent.id}/knowledge`);
    const handbook = { name: 'handbook.md', mimeType: 'text/markdown', buffer: Buffer.from('# Tides\n\nHigh tide is at seven.') };
    await page.getByLabel('Files').setInputFiles(handbook);
    await page.getByText('1 of 1 document ready').waitFor();
    await page.goto(`${service.url}/agents/${agent.id}/evaluation/${agent.datasetId}`);
    await page.getByRole('button', { name: 'From documents' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Write cases' }).click();
    await dialog.getByRole('alert').first().waitFor();
    await dialog.getByRole('checkbox', { name: 'handbook.md' }).check();
    await dialog.getByText('1 document is chosen, of 20 at most.').waitFor();
    await checkScreen(page, 'evaluation-draft-cases');
    await dialog.getByRole('button', { name: 'Write cases' }).click();
    await page.getByText('1 case is written: look at each, and agree.').waitFor();
    const cases = page.getByRole('list', { name: 'Cases' });
    await cases.getByText('To look at').waitFor();
    await keepConsolePicture(page, 'evaluation-drafts');
    await cases.getByRole('button', { name: 'Agree' }).click();
    await cases.getByText('To look at').waitFor({ state: 'detached' });
    const { dataset } = await ask('query ($id: ID!) { dataset(id: $id) { caseCount draftCount } }', { id: agent.datasetId });
    expect(dataset).toEqual({ caseCount: 1, draftCount: 0 });
  });

  it('writes what comes with a question and which tools are called, and shows it again', async () => {
    const agent = await agentWithDataset('Tool pilot', []);
    const { page } = await openConsole(service, ann, `/agents/${agent.id}/evaluation/${agent.datasetId}`);
    const dialog = page.getByRole('dialog');
    const group = (name: string) => dialog.getByRole('group', { name, exact: true });
    await page.getByRole('button', { name: 'Add a case' }).click();
    await dialog.getByRole('textbox', { name: 'Question' }).fill('Pay the harbour fee');
    await dialog.getByText('What comes with the question').click();
    await dialog.getByRole('button', { name: 'Add a message' }).click();
    await dialog.getByRole('button', { name: 'Add a message' }).click();
    await group('Message 1').getByRole('textbox', { name: 'What was said' }).fill('We berth at seven.');
    await group('Message 2').getByRole('combobox', { name: 'Who said it' }).selectOption('The agent');
    await group('Message 2').getByRole('textbox', { name: 'What was said' }).fill('Noted.');
    await dialog.getByRole('button', { name: 'Add a document' }).click();
    await group('Document 1').getByRole('textbox', { name: 'Name of the file' }).fill('fees.txt');
    await group('Document 1').getByRole('textbox', { name: 'Its text' }).fill('The fee is 20 francs.');
    for (const [index, [name, value]] of [
      ['berth', '7'],
      ['ship', 'Ada'],
      ['code', '"7"'],
    ].entries()) {
      await dialog.getByRole('button', { name: 'Add a value' }).click();
      const row = group(`Value ${index + 1}`);
      await row.getByRole('textbox', { name: 'Variable name' }).fill(name ?? '');
      await row.getByRole('textbox', { name: 'Its value' }).fill(value ?? '');
    }
    await dialog.getByText('Calls of tools').click();
    await dialog.getByRole('button', { name: 'Add a call that it must make' }).click();
    await group('Call 1').getByRole('textbox', { name: 'Name of the tool' }).fill('pay');
    const args = group('Call 1').getByRole('textbox', { name: 'Arguments that the call must have' });
    await args.fill('{"amount": ');
    await dialog.getByRole('textbox', { name: 'It must not call' }).fill('refund\ncancel\n');
    await dialog.getByRole('button', { name: 'Add what a tool gives' }).click();
    await group('Output 1').getByRole('textbox', { name: 'Name of the tool' }).fill('pay');
    await group('Output 1').getByRole('textbox', { name: 'What it gives' }).fill('Paid');
    // What the service refuses stands beside its field.
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => args.getAttribute('aria-invalid')).toBe('true');
    await checkScreen(page, 'evaluation-case-lists');
    await args.fill('{"amount": 20}');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const members = `question messages { role content } files { filename text } userInputs { name value } mustCall { name arguments } mustNotCall
      recordedCalls { name arguments output error }`;
    const read = async () => {
      const query = `query ($id: ID!) { datasetCases(datasetId: $id) { nodes { ${members} } } }`;
      return (await ask(query, { id: agent.datasetId })).datasetCases.nodes[0];
    };
    const written = {
      question: 'Pay the harbour fee',
      messages: [
        { role: 'USER', content: 'We berth at seven.' },
        { role: 'ASSISTANT', content: 'Noted.' },
      ],
      files: [{ filename: 'fees.txt', text: 'The fee is 20 francs.' }],
      // The database keeps the members of an object by the lengths of their names.
      userInputs: [
        { name: 'code', value: '7' },
        { name: 'ship', value: 'Ada' },
        { name: 'berth', value: 7 },
      ],
      mustCall: [{ name: 'pay', arguments: '{"amount":20}' }],
      mustNotCall: ['refund', 'cancel'],
      recordedCalls: [{ name: 'pay', arguments: '{}', output: 'Paid', error: null }],
    };
    expect(await read()).toEqual(written);

    await page.getByRole('button', { name: 'Edit Pay the harbour fee' }).click();
    // What is there is not folded away.
    expect(await args.inputValue()).toBe('{"amount":20}');
    await keepConsolePicture(page, 'evaluation-case-lists-again');
    await dialog.getByRole('button', { name: 'Remove Message 1' }).click();
    await dialog.getByRole('button', { name: 'Remove Value 2' }).click();
    expect(await group('Value 1').getByRole('textbox', { name: 'Its value' }).inputValue()).toBe('"7"');
    expect(await group('Value 2').getByRole('textbox', { name: 'Its value' }).inputValue()).toBe('7');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { messages, userInputs } = written;
    expect(await read()).toEqual({ ...written, messages: messages.slice(1), userInputs: userInputs.toSpliced(1, 1) });
  });

  it('takes a case out of the second page of a list', async () => {
    const questions = Array.from({ length: 35 }, (_, index) => `High tide on day ${index}?`);
    const agent = await agentWithDataset('Long pilot', questions);
    const { page } = await openConsole(service, ann, `/agents/${agent.id}/evaluation/${agent.datasetId}`);
    const rows = page.getByRole('list', { name: 'Cases' }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(30);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => rows.count()).toBe(35);
    const last = (await rows.last().innerText()).split('\n')[0] ?? '';
    await page.getByRole('button', { name: `Take ${last} out` }).click();
    await expect.poll(() => rows.count()).toBe(34);
    expect(await rows.getByText(last, { exact: true }).count()).toBe(0);
    const { dataset } = await ask('query ($id: ID!) { dataset(id: $id) { caseCount } }', { id: agent.datasetId });
    expect(dataset.caseCount).toBe(34);
  });

  it('asks before a gate that was changed is left', async () => {
    const agent = await agentWithDataset('Gate pilot', ['When is high tide?']);
    const { page } = await openConsole(service, ann, `/agents/${agent.id}/evaluation`);
    const label = page.getByRole('textbox', { name: 'No case with this label fails' });
    await page.getByRole('button', { name: 'Set up a gate' }).click();
    await page.keyboard.press('Escape');
    await label.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Set up a gate' }).click();
    await label.fill('must');
    await page.keyboard.press('Escape');
    await page.getByText('What you typed is lost.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('What you typed is lost.').waitFor({ state: 'hidden' });
    expect(await label.inputValue()).toBe('must');
  });

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)('has dialogs that everybody can use, in %s colors, %d wide', async (scheme, width) => {
    const agent = await agentWithDataset(`Dialogs ${scheme} ${width}`, ['When is high tide?']);
    upstream.otherwise(() => ({ text: 'That I do not know.', usage: { prompt_tokens: 20, completion_tokens: 100 } }));
    const begin = 'mutation ($id: ID!, $input: ExperimentInput!) { runExperiment(agentId: $id, input: $input) { id } }';
    const stopped = await ask(begin, {
      id: agent.id,
      input: { versions: ['draft'], datasetId: agent.datasetId, tokensMax: 1 },
    });
    const { page } = await openConsole(service, ann, `/agents/${agent.id}/evaluation`, { scheme, width });
    const dialog = page.getByRole('dialog');
    const look = async (name: string) => {
      await dialog.waitFor();
      await keepConsolePicture(page, `dialog-${name}-${scheme}-${width}`);
      expect(await accessibilityFaults(page), name).toEqual([]);
      expect(await overflowWidth(page), name).toBeLessThanOrEqual(0);
      expect(await dialog.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth), name).toBe(0);
    };
    const close = async () => {
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      const question = page.getByRole('button', { name: 'Close without saving' });
      if (await question.isVisible()) await question.click();
      await dialog.waitFor({ state: 'detached' });
    };
    const open = (name: string) => page.getByRole('button', { name, exact: true }).click();

    await open('New dataset');
    await look('dataset');
    await close();
    await open('New experiment');
    for (const name of ['It matches a pattern', 'It is JSON that fits a schema', 'A judge says that it passes'])
      await addScorer(page, name);
    await look('experiment');
    await close();
    await open('Set up a gate');
    await look('gate');
    await dialog.getByRole('textbox', { name: 'No case with this label fails' }).fill('must');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await open('Publish');
    await dialog.getByRole('button', { name: 'Publish' }).waitFor();
    await look('publish');
    await close();
    await page.goto(`${service.url}/agents/${agent.id}/evaluation/${agent.datasetId}`);
    await open('Add a case');
    await look('case');
    await close();
    await open('Import');
    await look('import');
    await close();
    await open('From documents');
    await look('draft-cases');
    await close();
    await page.getByRole('button', { name: 'Edit When is high tide?' }).click();
    for (const name of ['What comes with the question', 'Calls of tools']) await dialog.getByText(name, { exact: true }).click();
    for (const name of ['Add a message', 'Add a value', 'Add a call that it must make'])
      await dialog.getByRole('button', { name }).click();
    await look('case-edit');
    await close();
    await open('More');
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await look('delete');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.goto(`${service.url}/agents/${agent.id}/evaluation/${stopped.runExperiment.id}`);
    await open('Go on');
    await look('resume');
    await close();
    await page.getByRole('heading', { name: 'Case by case' }).waitFor();
    await checkScreen(page, `experiment-${scheme}-${width}`);
  });
});
