import { afterAll, describe, expect, it } from 'vitest';
import { GoogleDrive } from '../../../fixtures/upstreams/google-drive.ts';
import { googleGroup } from '../../../fixtures/upstreams/google-sharing.ts';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { checkScreen, keepConsolePicture, openConsole, overflowWidth } from '../../../support/browser/console.ts';
import { googleSettings, mirroredSources } from '../../../support/knowledge/mirrored.ts';
import { withService } from '../../../support/service.ts';

const google = await GoogleDrive.start();
const { service, make } = await withService('plain', { env: googleSettings(google) });
const mirrored = mirroredSources(service, google);
const { storage } = service.deps;
const { prisma } = storage.db;
afterAll(() => google.server.close());
let sourceId: string;
const address = () => `/knowledge/${sourceId}/permissions`;

const organization = await make.organization();
const ann = await make.person({ name: 'Ann Example', organization, role: 'ADMIN' });
const bob = await make.person({ name: 'Bob Other', organization });
await mirrored.verify(ann);
await make.agent({ owner: ann, name: 'Workshop' });
const folder = google.folder('Plans').id;
google.sharing.directory = 'noScope';
for (const name of ['Budget', 'Holidays', 'Rules']) {
  google.add({ id: name, name: `${name}.md`, parents: [folder], text: `# ${name}\n\nThe ${name} of this year.` });
}
google.share('Budget', [googleGroup('board')]);
google.share('Holidays', [{ id: `p-${ann.userId}`, type: 'user', role: 'reader', emailAddress: ann.email }]);
google.sharing.closed.add('Rules');
await mirrored.connect(ann, 'drive@acme.example');

describe.skipIf(!hasBrowser())('the permissions of a source in the console', () => {
  it('are asked for when a source is added, and then the page says what is known of them', async () => {
    const { page, problems } = await openConsole(service, ann, '/knowledge');
    await page.getByRole('button', { name: 'Add knowledge' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add knowledge' });
    await dialog.getByText('Connected service').click();
    const mirroredChoice = dialog.getByRole('radio', { name: /^What they may open there themselves/ });
    await mirroredChoice.waitFor();
    expect(await mirroredChoice.isChecked()).toBe(true);
    expect(await dialog.getByRole('radio', { name: /^All that the account reads/ }).isChecked()).toBe(false);
    await dialog
      .getByRole('checkbox', { name: 'Plans' })
      .or(dialog.getByRole('radio', { name: 'Plans' }))
      .check();
    await checkScreen(page, 'permissions-add');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Plans' }).waitFor();
    await page.getByText('Each person from what that person may open there').waitFor();
    sourceId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await page.getByRole('link', { name: 'Permissions' }).click();
    await page.getByRole('list', { name: 'Rights that the account lacks' }).getByText('admin.directory.group').waitFor();
    await page.getByRole('list', { name: 'Groups whose members cannot be read' }).getByText('board@acme.example').waitFor();
    await page
      .getByRole('list', { name: 'Why it is not known who may open them' })
      .getByText('1 · The account may not read who may open them')
      .waitFor();
    expect(await page.getByText('1: they find what is open to everybody').count()).toBe(1);
    await page.getByRole('list', { name: 'People without an identity there' }).getByText(bob.email).waitFor();
    expect(await page.getByText('After 1 minute at most').count()).toBe(1);
    await checkScreen(page, 'permissions-missing');
    expect(problems).toEqual([]);
  });

  it('are pushed by a program to a source of JSON, which says how', async () => {
    const { page, problems } = await openConsole(service, ann, '/knowledge');
    await page.getByRole('button', { name: 'Add knowledge' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add knowledge' });
    await dialog.getByText('JSON', { exact: true }).click();
    expect(await dialog.getByRole('radio', { name: /^All of it/ }).isChecked()).toBe(true);
    await dialog.getByRole('radio', { name: /^What a program says that they may open/ }).check();
    await dialog.getByRole('textbox', { name: 'Content' }).waitFor({ state: 'detached' });
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Handbook');
    await checkScreen(page, 'permissions-push-add');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Handbook' }).waitFor();
    await page.getByText('Each person from what that person may open there').waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await keepConsolePicture(page, 'permissions-pushed-page');
    await page.getByRole('link', { name: 'Permissions' }).click();
    await page.getByRole('heading', { name: 'A program pushes the documents' }).waitFor();
    await page.getByText(`/api/v1/data-sources/${id}/principals`).waitFor();
    await page.getByText(`/api/v1/data-sources/${id}/items`).waitFor();
    await checkScreen(page, 'permissions-pushed');
    expect(problems).toEqual([]);
  });

  it('are followed while they are read, and a reading that fails says so', async () => {
    const { page } = await openConsole(service, ann, address());
    await page.getByText('Documents with known permissions').waitFor();
    const lease = await storage.knowledge.permissionReadings.begin(sourceId, { owner: 'test', leaseMs: 60_000 });
    if (lease === undefined) throw new Error('the permissions are read by another');
    const { id: dataSourceId, orgId, directory } = lease;
    const place = { dataSourceId, orgId, directory, service: 'google' } as const;
    // They are counted, and are no documents of the source.
    const items = ['a', 'b'].map((uniqueId) => ({ uniqueId, permissions: { lists: [[{ kind: 'anyone' }]] } }) as const);
    await storage.knowledge.permissionReadings.apply(lease, place, { items, groups: [], place: 1 });
    await page.getByRole('heading', { name: 'Permissions are being read' }).waitFor();
    await page.getByText('2 of 3 documents').waitFor();
    await keepConsolePicture(page, 'permissions-reading');
    await storage.knowledge.permissionReadings.fail(lease, { code: 'UNAVAILABLE', message: 'Google Drive does not answer.' });
    await page.getByText('The last reading failed: Google Drive does not answer.').waitFor();
    await page.getByText('Permissions could not be read lately.').waitFor();
    await checkScreen(page, 'permissions-failing');
    const readAt = new Date(Date.now() - 25 * 3_600_000);
    await prisma.permissionReading.update({ where: { dataSourceId: sourceId }, data: { readAt } });
    storage.signals.publish('data-source-changed', sourceId);
    await page.getByRole('alert').getByText('Permissions were not read for too long').waitFor();
    await mirrored.read(sourceId);
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });

  it('say what a person can see, and change after a dialog that says what is hidden', async () => {
    const { page, problems } = await openConsole(service, ann, address());
    await page.getByRole('button', { name: 'Show what Bob Other can see' }).click();
    await page.getByText('Bob Other can see nothing here.').waitFor();
    await page.getByRole('button', { name: 'Another person' }).click();
    await page.getByRole('searchbox', { name: 'Search people' }).fill('ann');
    await page.getByRole('button', { name: 'Show what Bob Other can see' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Show what Ann Example can see' }).click();
    const row = page.getByRole('row', { name: 'Holidays.md' });
    await row.getByText(`the e-mail ${ann.email}`).waitFor();
    await page.getByRole('button', { name: 'Open it to everybody' }).click();
    const opening = page.getByRole('dialog', { name: 'Open "Plans" to everybody?' });
    await opening.getByText('found at once by everybody who may use one of its agents').waitFor();
    await keepConsolePicture(page, 'permissions-open');
    await opening.getByRole('button', { name: 'Open it to everybody' }).click();
    await page.getByRole('heading', { name: 'Everybody finds all of it' }).waitFor();
    expect((await prisma.dataSource.findUniqueOrThrow({ where: { id: sourceId } })).access).toBe('LENT');
    await page.getByRole('button', { name: 'Mirror its permissions' }).click();
    const hiding = page.getByRole('dialog', { name: 'Mirror the permissions of "Plans"?' });
    await hiding.getByText('hidden from everybody at once, until it is known who may open them.').waitFor();
    await checkScreen(page, 'permissions-mirror');
    await hiding.getByRole('button', { name: 'Mirror its permissions' }).click();
    await page.getByRole('heading', { name: 'Each person finds what that person may open there' }).waitFor();
    await mirrored.read(sourceId);
    await page.getByText('Documents with known permissions').waitFor();
    expect(problems).toEqual([]);
  });

  it('follow who a person is, which the account page says and proves', async () => {
    const { page } = await openConsole(service, bob, '/account');
    const identities = page.getByRole('list', { name: 'Who you are at sources' });
    await identities.getByText('Nothing vouches for it').waitFor();
    await page.getByText('Nothing vouches for you yet').waitFor();
    await page.getByRole('button', { name: 'Connect my account' }).click();
    const dialog = page.getByRole('dialog', { name: 'Connect my account' });
    expect(await dialog.getByText('MCP server').count()).toBe(0);
    await checkScreen(page, 'identities-connect');
    await page.keyboard.press('Escape');
    const id = await mirrored.connect(bob, 'bob@acme.example');
    const owner = { id, orgId: bob.orgId, ownerUserId: bob.userId };
    await storage.knowledge.permissions.proveAccount(owner, { service: 'google', accountId: '4711' });
    await page.reload();
    const row = identities.getByRole('listitem').filter({ hasText: 'bob@acme.example' });
    await row.getByText('Proven by your connection').waitFor();
    await page.getByText('Nothing vouches for you yet').waitFor({ state: 'detached' });
    await identities.scrollIntoViewIfNeeded();
    await keepConsolePicture(page, 'identities');
    await row.getByRole('button', { name: 'Disconnect bob@acme.example' }).click();
    await page.getByRole('dialog').getByText('what only it opens is hidden from you at once').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await prisma.connection.count({ where: { ownerUserId: bob.userId } })).toBe(0);
  });

  it.each(['light', 'dark'] as const)('can be read by everybody in %s colors, in German, on a telephone', async (scheme) => {
    const { page } = await openConsole(service, ann, address(), { scheme, width: 390, locale: 'de-DE' });
    await page.getByText('Dokumente mit bekannten Berechtigungen').waitFor();
    await page.getByRole('button', { name: 'Zeigen, was Ann Example sieht' }).click();
    await page.getByText('Ann Example sieht hier 1 Dokument.').waitFor();
    expect(await overflowWidth(page)).toBe(0);
    await checkScreen(page, `permissions-phone-${scheme}`);
    await page.goto(`${service.url}/account`);
    await page.getByRole('heading', { name: 'Wer Sie an Quellen sind' }).scrollIntoViewIfNeeded();
    expect(await overflowWidth(page)).toBe(0);
    await checkScreen(page, `identities-phone-${scheme}`);
  });
});
