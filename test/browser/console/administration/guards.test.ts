import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import {
  accessibilityFaults,
  checkScreen,
  keepConsolePicture,
  openConsole,
  overflowWidth,
} from '../../../support/browser/console.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { service, make, upstream } = await withService('model');
const modelId = 'openai/test-model';

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
const bob = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId }, name: 'Bob Builder' });
const agentId = (await make.agent({ owner: ann, name: 'Harbour pilot', modelId, visibility: 'ORGANIZATION' })).id;

/** What the model was asked. */
async function asked(question: string): Promise<string> {
  upstream.reset();
  upstream.otherwise({ text: 'Hello' });
  const messages = [{ role: 'user', content: question }];
  expect((await ann.post('/api/v1/chat/completions', { model: agentId, messages })).status).toBe(200);
  return JSON.stringify(upstream.requests[0]?.body?.messages);
}
const question = 'Write to ann@example.com of order A-12345 on 10.0.0.7.';

describe.skipIf(!hasBrowser())('guards in the console', () => {
  it('are set for the organization, with faults at their fields, and say how much they masked', async () => {
    const { page, problems } = await openConsole(service, ann, '/administration/guard');
    await page.getByText('Nothing was masked.').waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await page.getByRole('group', { name: 'What is masked' }).getByRole('checkbox', { name: 'E-mail addresses' }).check();
    await page.getByRole('button', { name: 'Add a pattern' }).click();
    const pattern = page.getByRole('group', { name: 'Pattern 1' });
    await pattern.getByRole('textbox', { name: 'Name' }).fill('order');
    await pattern.getByRole('textbox', { name: 'Regular expression (RE2)' }).fill('A-[0-9]{5}');
    await pattern.getByRole('spinbutton', { name: 'Longest value' }).fill('7');
    await page.getByRole('button', { name: 'Save' }).click();
    await pattern.getByText('capital letters, digits and _').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await pattern.getByRole('textbox', { name: 'Name' }).fill('ORDER');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The guard is saved.').waitFor();
    expect(await asked(question)).toContain('Write to [EMAIL_1] of order [ORDER_1] on 10.0.0.7.');
    // Counts are written together, once in a while.
    const rows = page.getByRole('table', { name: 'Masked values by kind' }).getByRole('row');
    await eventually(async () => {
      await page.reload();
      await rows.filter({ hasText: 'E-mail addresses' }).getByText('1').waitFor({ timeout: 2_000 });
    }, 15_000);
    await rows.filter({ hasText: 'Own patterns' }).getByText('1').waitFor();
    await checkScreen(page, 'guard');
    expect(problems.filter((problem) => !problem.includes('400'))).toEqual([]);
  });

  it('are set for an agent, which says what the organization masks besides', async () => {
    const { page } = await openConsole(service, ann, `/agents/${agentId}/guard`);
    await page.getByText('The organization masks in each agent: E-mail addresses and ORDER.').waitFor();
    await page.getByRole('checkbox', { name: 'IP addresses' }).check();
    await page.getByRole('checkbox', { name: 'Put values back in answers and calls of tools' }).uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The guard is saved.').waitFor();
    expect(await asked(question)).toContain('on [IP_ADDRESS_1].');
    await page.reload();
    expect(await page.getByRole('checkbox', { name: 'IP addresses' }).isChecked()).toBe(true);
    await checkScreen(page, 'guard-agent');
    // What is typed is not lost by a click.
    await page.getByRole('checkbox', { name: 'Card numbers' }).check();
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Sharing' }).click();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor();
  });

  it('can be read in dark colors on a telephone in German, and by administrators alone', async () => {
    const view = { scheme: 'dark', width: 390, locale: 'de-DE' } as const;
    const { page } = await openConsole(service, ann, '/administration/guard', view);
    await page.getByRole('checkbox', { name: 'Telefonnummern' }).waitFor();
    expect(await overflowWidth(page)).toBe(0);
    await checkScreen(page, 'guard-phone-dark');
    await page.evaluate(() => document.querySelector('form')?.scrollIntoView({ block: 'end' }));
    await keepConsolePicture(page, 'guard-phone-dark-end');
    const { page: editor } = await openConsole(service, ann, `/agents/${agentId}/guard`, view);
    await editor.getByRole('checkbox', { name: 'Telefonnummern' }).waitFor();
    expect(await overflowWidth(editor)).toBe(0);
    await keepConsolePicture(editor, 'guard-agent-phone-dark');
    const { page: member } = await openConsole(service, bob, '/administration/guard');
    await member.getByText('Only administrators see this').waitFor();
  });
});
