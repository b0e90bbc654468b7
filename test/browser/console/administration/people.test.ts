import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import {
  accessibilityFaults,
  checkScreen,
  keepConsolePicture,
  openConsole,
  overflowWidth,
} from '../../../support/browser/console.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example', email: 'ann@people.example' });

describe.skipIf(!hasBrowser())('people in the console', () => {
  it('are invited by a link that is shown once, and are members when they accepted it', async () => {
    const { page, problems } = await openConsole(service, ann, '/people');
    await page.getByRole('link', { name: 'Ann Example' }).waitFor();
    await page.getByRole('button', { name: 'Invite' }).click();
    const dialog = page.getByRole('dialog', { name: 'Invite somebody' });
    await dialog.getByLabel('E-mail address').fill('no address');
    await page.keyboard.press('Enter');
    await dialog.getByText('This is not an e-mail address.').waitFor();
    await dialog.getByLabel('E-mail address').fill('bob@people.example');
    await checkScreen(page, 'people-invite');
    await page.keyboard.press('Enter');
    const ready = page.getByRole('dialog', { name: 'The invitation is ready' });
    const url = (await ready.getByRole('region', { name: 'Link of the invitation' }).textContent()) ?? '';
    await keepConsolePicture(page, 'people-invited');
    await ready.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('link', { name: 'Invitations' }).click();
    await page
      .getByRole('row', { name: /bob@people\.example/ })
      .getByText('Open')
      .waitFor();

    const bob = await page.context().browser()?.newPage();
    if (bob === undefined) throw new Error('The browser is gone.');
    await bob.goto(url);
    await bob.locator('#invited-name').fill('Bob Builder');
    await bob.locator('#invited-password').fill('correct horse battery');
    await bob.click('#accept');
    await bob.waitForURL((address) => address.pathname !== '/sign-in');

    // The page of the administrator follows by itself.
    await page
      .getByRole('row', { name: /bob@people\.example/ })
      .getByText('Accepted')
      .waitFor();
    await page.getByRole('link', { name: 'Members', exact: true }).click();
    await page.getByRole('link', { name: 'Bob Builder' }).waitFor();
    await make.person({ organization: orgOf(ann), name: 'Dora New' });
    await page.getByRole('link', { name: 'Dora New' }).waitFor();
    await keepConsolePicture(page, 'people-members');
    expect(problems.filter((line) => !line.includes('400'))).toEqual([]);
  });

  it('get a role, a group, and leave with what they have handed over, exported and erased', async () => {
    const cleo = await make.person({ organization: orgOf(ann), name: 'Cleo Example', email: 'cleo@people.example' });
    await make.agent({ owner: cleo, name: 'Harbour pilot' });
    const { page } = await openConsole(service, ann, '/people/groups');
    await page.getByRole('button', { name: 'New group' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Pilots');
    await page.getByRole('textbox', { name: 'Members' }).fill('cleo@people.example, new@people.example');
    await page.getByRole('button', { name: 'Make the group' }).click();
    await page.getByRole('heading', { level: 1, name: 'Pilots' }).waitFor();
    await page.getByText('No account yet').waitFor();
    await keepConsolePicture(page, 'people-group');
    await page.getByRole('link', { name: 'Cleo Example' }).click();
    await page.getByRole('link', { name: 'Pilots' }).waitFor();

    await page.getByRole('combobox', { name: 'Role of Cleo Example' }).selectOption('Auditor');
    await page.getByRole('button', { name: 'Change the role' }).click();
    await page.getByText('Cleo Example is now Auditor.').waitFor();

    await page.getByRole('combobox', { name: 'New owner' }).fill('Ann Example');
    await page.getByRole('button', { name: 'Hand over everything' }).click();
    await page.getByText(/Handed over: 1 agent,/).waitFor();
    await page.getByRole('button', { name: 'Export the data' }).click();
    await page.getByRole('link', { name: 'Download' }).waitFor();
    await checkScreen(page, 'people-person');

    await page.getByRole('button', { name: 'Acts on Cleo Example' }).click();
    await page.getByRole('menuitem', { name: 'Deactivate' }).click();
    await page.getByRole('button', { name: 'Deactivate', exact: true }).click();
    await page.getByText('This person is deactivated').waitFor();
    await page.getByRole('button', { name: 'Reactivate' }).click();
    await page.getByText('Cleo Example is a member again.').waitFor();

    await page.getByRole('button', { name: 'Erase the person' }).click();
    await page.getByRole('button', { name: 'Erase for good' }).click();
    await page.getByText('Everything is erased that may be.').waitFor();
    await keepConsolePicture(page, 'people-erased');
  });

  it('see what their role may see: members their groups, auditors everything without a button', async () => {
    const member = await make.person({ organization: orgOf(ann), name: 'Mia Member' });
    const auditor = await make.person({ organization: orgOf(ann), name: 'Ada Auditor', role: 'AUDITOR' });
    const { page } = await openConsole(service, member, '/people');
    await page.getByRole('heading', { level: 1, name: 'Groups' }).waitFor();
    expect(await page.getByRole('link', { name: 'Members' }).count()).toBe(0);
    await page.goto(`${service.url}/people/${ann.userId}`);
    await page.getByText('Only administrators see this').waitFor();

    const { page: audit } = await openConsole(service, auditor, '/people');
    await audit.getByRole('link', { name: 'Ann Example' }).waitFor();
    expect(await audit.getByRole('button', { name: 'Invite' }).count()).toBe(0);
    expect(await audit.getByRole('combobox', { name: /^Role of/ }).count()).toBe(0);
  });

  it.each(['light', 'dark'] as const)('can be managed by everybody in %s colors, on a telephone too', async (scheme) => {
    const { page } = await openConsole(service, ann, '/people', { scheme, width: 390 });
    for (const path of ['/people', '/people/invitations', '/people/groups', `/people/${ann.userId}`]) {
      await page.goto(service.url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
      expect(await overflowWidth(page), path).toBe(0);
      expect(await accessibilityFaults(page), path).toEqual([]);
      await keepConsolePicture(page, `people${path.replaceAll('/', '-').slice(7, 20)}-phone-${scheme}`);
    }
  });
});

const orgOf = ({ orgId, tenantId }: Person) => ({ id: orgId, tenantId });
