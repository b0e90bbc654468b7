import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../support/browser/browser.ts';
import { checkScreen, openConsole } from '../../support/browser/console.ts';
import { withService } from '../../support/service.ts';

const { service, make } = await withService();

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
const bob = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId }, name: 'Bob Builder' });

const missing = 'There is nothing at this address';

describe.skipIf(!hasBrowser())('an address of the console that nothing is at', () => {
  it.each([
    '/no-such-place',
    '/favicon/of/nobody.html',
    '/chats/of/nobody',
    '/agents/a/b/c',
    '/knowledge/a/b/c',
    '/documents/a/b',
    '/runs/a/b',
    '/usage/last-year',
    '/people/no/such',
    '/account/keys/of/nobody',
    '/administration/audit/log',
    '/administration/no-such',
    '/account/no-such',
  ])('says so, and leads to the chats: %s', async (path) => {
    const { page } = await openConsole(service, ann, path);
    await page.getByRole('heading', { level: 1, name: missing }).waitFor();
    await page.getByRole('navigation', { name: 'Places' }).waitFor();
    expect(await page.title()).toBe(`${missing} · Parley`);
    await page.getByRole('main').getByRole('link', { name: 'To the chats' }).click();
    await page.waitForURL(`${service.url}/`);
  });

  it.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('can be read by everybody, in %s colors at a width of %i pixels', async (scheme, width) => {
    const { page } = await openConsole(service, ann, '/no-such-place', { scheme, width });
    await page.getByRole('heading', { level: 1, name: missing }).waitFor();
    await checkScreen(page, `missing-${scheme}`);
  });

  it('is not said to be one of administrators alone', async () => {
    const { page } = await openConsole(service, bob, '/people/no/such');
    await page.getByRole('heading', { level: 1, name: missing }).waitFor();
    expect(await page.getByText('Only administrators see this').count()).toBe(0);
  });

  it.each([
    ['/keys?new', '/account/keys?new', 'Keys'],
    ['/connections', '/account/connections', 'Connections'],
    ['/memories', '/account/memories', 'Memories'],
    ['/data/schedules', '/account/schedules', 'Schedules'],
    ['/audit?target=ai_1', '/administration/audit?target=ai_1', 'Audit log'],
    ['/data', '/administration/data', 'Data'],
    ['/data/webhooks', '/administration/webhooks', 'Webhooks'],
  ])('is none that a place had before: %s', async (before, now, heading) => {
    const { page } = await openConsole(service, ann, before);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    expect(page.url()).toBe(service.url + now);
  });

  it('is said in German', async () => {
    const { page } = await openConsole(service, ann, '/no-such-place', { locale: 'de-DE' });
    await page.getByRole('heading', { level: 1, name: 'Unter dieser Adresse ist nichts' }).waitFor();
  });
});
