import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { accessibilityFaults, type ConsoleView, checkScreen, openConsole } from '../../../support/browser/console.ts';
import {
  chatGptConversation,
  claudeConversation,
  libreChatConversation,
  models,
  said,
} from '../../../support/operations/chat-exports.ts';
import { importFile } from '../../../support/operations/chat-imports.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('model');
const ann = await make.person({ name: 'Ann Example' });
await make.agent({ owner: ann, name: 'Harbour pilot', visibility: 'ORGANIZATION', modelId: 'openai/test-model' });

const newcomer = () => make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
const jsonFile = (name: string, content: unknown) => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(JSON.stringify(content)),
});

describe.skipIf(!hasBrowser())('Import chats', () => {
  it('brings a file of LibreChat, says what was left out, and the chat goes on here', async () => {
    const person = await newcomer();
    const { page, problems } = await openConsole(service, person);
    await page.getByRole('link', { name: 'Import chats from elsewhere' }).click();
    await page.getByRole('heading', { name: 'Import chats', level: 1 }).waitFor();
    await page.getByText('Nothing was imported yet').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page
      .getByLabel('Exported file')
      .setInputFiles(jsonFile('librechat.json', libreChatConversation('x', { isRecursive: true })));
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const row = page.getByRole('listitem', { name: 'librechat.json' });
    await row.getByText('1 chat with 4 messages imported.').waitFor();
    await row.getByText('What was left out').click();
    await row.getByText('1 thought of a model').waitFor();
    await checkScreen(page, 'imports');
    await row.getByRole('link', { name: 'Open the chats' }).click();
    await page.getByRole('navigation', { name: 'Chats' }).getByRole('link', { name: 'Deploying the cluster' }).click();
    await page.getByText(said[2]).waitFor();
    // The model as the other product called it, and the way to the other branch.
    await page.getByText(models.libreChat).waitFor();
    await page.getByRole('button', { name: 'Previous branch' }).click();
    await page.getByText('helm rollback').waitFor();
    await page.getByRole('button', { name: 'Next branch' }).click();
    await page.getByText(said[3]).waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('Still broken');
    await page.keyboard.press('Enter');
    await page.getByText('Hello from upstream').waitFor();
    expect(problems).toEqual([]);
  });

  it('says that chats of a file were here already, and undoes an import', async () => {
    const person = await newcomer();
    const { page } = await openConsole(service, person, '/account/imports');
    const send = async (name: string) => {
      await page
        .getByLabel('Exported file')
        .setInputFiles(jsonFile(name, [claudeConversation('a', 'One'), claudeConversation('b', 'Two')]));
      await page.getByRole('button', { name: 'Import', exact: true }).click();
      return page.getByRole('listitem', { name });
    };
    const first = await send('first.json');
    await first.getByText('2 chats with 4 messages imported.').waitFor();
    const second = await send('second.json');
    await second.getByText('2 chats were here already.').waitFor();
    expect(await second.getByRole('button', { name: /Undo/ }).count()).toBe(0);
    await first.getByRole('button', { name: 'Undo: first.json' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the chats' }).click();
    await first.getByText('Its chats are deleted.').waitFor();
  });

  it('says in words why a file could not be read', async () => {
    const { page } = await openConsole(service, await newcomer(), '/account/imports');
    await page
      .getByLabel('Exported file')
      .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Hello') });
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByRole('listitem', { name: 'notes.txt' }).getByText('The file is not JSON').waitFor();
    await checkScreen(page, 'imports-failed');
  });

  it('exports a chat as a file that can be imported again', async () => {
    const person = await newcomer();
    const [agent] = (await person.graphql('{ agents(first: 1) { nodes { id } } }')).data.agents.nodes;
    await importFile(person, agent.id, [chatGptConversation('c')]);
    const { page } = await openConsole(service, person);
    const list = page.getByRole('navigation', { name: 'Chats' });
    await list.getByRole('link', { name: 'Deploying the cluster' }).click();
    await list.getByRole('button', { name: 'More about Deploying the cluster' }).click();
    await page.getByRole('menuitem', { name: 'Print or save as PDF' }).waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export as JSON' }).click(),
    ]);
    const content = readFileSync(await file.path(), 'utf8');
    const other = await newcomer();
    expect(await importFile(other, agent.id, content)).toMatchObject({ format: 'PARLEY', importedCount: 1, messageCount: 4 });
  });

  const views: readonly [string, ConsoleView][] = [
    ['dark', { scheme: 'dark' }],
    ['phone', { width: 390, height: 844 }],
    ['german', { locale: 'de-DE' }],
  ];
  it.each(views)('is in order: %s', async (name, view) => {
    const person = await newcomer();
    const [agent] = (await person.graphql('{ agents(first: 1) { nodes { id } } }')).data.agents.nodes;
    await importFile(person, agent.id, [chatGptConversation('c'), claudeConversation('d'), 7], 'chatgpt-2026-08-24.zip');
    const { page } = await openConsole(service, person, '/account/imports', view);
    const row = page.getByRole('listitem', { name: 'chatgpt-2026-08-24.zip' });
    await row.locator('summary').click();
    await checkScreen(page, `imports-${name}`);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
  });
});
