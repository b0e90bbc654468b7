import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { checkScreen, openConsole, overflowWidth } from '../../../support/browser/console.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });

describe.skipIf(!hasBrowser())('the data of the organization in the console', () => {
  it('is kept for as many days as it says, held where it must stay, and exported', async () => {
    const { page } = await openConsole(service, ann, '/administration/data');
    await page.getByRole('spinbutton', { name: 'Audit log' }).fill('3');
    await page.getByRole('spinbutton', { name: 'Chats' }).fill('90');
    await page.getByRole('button', { name: 'Save the retention' }).click();
    await page.locator('[aria-invalid="true"]').waitFor();
    await page.getByRole('spinbutton', { name: 'Audit log' }).fill('365');
    await page.getByRole('button', { name: 'Save the retention' }).click();
    await page.getByText('Deleted after 90 days.').waitFor();
    await page.getByRole('button', { name: 'Set a hold' }).click();
    await page.getByRole('textbox', { name: 'Reason' }).fill('Case 12');
    await page.getByRole('button', { name: 'Set the hold' }).click();
    await page.getByText(/Case 12/).waitFor();
    await page.getByRole('button', { name: 'Export the organization' }).click();
    await page.getByRole('link', { name: 'Download' }).waitFor();
    await checkScreen(page, 'data');
    await page.getByRole('button', { name: 'End the hold' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End the hold' }).click();
    await page.getByText('No holds.').waitFor();
  });

  it('is told to webhooks and asked for by schedules', async () => {
    await make.agent({ owner: ann, name: 'Harbour pilot' });
    const { page } = await openConsole(service, ann, '/administration/webhooks');
    await page.getByRole('button', { name: 'New webhook' }).click();
    await page.getByRole('textbox', { name: 'Address' }).fill('https://hooks.example.com/parley');
    await page.getByRole('button', { name: 'Make the webhook' }).click();
    await page
      .getByRole('region', { name: 'Secret of the webhook' })
      .getByText(/^whsec_/)
      .waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('switch', { name: 'On' }).click();
    await page.getByRole('switch', { name: 'On', checked: false }).waitFor();
    await checkScreen(page, 'webhooks');

    await page.goto(`${service.url}/account/schedules`);
    await page.getByRole('button', { name: 'New schedule' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Morning news');
    await page.getByRole('textbox', { name: 'What it is asked' }).fill('What changed since yesterday?');
    await page.getByRole('button', { name: 'Make the schedule' }).click();
    await page.getByText(/^Next: /).waitFor();
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.getByRole('list', { name: 'Last runs' }).getByText('Answered').waitFor();
    await checkScreen(page, 'schedules');
  });

  it('can be read in dark colors on a telephone', async () => {
    const { page } = await openConsole(service, ann, '/administration/data', { scheme: 'dark', width: 390 });
    await page.getByRole('heading', { name: 'Retention' }).waitFor();
    expect(await overflowWidth(page)).toBe(0);
    await checkScreen(page, 'data-phone-dark');
  });
});
