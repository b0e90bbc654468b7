import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../../support/browser/browser.ts';
import { accessibilityFaults, keepConsolePicture, openConsole, overflowWidth } from '../../support/browser/console.ts';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

const { service, make } = await withService();
let ann: Person;
let clerk: { readonly id: string };
let helper: { readonly id: string };
let connectionId: string;

const grantAll = async () => {
  const all = { connections: [connectionId], memories: 'write', agents: [helper.id] };
  expect((await ann.put(`/api/v1/ais/${clerk.id}/grants`, all)).status).toBe(200);
};

beforeAll(async () => {
  ann = await make.person({ name: 'Ann Example' });
  clerk = await make.agent({ owner: ann, name: 'Clerk' });
  helper = await make.agent({ owner: ann, name: 'Helper' });
  const server = { name: 'Ticket tools', url: 'https://mcp.example.com/mcp' };
  connectionId = (await ann.post('/api/v1/connections/mcp-servers', server)).body.id;
});

describe.skipIf(!hasBrowser())('what agents are granted, in the console', () => {
  it('is listed with its names, and revoked after a question', async () => {
    const { page, problems } = await openConsole(service, ann, '/account/connections');
    await page.getByText('You grant nothing to any agent.').waitFor();
    await keepConsolePicture(page, 'grants-empty');
    await grantAll();
    expect((await ann.put(`/api/v1/ais/${helper.id}/grants`, { memories: 'read' })).status).toBe(200);
    await page.reload();
    const row = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Clerk' }) });
    await row.getByText('Connections: Ticket tools').waitFor();
    await row.getByText('Memories: recalls, keeps and forgets them').waitFor();
    await row.getByText('Agents that it asks: Helper').waitFor();
    await page.getByText('Memories: recalls them').waitFor();
    await keepConsolePicture(page, 'grants');
    expect(await accessibilityFaults(page)).toEqual([]);
    await row.getByRole('button', { name: 'Revoke Clerk' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Revoke what you grant to Clerk?').waitFor();
    await keepConsolePicture(page, 'grants-revoke');
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await row.waitFor({ state: 'detached' });
    const { body } = await ann.get('/api/v1/grants');
    expect(body.data).toEqual([{ agentId: helper.id, connections: [], memories: 'read', agents: [] }]);
    expect(problems).toEqual([]);
  });

  it('fits a telephone in dark and in German, and is without a connection that is deleted', async () => {
    await grantAll();
    const { page } = await openConsole(service, ann, '/account/connections', { scheme: 'dark', width: 390, locale: 'de-DE' });
    const row = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Clerk' }) });
    await row.getByText('Verbindungen: Ticket tools').waitFor();
    await row.scrollIntoViewIfNeeded();
    await keepConsolePicture(page, 'grants-phone-dark-german');
    expect(await overflowWidth(page)).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect((await ann.delete(`/api/v1/connections/${connectionId}`)).status).toBeLessThan(300);
    await row.getByText('Verbindungen: Ticket tools').waitFor({ state: 'detached' });
    await row.getByText('Agenten, die er fragt: Helper').waitFor();
    await row.getByRole('button', { name: 'Freigaben für Clerk widerrufen' }).waitFor();
  });
});
