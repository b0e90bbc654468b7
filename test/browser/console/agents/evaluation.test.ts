import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import {
  accessibilityFaults,
  checkScreen,
  keepConsolePicture,
  openConsole,
  overflowWidth,
} from '../../../support/browser/console.ts';
import { withService } from '../../../support/service.ts';

/** Datasets, experiments and the gate of an agent in its editor. */
const { service, make, upstream } = await withService('model');

const ann = await make.person({ organization: await make.organization(), role: 'ADMIN', name: 'Ann Example' });

async function ask(query: string, variables: Readonly<Record<string, unknown>>) {
  return ann.ask(query, variables);
}

describe.skipIf(!hasBrowser())('the evaluation of an agent', () => {
  it('asks a draft the cases of a dataset, shows both answers, and holds what the gate refuses', async () => {
    const instructions = 'Say that high tide is at seven.';
    const agent = await make.agent({ owner: ann, name: 'Tide pilot', instructions, modelId: 'openai/test-model' });
    await ask('mutation ($id: ID!) { setAgentPublishing(id: $id, publishing: ON_REQUEST) { id } }', { id: agent.id });
    const update = 'mutation ($id: ID!) { updateAgent(id: $id, input: { instructions: "Say that you do not know." }) { id } }';
    await ask(update, { id: agent.id });
    // The model does as its instructions say.
    upstream.otherwise((body) => ({
      text: JSON.stringify(body).includes('at seven') ? 'High tide is at seven.' : 'That I do not know.',
    }));
    const { page, problems } = await openConsole(service, ann, `/agents/${agent.id}/evaluation`);
    await page.getByRole('heading', { name: 'No datasets yet' }).waitFor();
    await checkScreen(page, 'evaluation-empty');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'New dataset' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Tides');
    await dialog.getByRole('button', { name: 'Create' }).click();

    await page.getByRole('button', { name: 'Add a case' }).click();
    await dialog.getByRole('textbox', { name: 'Question' }).fill('When is high tide?');
    await dialog.getByRole('textbox', { name: 'The answer must say' }).fill('seven');
    await dialog.getByRole('textbox', { name: 'Labels' }).fill('must');
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Says: seven').waitFor();
    // A file with a fault is refused whole, by its line.
    await page.getByRole('button', { name: 'Import' }).click();
    const choose = (name: string, text: string) =>
      dialog.getByLabel('File').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
    await choose('cases.jsonl', '{"question":"And low tide?","mustContain":["seven"]}\n{"question":""}\n');
    await dialog.getByRole('button', { name: 'Import' }).click();
    await dialog
      .getByRole('alert')
      .getByText(/line 2/i)
      .waitFor();
    await keepConsolePicture(page, 'evaluation-import-refused');
    await choose('cases.csv', 'question,mustContain\nAnd the next one?,seven\n');
    await dialog.getByRole('button', { name: 'Import' }).click();
    await page.getByRole('list', { name: 'Cases' }).getByText('And the next one?').waitFor();
    await checkScreen(page, 'evaluation-dataset');

    await page.getByRole('link', { name: 'All datasets' }).click();
    await page.getByRole('button', { name: 'New experiment' }).click();
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Start' }).click();
    await page
      .getByText(/0 better, 2 worse, 0 the same/)
      .first()
      .waitFor();
    const cases = page.getByRole('list', { name: 'Cases' });
    await cases.getByText('High tide is at seven.').first().waitFor();
    await cases.getByText('That I do not know.').first().waitFor();
    await page.getByRole('table', { name: 'Result' }).getByText('100%', { exact: true }).waitFor();
    await checkScreen(page, 'evaluation-experiment');

    await page.getByRole('link', { name: 'All experiments' }).click();
    await page.getByRole('button', { name: 'Set up a gate' }).click();
    await dialog.getByRole('textbox', { name: 'No case with this label fails' }).fill('must');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('No case with the label must fails.').waitFor();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await dialog
      .getByRole('alert')
      .getByText(/When is high tide/)
      .waitFor();
    await checkScreen(page, 'evaluation-refused');
    await dialog.getByRole('textbox', { name: 'Publish it in spite of the gate, because' }).fill('The tide table is wrong');
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.goto(`${service.url}/agents/${agent.id}/versions`);
    await page.getByText('Published in spite of its gate: The tide table is wrong').waitFor();
    expect(problems).toEqual([]);

    const view = { scheme: 'dark', width: 390, height: 844, locale: 'de-DE' } as const;
    const phone = await openConsole(service, ann, `/agents/${agent.id}/evaluation`, view);
    await phone.page.getByRole('list', { name: 'Versuche' }).getByRole('link').first().click();
    await phone.page.getByRole('list', { name: 'Fälle' }).getByText('That I do not know.').first().waitFor();
    await phone.page.getByRole('list', { name: 'Fälle' }).scrollIntoViewIfNeeded();
    await keepConsolePicture(phone.page, 'evaluation-phone');
    expect(await accessibilityFaults(phone.page)).toEqual([]);
    expect(await overflowWidth(phone.page)).toBeLessThanOrEqual(0);
  });

  it('makes a case of a run', async () => {
    const agent = await make.agent({ owner: ann, name: 'Buoy pilot', modelId: 'openai/test-model' });
    const create = 'mutation ($id: ID!) { createDataset(agentId: $id, input: { name: "Buoys" }) { id } }';
    await ask(create, { id: agent.id });
    const chat = await make.chat({ owner: ann, agentId: agent.id });
    upstream.next({ text: 'The red one.' });
    const send = 'mutation ($id: ID!) { sendMessage(chatId: $id, input: { prompt: { text: "Which buoy is next?" } }) { id } }';
    const { sendMessage } = await ask(send, { id: chat.id });
    const { page } = await openConsole(service, ann, `/runs/${sendMessage.id}`);
    await page.getByRole('button', { name: 'Add to a dataset' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add to a dataset' });
    await dialog.getByRole('combobox', { name: 'Dataset' }).waitFor();
    await checkScreen(page, 'evaluation-add-run');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await page.getByText('It is a case of Buoys now.').waitFor();
    await page.goto(`${service.url}/agents/${agent.id}/evaluation`);
    await page.getByRole('link', { name: 'Buoys' }).click();
    // Nobody has said yet what a good answer is.
    await page.getByRole('list', { name: 'Cases' }).getByText('Which buoy is next?').waitFor();
    await page.getByRole('button', { name: 'Agree' }).click();
    await page.getByText('To look at').waitFor({ state: 'detached' });
  });
});
