import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../support/browser/browser.ts';
import { keepConsolePicture, openConsole } from '../../support/browser/console.ts';
import { withService } from '../../support/service.ts';

const { service, make } = await withService();

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example', email: 'ann@faults.example' });
await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId }, name: 'Bob', email: 'bob@faults.example' });

describe.skipIf(!hasBrowser())('a fault that the service finds', () => {
  it('is said in the language of the reader, and goes when the value is mended', async () => {
    const { page } = await openConsole(service, ann, '/people', { locale: 'de-DE' });
    await page.getByRole('button', { name: 'Einladen' }).click();
    const email = page.getByRole('dialog').getByLabel('E-Mail-Adresse');
    await email.fill('bob@faults.example');
    await page.keyboard.press('Enter');
    await page.getByText('Ein Mitglied der Organisation hat diese E-Mail-Adresse.').waitFor();
    expect(await email.getAttribute('aria-invalid')).toBe('true');
    await keepConsolePicture(page, 'fault-german');
    await email.fill('bob@faults.exampl');
    await expect.poll(() => page.getByText('hat diese E-Mail-Adresse').count()).toBe(0);
    expect(await email.getAttribute('aria-invalid')).toBeNull();
    // The same value is refused in the same words again.
    await email.fill('bob@faults.example');
    await page.keyboard.press('Enter');
    await page.getByText('Ein Mitglied der Organisation hat diese E-Mail-Adresse.').waitFor();
  });

  it('says limits in the words and numbers of the form', async () => {
    const { page } = await openConsole(service, ann, '/administration/data', { locale: 'de-DE' });
    const chats = page.getByRole('spinbutton', { name: 'Chats' });
    await chats.fill('9999999');
    await page.getByRole('button', { name: /speichern/ }).click();
    await page.getByText(/Eine ganze Zahl von 1 bis [\d.]+\./).waitFor();
    await chats.fill('30');
    await expect.poll(() => page.getByText('Eine ganze Zahl von').count()).toBe(0);
  });

  it('stands by the name of its field where a form has several sections', async () => {
    const agent = await make.agent({ owner: ann, name: 'Harbour pilot' });
    const { page } = await openConsole(service, ann, `/agents/${agent.id}`, { locale: 'de-DE' });
    const name = page.getByRole('textbox', { name: 'Name', exact: true });
    await name.fill(' ');
    const bar = page.getByRole('region', { name: 'Ungespeicherte Änderungen' });
    await bar.getByRole('button', { name: 'Speichern' }).click();
    await bar.getByText('Name: Das wird gebraucht.').waitFor();
    await name.fill('Pilot');
    await expect.poll(() => page.getByText('Das wird gebraucht.').count()).toBe(0);
  });

  it('is a sentence in German where no field is at fault', async () => {
    const { page } = await openConsole(service, ann, '/usage', { locale: 'de-DE' });
    await page.route('**/graphql', (route) =>
      route.fulfill({
        json: { data: null, errors: [{ message: 'The database is away', extensions: { code: 'OVERLOADED', requestId: 'r-1' } }] },
      }),
    );
    await page.goto(`${service.url}/runs`);
    const alert = page.getByRole('alert').filter({ hasText: 'Der Dienst hat gerade zu viel zu tun.' });
    await alert.first().waitFor();
    expect(await page.getByText('The database is away').count()).toBe(0);
  });
});
