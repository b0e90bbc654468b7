import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { checkScreen, openConsole, overflowWidth } from '../../../support/browser/console.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
const bob = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId }, name: 'Bob Builder' });
const group = await ann.graphql(
  'mutation { createGroup(input: { name: "Pilots", availability: EVERYONE, memberEmails: [] }) { id } }',
);
const rename = 'mutation ($id: ID!) { updateGroup(id: $id, input: { name: "Captains", availability: RESTRICTED }) { id } }';
await ann.graphql(rename, { id: group.data.createGroup.id });
await make.agent({ owner: bob, name: 'Harbour pilot' });
await bob.graphql('{ users { nodes { id } } }');

describe.skipIf(!hasBrowser())('the audit log in the console', () => {
  it('says who did what, with what was before and after, and is narrowed by kind and person', async () => {
    const { page, problems } = await openConsole(service, ann, '/administration/audit');
    const entry = page.getByRole('listitem').filter({ hasText: 'Group changed: Captains' });
    await entry.getByText('everyone').waitFor();
    await entry.getByText('restricted').waitFor();
    await checkScreen(page, 'audit');
    await page.getByRole('combobox', { name: 'What happened' }).selectOption('Refusals');
    await page.getByRole('listitem').filter({ hasText: 'Bob Builder' }).getByText('Refused').waitFor();
    await entry.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'No filter' }).click();
    await page.getByRole('combobox', { name: 'By' }).fill('Bob Builder');
    await page.getByRole('listitem').filter({ hasText: 'Agent created: Harbour pilot' }).waitFor();
    await entry.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  it('does not fill with one’s own looking: reads that follow each other are one line', async () => {
    const cleo = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId }, name: 'Cleo', role: 'ADMIN' });
    const agent = await make.agent({ owner: bob, name: 'Quiet pilot', visibility: 'PRIVATE' });
    for (let read = 0; read < 120; read += 1)
      await cleo.graphql('query ($id: ID!) { agent(id: $id) { name } }', { id: agent.id });
    const { page } = await openConsole(service, ann, '/administration/audit');
    const line = page.getByRole('listitem').filter({ hasText: 'looked at what others have' });
    await line.getByText('120 times').waitFor();
    expect(await line.count()).toBe(1);
    // What was there before it is seen too.
    await page.getByRole('listitem').filter({ hasText: 'Group changed: Captains' }).waitFor();
    await line.locator('summary').click();
    await line.getByText('Quiet pilot').first().waitFor();
  });

  it('can be read by everybody in dark colors on a telephone, and by administrators alone', async () => {
    const { page } = await openConsole(service, ann, '/administration/audit', { scheme: 'dark', width: 390 });
    await page.getByRole('listitem').filter({ hasText: 'Group changed' }).waitFor();
    expect(await overflowWidth(page)).toBe(0);
    await checkScreen(page, 'audit-phone-dark');
    const { page: member } = await openConsole(service, bob, '/administration/audit');
    await member.getByText('Only administrators see this').waitFor();
  });
});
