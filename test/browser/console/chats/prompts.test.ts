import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import {
  accessibilityFaults,
  type ConsoleView,
  checkScreen,
  keepConsolePicture,
  openConsole,
} from '../../../support/browser/console.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('model');
const ann = await make.person({ name: 'Ann Example' });
await make.agent({ owner: ann, name: 'Harbour pilot', visibility: 'ORGANIZATION', modelId: 'openai/test-model' });

const newcomer = (name: string) => make.person({ name, organization: { id: ann.orgId, tenantId: ann.tenantId } });
const create = async (who: Person, input: object) => {
  const { errors } = await who.graphql('mutation ($input: CreatePromptInput!) { createPrompt(input: $input) { id } }', { input });
  expect(errors).toBeUndefined();
};

describe.skipIf(!hasBrowser())('prompts', () => {
  it('are made, changed and deleted on their page', async () => {
    const person = await newcomer('Bob');
    const { page, problems } = await openConsole(service, person, '/account/prompts');
    await page.getByText('No prompts yet').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Add a prompt' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Übersetze höflich');
    expect(await dialog.getByRole('textbox', { name: 'Command' }).inputValue()).toBe('u-bersetze-ho-flich');
    await dialog.getByRole('textbox', { name: 'Command' }).fill('translate');
    await dialog.getByRole('textbox', { name: 'Text' }).fill('Translate into {{language: English | German}}: {{text}}');
    await checkScreen(page, 'prompt-dialog');
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const row = page.getByRole('listitem', { name: 'Übersetze höflich' });
    await row.getByText('Asks for: language, text').waitFor();
    await row.getByRole('button', { name: /^Edit/ }).click();
    await dialog.getByLabel('Who may use it').selectOption('Everybody here');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText('Everybody', { exact: true }).waitFor();
    await keepConsolePicture(page, 'prompts');
    // What another prompt is called already is told beside the field.
    await page.getByRole('button', { name: 'Add a prompt' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Translate');
    await dialog.getByRole('textbox', { name: 'Text' }).fill('x');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog
      .getByText(/translate/)
      .last()
      .waitFor();
    // What was typed is not lost by a key.
    await page.keyboard.press('Escape');
    await page.getByText('What you typed is lost.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('What you typed is lost.').waitFor({ state: 'hidden' });
    expect(await dialog.getByRole('textbox', { name: 'Text' }).inputValue()).toBe('x');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Close without saving' }).click();
    await dialog.waitFor({ state: 'detached' });
    await row.getByRole('button', { name: /^Delete/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  it('are found by / in the box, by keys alone, and filled in', async () => {
    const person = await newcomer('Carl');
    await create(person, { name: 'Summary', command: 'summary', text: 'Summarize what was said.' });
    await create(person, {
      name: 'Translation',
      command: 'translate',
      text: 'Translate into {{language: English | German = German}}: {{text}}',
    });
    const { page, problems } = await openConsole(service, person);
    const box = page.getByRole('textbox', { name: 'Message' });
    const list = page.getByRole('listbox', { name: 'Prompts' });
    await box.fill('/');
    await list.getByRole('option', { name: /summary/ }).waitFor();
    expect(await list.getByRole('option', { name: /summary/ }).getAttribute('aria-selected')).toBe('true');
    await checkScreen(page, 'prompt-menu');
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    await box.fill('/');
    await page.keyboard.type('t');
    await list.getByRole('option', { name: /summary/ }).waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Translation' });
    expect(await dialog.getByLabel('language').inputValue()).toBe('German');
    await checkScreen(page, 'prompt-fill');
    await dialog.getByRole('button', { name: 'Put it in the box' }).click();
    await dialog.getByText('This needs a value.').waitFor();
    await dialog.getByLabel('text').fill('Good morning');
    await dialog.getByRole('button', { name: 'Put it in the box' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await box.inputValue()).toBe('Translate into German: Good morning');
    await box.focus();
    await page.keyboard.press('Enter');
    await page.getByText('Hello from upstream').waitFor();
    // A path or a fraction at the beginning is no command.
    await box.fill('/etc/hosts is what?');
    expect(await list.count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it('of others are used, and not changed', async () => {
    await create(ann, { name: 'House rules', command: 'rules', text: 'Answer as a pilot would.', visibility: 'ORGANIZATION' });
    const { page } = await openConsole(service, await newcomer('Dora'), '/account/prompts');
    const row = page.getByRole('listitem', { name: 'House rules' });
    await row.waitFor();
    expect(await row.getByRole('button').count()).toBe(0);
    await page.getByRole('link', { name: 'Chats', exact: true }).first().click();
    await page.getByRole('textbox', { name: 'Message' }).fill('/rul');
    await page.getByRole('option', { name: /House rules/ }).click();
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('Answer as a pilot would.');
  });

  const views: readonly [string, ConsoleView][] = [
    ['dark', { scheme: 'dark' }],
    ['phone', { width: 390, height: 844 }],
    ['german', { locale: 'de-DE' }],
  ];
  it.each(views)('are in order: %s', async (name, view) => {
    const person = await newcomer('Emil');
    await create(person, { name: 'Translation', command: 'translate', text: 'Translate into {{language}}: {{text}}' });
    const { page } = await openConsole(service, person, '/account/prompts', view);
    await page.getByRole('listitem', { name: 'Translation' }).waitFor();
    await checkScreen(page, `prompts-${name}`);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
  });
});
