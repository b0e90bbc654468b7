import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { keepConsolePicture, openConsole } from '../../../support/browser/console.ts';
import { withService } from '../../../support/service.ts';

/** The console is read at another address than PUBLIC_URL, as on the machine of a service behind a proxy. */
const { service, make } = await withService('model', { env: { PUBLIC_URL: 'http://parley.example:8443' } });

describe.skipIf(!hasBrowser())('the administration of a service with PUBLIC_URL', () => {
  it('names the redirect address at which MCP clients come back, below tabs in one line', async () => {
    const organization = await make.organization();
    const ann = await make.person({ organization, role: 'ADMIN' });
    // Operators have one tab more.
    await service.client().graphql('mutation ($id: ID!) { setOperator(id: $id, isOperator: true) { id } }', { id: ann.userId });
    const { page } = await openConsole(service, ann, '/administration/mcp-clients');
    const links = page.getByRole('navigation', { name: 'Parts of this screen' }).getByRole('link');
    const tops = await links.evaluateAll((tabs) => tabs.map((tab) => tab.getBoundingClientRect().top));
    expect(tops.length).toBeGreaterThan(10);
    expect(new Set(tops).size).toBe(1);
    await page.getByRole('button', { name: 'New client' }).click();
    await page.getByText('http://parley.example:8443/oauth/callback', { exact: true }).waitFor();
    await keepConsolePicture(page, 'mcp-clients-public-address');
  });
});
