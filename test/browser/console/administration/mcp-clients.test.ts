import { afterAll, describe, expect, it } from 'vitest';
import { startGuardedMcp } from '../../../fixtures/upstreams/mcp/authorization.ts';
import { hasBrowser } from '../../../support/browser/browser.ts';
import {
  accessibilityFaults,
  checkScreen,
  keepConsolePicture,
  openConsole,
  overflowWidth,
} from '../../../support/browser/console.ts';
import { withService } from '../../../support/service.ts';

/** An administrator saves the client of an MCP server, and a member signs in with it. */
const { service, make } = await withService('model');
const guarded = await startGuardedMcp({
  clients: [
    {
      ...{ client_id: 'of-acme', client_secret: 'secret-of-acme', application_type: 'native' },
      ...{ grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
      redirect_uris: [`${service.url}/oauth/callback`],
    },
  ],
  features: { registration: { enabled: false } },
});

const organization = await make.organization();
const ann = await make.person({ organization, role: 'ADMIN', name: 'Ann Example' });
const bob = await make.person({ organization, name: 'Bob Example' });

afterAll(() => guarded.close());

describe.skipIf(!hasBrowser())('clients of MCP servers in the console', () => {
  it('are saved by an administrator, used by members, changed and deleted', async () => {
    const { page } = await openConsole(service, ann, '/administration/mcp-clients');
    await page.getByRole('heading', { name: 'No clients yet' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'New client' }).click();
    await page.getByText(`${service.url}/oauth/callback`).waitFor();
    await page.getByRole('textbox', { name: 'Address of the MCP server' }).fill('ftp://mcp.example');
    await page.getByRole('textbox', { name: 'Client id' }).fill('of-acme');
    await page.getByLabel('Client secret').fill('secret-of-acme');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('[aria-invalid="true"]').waitFor();
    await keepConsolePicture(page, 'mcp-clients-refused');
    await page.getByRole('textbox', { name: 'Address of the MCP server' }).fill(guarded.url);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(`At ${guarded.issuer}`).waitFor();
    await checkScreen(page, 'mcp-clients');

    const member = await openConsole(service, bob, '/account/connections');
    await member.page.getByRole('button', { name: 'Connect' }).click();
    await member.page.getByText('MCP server', { exact: true }).click();
    await member.page.getByRole('textbox', { name: 'Name' }).fill('Team notes');
    await member.page.getByRole('textbox', { name: 'Address' }).fill(guarded.url);
    await member.page.getByLabel('Access').selectOption('I sign in there in the browser');
    const [popup] = await Promise.all([
      member.page.waitForEvent('popup'),
      member.page.getByRole('button', { name: 'Store the server and sign in' }).click(),
    ]);
    await popup.getByRole('button', { name: 'Connect Team notes' }).click();
    await member.page
      .getByRole('row', { name: /Team notes/ })
      .getByText('Works')
      .waitFor();

    await page.getByRole('button', { name: `Change ${guarded.url}` }).click();
    await page.getByRole('textbox', { name: 'Scopes' }).fill('mcp:read mcp:write');
    await page.getByLabel('Client secret').fill('secret-of-acme');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Asks for mcp:read, mcp:write').waitFor();
    await page.getByRole('button', { name: 'Delete the client' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'No clients yet' }).waitFor();
  });

  it('can be read in dark colors on a telephone', async () => {
    const input = { url: guarded.url, clientId: 'of-acme-with-a-long-name-that-somebody-chose', scopes: ['mcp:read'] };
    expect((await ann.call('PUT', '/api/v1/admin/mcp-clients', input)).status).toBe(200);
    const { page } = await openConsole(service, ann, '/administration/mcp-clients', { scheme: 'dark', width: 390 });
    await page.getByText(guarded.url, { exact: true }).waitFor();
    expect(await overflowWidth(page)).toBe(0);
    await checkScreen(page, 'mcp-clients-phone-dark');
  });
});
