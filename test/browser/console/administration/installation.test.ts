import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { checkScreen, keepConsolePicture, openConsole, overflowWidth } from '../../../support/browser/console.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
await service.client().graphql('mutation ($id: ID!) { setOperator(id: $id, isOperator: true) { id } }', { id: ann.userId });

describe.skipIf(!hasBrowser())('the installation in the console', () => {
  it('tells an operator how it is, tests a model, and makes an organization with a limit', async () => {
    const { page, problems } = await openConsole(service, ann, '/administration/installation');
    await page.getByText('Everything works.').waitFor();
    await page
      .getByRole('button', { name: /^Test / })
      .first()
      .click();
    await page.getByText(/^Answers after/).waitFor();
    await page.getByRole('button', { name: 'New organization' }).click();
    const form = page.getByRole('dialog', { name: 'New organization' });
    await form.getByRole('textbox', { name: 'Name' }).fill('Harbour office');
    await form.getByLabel('Limit of tokens').fill('250000');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /Harbour office.*250,000/ }).waitFor();
    await checkScreen(page, 'installation');
    expect(problems).toEqual([]);
  });

  it('names the queues in the language of the reader', async () => {
    const { page } = await openConsole(service, ann, '/administration/installation', { locale: 'de-DE' });
    const queues = page.getByRole('table', { name: 'Hintergrundaufgaben' }).getByRole('rowheader');
    await queues.getByText('Dokumente indizieren').waitFor();
    expect((await queues.allTextContents()).filter((name) => /knowledge|source|\.|-/.test(name))).toEqual([]);
    await keepConsolePicture(page, 'installation-german');
  });

  it('is for operators alone, and can be read in dark colors on a telephone', async () => {
    const bob = await make.person({ role: 'ADMIN' });
    const { page } = await openConsole(service, bob, '/administration/installation');
    await page.waitForURL((url) => url.pathname === '/');
    expect(await page.getByRole('link', { name: 'Installation' }).count()).toBe(0);
    const { page: phone } = await openConsole(service, ann, '/administration/installation', { scheme: 'dark', width: 390 });
    await phone.getByText('Everything works.').waitFor();
    expect(await overflowWidth(phone)).toBe(0);
    await checkScreen(phone, 'installation-phone-dark');
  });
});
