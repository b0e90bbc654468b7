import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../support/browser/browser.ts';
import {
  accessibilityFaults,
  checkScreen,
  keepConsolePicture,
  openConsole,
  overflowWidth,
} from '../../support/browser/console.ts';
import { withService } from '../../support/service.ts';

const { service, make } = await withService();

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });

describe.skipIf(!hasBrowser())('the shell of the console', () => {
  it('leads to every place by its links, asks nobody outside, and has no error', async () => {
    const { page, problems, strangers } = await openConsole(service, ann);
    const nav = page.getByRole('navigation', { name: 'Places' });
    for (const name of ['Agents', 'Knowledge', 'Runs', 'Usage', 'People']) {
      await nav.getByRole('link', { name }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
    }
    await nav.getByRole('link', { name: 'Administration' }).click();
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await keepConsolePicture(page, 'shell');
    await page.getByRole('button', { name: /^You: / }).click();
    await page.getByRole('menuitem', { name: 'Your account' }).click();
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    expect(problems).toEqual([]);
    expect([...strangers]).toEqual([]);
  });

  it('goes anywhere by the palette, from the keyboard', async () => {
    const agent = await make.agent({ owner: ann, name: 'Harbour pilot' });
    const { page } = await openConsole(service, ann, '/usage');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('harbour');
    await page.getByRole('option', { name: 'Harbour pilot' }).waitFor();
    await keepConsolePicture(page, 'palette');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/agents/${agent.id}`);
  });

  it('leads who is not signed in to the sign-in, and back', async () => {
    const { page, context } = await openConsole(service, ann, '/usage');
    await context.clearCookies();
    await page.goto(`${service.url}/usage`);
    await page.waitForURL('**/sign-in?next=%2Fusage');
  });

  it('says that the session has ended, and shows nothing else any more', async () => {
    const { page, context } = await openConsole(service, ann, '/usage');
    const other = await context.newPage();
    await other.goto(`${service.url}/usage`);
    // A screen that arrives takes the focus, and an open menu closes then.
    await other.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    await other.getByRole('button', { name: 'You: Ann Example' }).click();
    await other.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    expect(await page.getByRole('navigation', { name: 'Places' }).count()).toBe(0);
  });

  it('says that the session has ended when somebody else ends it', async () => {
    const eve = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId }, name: 'Eve Example' });
    const { page } = await openConsole(service, eve, '/agents');
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
    const { data } = await eve.graphql('{ viewer { sessions(first: 5) { nodes { id } } } }');
    const document = 'mutation ($id: ID!) { endSession(id: $id) { id } }';
    for (const { id } of data.viewer.sessions.nodes) expect((await eve.graphql(document, { id })).errors).toBeUndefined();
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Agents' }).count()).toBe(0);
  });

  it('ends when the role of the person is taken away', async () => {
    const eve = await make.person({
      organization: { id: ann.orgId, tenantId: ann.tenantId },
      name: 'Eve Example',
      role: 'ADMIN',
    });
    const { page } = await openConsole(service, eve, '/people');
    await page.getByRole('button', { name: 'Invite' }).waitFor();
    const { data } = await ann.graphql('query ($id: ID!) { user(id: $id) { memberships(first: 1) { nodes { id } } } }', {
      id: eve.userId,
    });
    const [membership] = data.user.memberships.nodes;
    const document = 'mutation ($id: ID!) { updateMembership(id: $id, input: { role: MEMBER }) { role } }';
    expect((await ann.graphql(document, { id: membership.id })).errors).toBeUndefined();
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    expect(await page.getByRole('button', { name: 'Invite' }).count()).toBe(0);
  });

  it('shows itself in German to who asks for it', async () => {
    const { page } = await openConsole(service, ann, '/usage', { locale: 'de-DE' });
    await page.getByRole('navigation', { name: 'Orte' }).getByRole('link', { name: 'Personen' }).waitFor();
    expect(await page.getAttribute('html', 'lang')).toBe('de');
  });

  it.each(['light', 'dark'] as const)('can be used by everybody in %s colors, on a telephone too', async (scheme) => {
    const { page } = await openConsole(service, ann, '/people', { scheme, width: 390 });
    expect(await overflowWidth(page)).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Usage' }).waitFor();
    await checkScreen(page, `shell-phone-${scheme}`);
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  });
});
