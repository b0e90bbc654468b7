import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { accessibilityFaults, checkScreen, openConsole, overflowWidth } from '../../../support/browser/console.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

/** The versions of an agent in its editor: what people get, what an editor tries, and how one goes back. */
const { service, make, upstream } = await withService('model');

const organization = await make.organization();
const ann = await make.person({ organization, role: 'ADMIN', name: 'Ann Example' });
const bob = await make.person({ organization, name: 'Bob Builder' });

/** An agent of Ann that Bob may edit, and whose changes wait. */
async function makeAgent(name: string): Promise<string> {
  const agent = await make.agent({
    ...{ owner: ann, name, instructions: 'You are a pilot.\nAnswer in one sentence.', modelId: 'openai/test-model' },
    ...{ visibility: 'ORGANIZATION', editors: [{ id: bob.userId }] },
  });
  await ann.ask('mutation ($id: ID!) { setAgentPublishing(id: $id, publishing: ON_REQUEST) { id } }', { id: agent.id });
  return agent.id;
}

const change = (person: Person, id: string, input: object) =>
  person.ask('mutation ($id: ID!, $input: UpdateAgentInput!) { updateAgent(id: $id, input: $input) { id } }', { id, input });
const publish = (id: string, note: string) =>
  ann.ask('mutation ($id: ID!, $note: String) { publishAgent(id: $id, note: $note) { number } }', { id, note });

const save = async (page: Page) => {
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('region', { name: 'Unsaved changes' }).waitFor({ state: 'detached' });
};
const versionRows = (page: Page) => page.getByRole('list', { name: 'Versions' }).getByRole('listitem');

describe.skipIf(!hasBrowser())('the versions of an agent', () => {
  it('tries a draft, publishes exactly what it shows, and rolls back', async () => {
    const id = await makeAgent('Harbour pilot');
    const { page, problems } = await openConsole(service, ann, `/agents/${id}/instructions`);
    await page.getByRole('textbox', { name: 'Instructions' }).fill('You are a pilot.\nAnswer in two sentences.\nName the tide.');
    await save(page);
    await page.getByText('Draft, not published: people get version 1.').waitFor();
    // The preview tries what people do not get yet.
    upstream.next({ text: 'The tide is high. Keep left.' });
    await page.getByRole('textbox', { name: 'Try a question' }).fill('Which side?');
    await page.keyboard.press('Enter');
    await page.getByText('The tide is high. Keep left.').waitFor();
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('Name the tide.');
    await checkScreen(page, 'versions-draft');

    await page.getByRole('button', { name: 'Publish' }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish the draft of Harbour pilot' });
    await dialog.getByRole('insertion').filter({ hasText: 'Name the tide.' }).waitFor();
    await dialog.getByRole('deletion').filter({ hasText: 'Answer in one sentence.' }).waitFor();
    await dialog.getByRole('textbox', { name: 'Note' }).fill('Names the tide');
    await checkScreen(page, 'versions-publish');
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Draft, not published').waitFor({ state: 'detached' });

    await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Versions' }).click();
    await versionRows(page).first().getByText('People get this').waitFor();
    expect(await versionRows(page).first().textContent()).toMatch(
      /Version 2.*Names the tide.*Ann Example.*Changed: Instructions/s,
    );
    await checkScreen(page, 'versions-list');

    await page.getByRole('button', { name: 'Roll back to version 1' }).click();
    const rollback = page.getByRole('dialog', { name: 'Roll back to version 1' });
    await rollback.getByRole('insertion').filter({ hasText: 'Answer in one sentence.' }).waitFor();
    await rollback.getByRole('textbox', { name: 'Note' }).fill('The tide was wrong');
    expect(await accessibilityFaults(page)).toEqual([]);
    await rollback.getByRole('button', { name: 'Roll back' }).click();
    await versionRows(page).first().getByText('Equal to version 1').waitFor();
    await page.getByRole('link', { name: 'Version 3', exact: true }).first().click();
    await page.getByRole('heading', { level: 2, name: 'Version 3' }).waitFor();
    await page.getByText('Answer in one sentence.').waitFor();
    await checkScreen(page, 'versions-content');
    await page.goto(`${service.url}/agents/${id}/versions/77`);
    await page.getByRole('heading', { name: 'There is no such version' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('gives a part of the chats another version, shows how both do, and ends it', async () => {
    const id = await makeAgent('Canary pilot');
    await change(ann, id, { instructions: 'You are a bold pilot.' });
    const { page } = await openConsole(service, ann, `/agents/${id}/versions`);
    await page.getByRole('button', { name: 'Give the draft to a part of the chats' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('spinbutton', { name: 'Percent of the chats' }).fill('25');
    await dialog.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('heading', { name: '25 % of the chats get version 2' }).waitFor();
    await page.getByRole('table', { name: 'Both versions since the canary began' }).waitFor();
    await checkScreen(page, 'versions-canary');
    await page.getByRole('button', { name: 'Everybody gets version 2' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Give it to everybody' }).click();
    await page.getByRole('heading', { name: '25 % of the chats get version 2' }).waitFor({ state: 'detached' });
    await versionRows(page).first().getByText('People get this').waitFor();
  });

  it('shows where a chat changed its version, and the version of a run', async () => {
    const id = await makeAgent('Changing pilot');
    const chat = await make.chat({ owner: ann, agentId: id });
    const send = 'mutation ($id: ID!, $text: String!) { sendMessage(chatId: $id, input: { prompt: { text: $text } }) { id } }';
    const { page } = await openConsole(service, ann, `/chats/${chat.id}`);
    const say = async (text: string, answer: string) => {
      upstream.next({ text: answer });
      const { sendMessage } = await ann.ask(send, { id: chat.id, text });
      await page.getByText(answer).waitFor();
      return sendMessage.id;
    };
    await say('Where to?', 'To the east.');
    await change(ann, id, { instructions: 'You sail west.' });
    await publish(id, 'West');
    const runId = await say('And now?', 'To the west.');
    await page.getByText('The agent was changed: version 2 answers from here on.').waitFor();
    await page.getByText('Version 1 ·').waitFor();
    await checkScreen(page, 'versions-chat');
    await page.goto(`${service.url}/runs/${runId}`);
    await page.getByRole('link', { name: '2', exact: true }).click();
    await page.getByRole('heading', { level: 2, name: 'Version 2' }).waitFor();
    await page.getByRole('link', { name: 'All versions' }).click();
    const figures = page.getByRole('table', { name: 'How they do' });
    await figures.getByRole('row', { name: /Version 1/ }).waitFor();
  });

  it('is read on a phone, in German and in the dark', async () => {
    const id = await makeAgent('Kleiner Lotse');
    await change(ann, id, { instructions: `You are a pilot.\n${'Say which tide it is and which buoy comes next. '.repeat(6)}` });
    await publish(id, 'Erste Fassung für alle');
    await change(ann, id, { name: 'Kleiner Lotse im Hafen' });
    const view = { scheme: 'dark', width: 390, height: 844, locale: 'de-DE' } as const;
    const { page } = await openConsole(service, ann, `/agents/${id}/versions`, view);
    await page.getByText('Entwurf, nicht veröffentlicht: Die Nutzer bekommen Version 2.').waitFor();
    await page.getByRole('list', { name: 'Versionen' }).waitFor();
    await checkScreen(page, 'versions-phone');
    expect(await overflowWidth(page)).toBeLessThanOrEqual(0);
    await page.getByRole('link', { name: 'Was sich geändert hat' }).first().click();
    await page.getByRole('insertion').first().waitFor();
    await checkScreen(page, 'versions-phone-diff');
    expect(await overflowWidth(page)).toBeLessThanOrEqual(0);
    await page.getByRole('combobox', { name: 'Spätere Version' }).selectOption('draft');
    await page.getByRole('insertion').filter({ hasText: 'Kleiner Lotse im Hafen' }).waitFor();
  });
});
