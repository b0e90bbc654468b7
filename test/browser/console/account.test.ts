import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../support/browser/browser.ts';
import {
  accessibilityFaults,
  checkScreen,
  keepConsolePicture,
  openConsole,
  overflowWidth,
  signIn,
} from '../../support/browser/console.ts';
import { withService } from '../../support/service.ts';

const { service, make } = await withService();

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });

describe.skipIf(!hasBrowser())('what is the reader’s own, in the console', () => {
  it('is the account: name, password, other sessions, language, data', async () => {
    const { page, context } = await openConsole(service, ann, '/account');
    const other = await context.browser()?.newContext();
    if (other === undefined) throw new Error('The browser is gone.');
    await signIn(service, other, ann);
    await page.reload();
    await page.getByRole('textbox', { name: 'Your name' }).fill('Ann Other');
    await page.getByRole('button', { name: 'Save the name' }).click();
    await page.getByRole('button', { name: /^You: Ann Other/ }).waitFor();
    await page.getByRole('button', { name: 'End all others' }).click();
    await page.getByRole('button', { name: 'End the others' }).click();
    await page.getByText('1 session ended.').waitFor();
    await page.getByLabel('New password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Set a password' }).click();
    await page.getByText('The password is set.').waitFor();
    await page.getByLabel('Current password').fill('wrong horse battery');
    await page.getByRole('button', { name: 'Export your data' }).click();
    await page.getByRole('link', { name: 'Download' }).waitFor();
    await checkScreen(page, 'account');
    await page.getByLabel('Language').selectOption('Deutsch');
    await page.getByRole('heading', { name: 'Sitzungen' }).waitFor();
  });

  it('is what agents remember, which changes while it is shown', async () => {
    const { page } = await openConsole(service, ann, '/account/memories');
    await page.getByRole('heading', { name: 'Nothing is remembered' }).waitFor();
    await keepConsolePicture(page, 'memories-empty');
    await page.getByRole('button', { name: 'Add a memory' }).click();
    await page.getByRole('textbox', { name: 'What agents should know' }).fill('I work in sales.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('listitem').filter({ hasText: 'I work in sales.' }).waitFor();
    await ann.graphql('mutation { createMemory(input: { text: "Answers in German, please." }) { id } }');
    await page.getByRole('listitem').filter({ hasText: 'Answers in German, please.' }).waitFor();
    await checkScreen(page, 'memories');
    await page.getByRole('button', { name: 'Delete all' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete all' }).click();
    await page.getByText('2 memories are deleted.').waitFor();
  });

  it('are connections, with what is missing said where it is', async () => {
    const { page } = await openConsole(service, ann, '/account/connections');
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByRole('button', { name: 'Google Drive' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByText('MCP server', { exact: true }).click();
    await checkScreen(page, 'connections-connect');
    await page.getByRole('textbox', { name: 'Name' }).fill('Ticket tools');
    await page.getByRole('textbox', { name: 'Address' }).fill('https://mcp.example.com/mcp');
    await page.getByRole('button', { name: 'Connect the server' }).click();
    await page.getByRole('row', { name: /Ticket tools/ }).waitFor();
    await keepConsolePicture(page, 'connections');
    await page.getByRole('button', { name: 'Delete Ticket tools' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('heading', { name: 'Nothing is connected' }).waitFor();
  });

  it.each(['light', 'dark'] as const)('can be used by everybody in %s colors, on a telephone too', async (scheme) => {
    const { page } = await openConsole(service, ann, '/account', { scheme, width: 390 });
    for (const path of ['/account', '/account/memories', '/account/connections']) {
      await page.goto(service.url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expect.poll(() => page.getByRole('status', { name: 'Loading' }).count()).toBe(0);
      expect(await overflowWidth(page), path).toBe(0);
      expect(await accessibilityFaults(page), path).toEqual([]);
      await keepConsolePicture(page, `${path.slice(1)}-phone-${scheme}`);
    }
  });
});
