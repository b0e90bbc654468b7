import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../support/browser/browser.ts';
import { type ConsoleView, keepConsolePicture, openConsole, overflowWidth } from '../../support/browser/console.ts';
import { addFile, indexed } from '../../support/knowledge/knowledge.ts';
import { withService } from '../../support/service.ts';

/**
 * The tour of the README's ten pictures, with the built-in model and the PDF of the quick tour. With BROWSER_PICTURES=docs/pictures it takes them.
 */
const { service, make } = await withService('plain', { env: { DEFAULT_MODEL: 'parley/offline' } });
const size: ConsoleView = { width: 1200, height: 750 };
const question = 'How long is the warranty on the batteries of electric bicycles?';
const others = [
  ['Contract reader', 'Reads contracts and names what is unusual'],
  ['Travel desk', 'Plans trips within the rules of the company'],
  ['Onboarding', 'Helps new colleagues through their first weeks'],
] as const;

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
const shared = { owner: ann, src: '', modelId: 'parley/offline', visibility: 'ORGANIZATION' } as const;
const description = 'Answers questions about the bicycle workshop';
for (const [name, description] of others) await make.agent({ ...shared, name, description });
const shown = { generateCitations: true, intermediateStepsVisible: true };
const agentId = (await make.agent({ ...shared, ...shown, name: 'Workshop help', description })).id;
const services = [{ name: 'Puncture repair', priceEuro: 15 }];
const prices = await make.apiDataSource({ owner: ann, agentId, name: 'Prices', data: { services } });
const pdf = readFileSync(new URL('../../../docs/tour/warranty.pdf', import.meta.url));
const { body } = await addFile(ann, agentId, 'warranty.pdf', pdf, 'application/pdf');
for (const id of [prices.id, body.id]) await indexed(ann, id);

describe.skipIf(!hasBrowser())('the tour of the README', () => {
  it('asks an agent, opens what the answer cites, and sees what the run did', async () => {
    const { page, problems } = await openConsole(service, ann, `/?agent=${agentId}`, size);
    await page.getByRole('heading', { name: 'Workshop help' }).waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill(question);
    await keepConsolePicture(page, '01-ask');

    await page.keyboard.press('Enter');
    const citation = page.getByRole('region', { name: 'Transcript' }).getByRole('button', { name: /^Source 1/ });
    await citation.waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    await page.getByText('two years or 600 full charging cycles').first().waitFor();
    await keepConsolePicture(page, '02-answer');

    await citation.click();
    const sources = page.getByRole('complementary', { name: 'Sources' });
    await sources.locator('mark', { hasText: 'two years' }).first().waitFor();
    await keepConsolePicture(page, '03-sources');

    await sources.getByRole('link', { name: 'Open the document' }).click();
    await page.getByRole('heading', { level: 1, name: 'warranty.pdf' }).waitFor();
    await page.locator('mark', { hasText: 'Batteries' }).first().waitFor();
    await keepConsolePicture(page, '04-document');

    await page.goto(`${service.url}/runs`);
    await page
      .getByRole('row', { name: /Workshop help/ })
      .getByRole('link')
      .first()
      .click();
    await page.getByRole('heading', { name: 'What it did' }).waitFor();
    await page.getByText(/Search of knowledge: \d passages?/).waitFor();
    await keepConsolePicture(page, '08-run');
    expect(problems).toEqual([]);
  });

  it('keeps a passage with long lines of code inside the panel', async () => {
    // A person of another organization: the pictures show nothing of this.
    const bob = await make.person({ name: 'Bob Example' });
    const { id } = await make.agent({ owner: bob, src: '', name: 'Setup', modelId: 'parley/offline', generateCitations: true });
    const code = `{ "servers": { "workshop": { "address": "http://localhost:4000/${'long/'.repeat(40)}" } } }`;
    const text = `# Setup\n\nThe gearbox is calibrated by this file.\n\n\`\`\`json\n${code}\n\`\`\`\n`;
    const { body } = await addFile(bob, id, 'setup.md', Buffer.from(text), 'text/markdown');
    await indexed(bob, body.id);
    const { page } = await openConsole(service, bob, `/?agent=${id}`, size);
    await page.getByRole('heading', { name: 'Setup' }).waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('How is the gearbox calibrated?');
    await page.keyboard.press('Enter');
    await page
      .getByRole('region', { name: 'Transcript' })
      .getByRole('button', { name: /^Source 1/ })
      .click();
    const sources = page.getByRole('complementary', { name: 'Sources' });
    await sources.locator('pre', { hasText: 'workshop' }).waitFor();
    expect(await overflowWidth(page)).toBe(0);
  });

  it('shows agents, one with a chat to try it, its knowledge, and what it used', async () => {
    const { page, problems } = await openConsole(service, ann, '/agents', size);
    for (const [name] of [...others, ['Workshop help']]) await page.getByRole('heading', { name, exact: true }).waitFor();
    await keepConsolePicture(page, '05-agents');

    await open(page, `/agents/${agentId}`, 'Workshop help');
    await page.getByRole('complementary', { name: 'Preview' }).getByRole('textbox').waitFor();
    await keepConsolePicture(page, '06-agent');

    await open(page, '/knowledge', 'Knowledge');
    for (const name of ['Prices', 'warranty.pdf']) await page.getByText(name, { exact: true }).first().waitFor();
    await keepConsolePicture(page, '07-knowledge');

    await open(page, '/usage', 'Usage');
    await page.getByRole('table', { name: /^Usage: / }).waitFor();
    await keepConsolePicture(page, '09-usage');
    expect(problems).toEqual([]);
  });

  it('goes anywhere, in dark colors', async () => {
    const { page, problems } = await openConsole(service, ann, `/?agent=${agentId}`, { ...size, scheme: 'dark' });
    await page.getByRole('heading', { name: 'Workshop help' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').last().fill('work');
    await page.getByRole('option', { name: /Workshop help/ }).waitFor();
    await keepConsolePicture(page, '10-palette');
    expect(problems).toEqual([]);
  });
});

async function open(page: Page, path: string, heading: string): Promise<void> {
  await page.goto(service.url + path);
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
}
