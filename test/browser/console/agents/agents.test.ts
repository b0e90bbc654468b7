import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { checkScreen, openConsole, overflowWidth } from '../../../support/browser/console.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });

describe.skipIf(!hasBrowser())('the list of agents', () => {
  it('teaches who has none, and makes the first one', async () => {
    const { page, problems } = await openConsole(service, ann, '/agents');
    await page.getByRole('heading', { name: 'Make your first agent' }).waitFor();
    await checkScreen(page, 'agents-empty');
    await page.getByRole('main').getByRole('button', { name: 'New agent' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New agent' });
    await dialog.getByRole('button', { name: 'Create' }).click();
    // What the service refuses stands beside its field.
    await expectFault(page, 'Name');
    await checkScreen(page, 'agents-new');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Harbour pilot');
    await dialog.getByRole('textbox', { name: 'What it is for' }).fill('Answers questions about the harbour.');
    await dialog.getByRole('textbox', { name: 'Instructions' }).fill('You are a pilot. Answer briefly.');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'Harbour pilot' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('shows cards and a table, searches, and hears of what others make', async () => {
    await make.agent({ owner: ann, name: 'Legal desk', description: 'Reads contracts.', visibility: 'ORGANIZATION' });
    const { page } = await openConsole(service, ann, '/agents');
    await page.getByRole('link', { name: 'Legal desk', exact: true }).waitFor();
    await checkScreen(page, 'agents-cards');
    await make.agent({ owner: ann, name: 'Night watch' });
    await page.getByRole('link', { name: 'Night watch', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('columnheader', { name: 'Runs, 30 days' }).waitFor();
    await page.getByRole('rowheader', { name: /Night watch/ }).waitFor();
    await checkScreen(page, 'agents-table');
    await page.getByRole('searchbox', { name: 'Search agents' }).fill('contracts');
    await page.getByRole('rowheader', { name: /Night watch/ }).waitFor({ state: 'detached' });
    await page.getByRole('rowheader', { name: /Legal desk/ }).waitFor();
    // The choice of the view is remembered.
    await page.reload();
    await page.getByRole('columnheader', { name: 'Runs, 30 days' }).waitFor();
  });

  it('leads through all pages', async () => {
    const many = await make.person({ name: 'Many' });
    for (let index = 0; index < 31; index += 1) await make.agent({ owner: many, name: `Agent number ${index}` });
    const { page } = await openConsole(service, many, '/agents');
    await page.getByRole('link', { name: 'Agent number 30', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'Agent number 0', exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('link', { name: 'Agent number 0', exact: true }).waitFor();
  });

  it('gives an agent as a file, checks the file, and makes the agent from it', async () => {
    const agent = await make.agent({ owner: ann, name: 'Weather desk' });
    const auth = { type: 'BEARER_TOKEN', credential: 'a-token-of-the-weather-service' };
    const tool = { description: 'Looks up the weather', method: 'GET', url: 'https://api.example.com/weather', auth };
    await ann.graphql(
      'mutation ($id: ID!, $input: CreateAgentToolInput!) { createAgentTool(agentId: $id, input: $input) { id } }',
      {
        id: agent.id,
        input: { name: 'get_weather', settings: { apiFunction: tool } },
      },
    );
    const { page } = await openConsole(service, ann, '/agents');
    await page.getByRole('button', { name: 'More for Weather desk' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Export as a file' }).click();
    const text = await readFile(await (await download).path(), 'utf8');
    expect(text).not.toContain('a-token-of-the-weather-service');
    const path = join(tmpdir(), `agent-${agent.id}.json`);
    await writeFile(path, text.replace('"Weather desk"', '"Weather desk"'));
    await page.getByRole('button', { name: 'Import' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import an agent' });
    await dialog.getByLabel('File').setInputFiles(path);
    await dialog.getByText(/secret missing/).waitFor();
    await checkScreen(page, 'agents-import');
    await dialog.getByLabel(/^Secret /).fill('another-token');
    await dialog.getByRole('button', { name: 'Check again' }).click();
    await dialog.getByText('Checked: the agent will be as it was.').waitFor();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Weather desk at home');
    await dialog.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Weather desk at home' }).waitFor();
  });

  it('duplicates and deletes', async () => {
    await make.agent({ owner: ann, name: 'Twin maker' });
    const { page } = await openConsole(service, ann, '/agents');
    await page.getByRole('button', { name: 'More for Twin maker' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate' }).click();
    await page.getByRole('heading', { level: 1, name: 'Copy of Twin maker' }).waitFor();
    await page.getByRole('button', { name: 'More for Copy of Twin maker' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
    await page.getByRole('link', { name: 'Twin maker', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'Copy of Twin maker' }).count()).toBe(0);
  });

  it.each(['light', 'dark'] as const)('can be used by everybody in %s colors, on a telephone too', async (scheme) => {
    const { page } = await openConsole(service, ann, '/agents', { scheme, width: 390 });
    await page.getByRole('link', { name: 'Legal desk', exact: true }).waitFor();
    expect(await overflowWidth(page)).toBe(0);
    await checkScreen(page, `agents-phone-${scheme}`);
  });
});

async function expectFault(page: Page, label: string): Promise<void> {
  const field = page.getByRole('dialog').getByRole('textbox', { name: label, exact: true });
  await page.locator('[aria-invalid="true"]').first().waitFor();
  expect(await field.getAttribute('aria-invalid')).toBe('true');
}
