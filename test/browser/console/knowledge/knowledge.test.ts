import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { checkScreen, keepConsolePicture, openConsole, overflowWidth } from '../../../support/browser/console.ts';
import { makePdf } from '../../../support/knowledge/documents.ts';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();
const folder = join(mkdtempSync(join(tmpdir(), 'parley-knowledge-')), 'Harbour handbook');

const rules = `# Harbour rules

Boats over twelve metres need a pilot.

## Fees

A berth for one night costs forty crowns, and a week costs two hundred.
`;

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
mkdirSync(join(folder, 'safety'), { recursive: true });
writeFileSync(join(folder, 'rules.md'), rules);
writeFileSync(join(folder, '.hidden'), 'nobody reads this');
const pages = [
  { heading: 'Tides', columns: ['High water comes twice a day at the northern quay.'] },
  { heading: 'Lights', columns: ['The lighthouse shows three white flashes every ten seconds during fog.'] },
];
writeFileSync(join(folder, 'safety', 'lights.pdf'), await makePdf(pages));

afterAll(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

describe.skipIf(!hasBrowser())('knowledge in the console', () => {
  it('takes a folder from the first, shows how it is read, and says why passages are found', async () => {
    const { page, problems } = await openConsole(service, ann, '/knowledge');
    await page.getByRole('heading', { name: 'Agents answer from what you give them' }).waitFor();
    await checkScreen(page, 'knowledge-empty');
    await page.getByRole('button', { name: 'Add knowledge' }).click();
    await page.locator('input[data-choice=folder]').setInputFiles(folder);
    const dialog = page.getByRole('dialog', { name: 'Add knowledge' });
    await dialog.getByText('safety › lights.pdf').waitFor();
    expect(await dialog.getByRole('list', { name: 'Files to add' }).getByRole('listitem').count()).toBe(2);
    expect(await dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('Harbour handbook');
    await dialog.getByLabel('For which agent').selectOption('A new agent');
    await dialog.getByLabel('Name of the new agent').fill('Harbour pilot');
    await checkScreen(page, 'knowledge-add-files');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Harbour handbook' }).waitFor();
    const sourceId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await page.getByText('2 files are sent').waitFor();
    await page.getByText('Ready', { exact: true }).first().waitFor();
    await page.getByRole('list', { name: 'Agents' }).getByRole('link', { name: 'Harbour pilot' }).waitFor();
    await indexed(ann, sourceId);
    await keepConsolePicture(page, 'knowledge-source');

    await page.getByRole('link', { name: 'Documents' }).click();
    await page.getByRole('button', { name: 'rules.md' }).click();
    await page.getByText('A berth for one night').waitFor();
    await checkScreen(page, 'knowledge-item');
    await page.keyboard.press('Escape');

    await page.getByRole('link', { name: 'Try a question' }).click();
    await page.getByRole('textbox', { name: 'Question' }).fill('What does a berth cost?');
    await page.getByRole('button', { name: 'Try', exact: true }).click();
    await page.getByText('Found by these words:').first().waitFor();
    await page.locator('mark', { hasText: 'berth' }).first().waitFor();
    await checkScreen(page, 'knowledge-try');
    const ask = await page.getByRole('link', { name: 'Ask Harbour pilot' }).getAttribute('href');
    expect(ask).toMatch(/^\/\?agent=ai_\w+&question=What\+does\+a\+berth\+cost%3F$/);
    expect(problems).toEqual([]);
  });

  it('shows what is changed by others while it is open, and what may not be seen as missing', async () => {
    const agent = await make.agent({ owner: ann, name: 'Clerk' });
    const { page } = await openConsole(service, ann, '/knowledge');
    await page.getByRole('link', { name: 'Harbour handbook' }).waitFor();
    const source = await make.apiDataSource({ owner: ann, agentId: agent.id, name: 'Opening hours', data: { monday: 'nine' } });
    await page.getByRole('row', { name: 'Opening hours' }).getByText('Ready').waitFor();
    await keepConsolePicture(page, 'knowledge-list');
    await page.getByRole('link', { name: 'Opening hours' }).click();
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('Name').fill('Hours of the office');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { level: 1, name: 'Hours of the office' }).waitFor();
    await page.getByRole('switch', { name: 'Answers may cite it' }).click();
    await checkScreen(page, 'knowledge-settings');
    expect((await ann.get(`/api/v1/data-sources/${source.id}`)).body.cite).toBe(false);

    const bob = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId }, name: 'Bob Other' });
    const other = await openConsole(service, bob, `/knowledge/${source.id}`);
    await other.page.getByRole('heading', { name: 'There is no such source' }).waitFor();
    await keepConsolePicture(other.page, 'knowledge-forbidden');

    await ann.delete(`/api/v1/data-sources/${source.id}`);
    await page.getByRole('heading', { name: 'There is no such source' }).waitFor();
  });

  it.each(['light', 'dark'] as const)('can be used by everybody in %s colors, on a telephone too', async (scheme) => {
    const { page } = await openConsole(service, ann, '/knowledge', { scheme, width: 390 });
    await page.getByRole('link', { name: 'Harbour handbook' }).waitFor();
    expect(await overflowWidth(page)).toBe(0);
    await checkScreen(page, `knowledge-phone-${scheme}`);
    await page.getByRole('link', { name: 'Harbour handbook' }).click();
    await page.getByRole('heading', { name: 'Agents that answer from it' }).waitFor();
    expect(await overflowWidth(page)).toBe(0);
    await checkScreen(page, `knowledge-source-phone-${scheme}`);
  });
});
