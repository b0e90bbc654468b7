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

const grantAll = async () => {
  const all = { connections: [connectionId], memories: 'write', agents: [helper.id] };
  expect((await ann.put(`/api/v1/ais/${clerk.id}/grants`, all)).status).toBe(200);
};

const ann = await make.person({ name: 'Ann Example' });
const clerk = await make.agent({ owner: ann, name: 'Clerk' });
const helper = await make.agent({ owner: ann, name: 'Helper' });
const server = { name: 'Ticket tools', url: 'https://mcp.example.com/mcp' };
const connectionId = (await ann.post('/api/v1/connections/mcp-servers', server)).body.id;

describe.skipIf(!hasBrowser())('what agents are granted, in the console', () => {
  it('is listed with its names, and revoked after a question', async () => {
    const { page, problems } = await openConsole(service, ann, '/account/connections');
    await page.getByText('You grant nothing to any agent.').waitFor();
    await keepConsolePicture(page, 'grants-empty');
    await grantAll();
    expect((await ann.put(`/api/v1/ais/${helper.id}/grants`, { memories: 'read' })).status).toBe(200);
    await page.reload();
    const row = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Clerk' }) });
    await row.getByText('Connection: Ticket tools').waitFor();
    await row.getByText('Memories: recalls, keeps and forgets them').waitFor();
    await row.getByText('Agent that it asks: Helper').waitFor();
    expect(await row.getByText('just now').count()).toBe(3);
    await page.getByText('Memories: recalls them').waitFor();
    await checkScreen(page, 'grants');
    await row.getByRole('button', { name: 'Revoke “Connection: Ticket tools” of Clerk' }).click();
    await row.getByText('Connection: Ticket tools').waitFor({ state: 'detached' });
    const { body: rest } = await ann.get(`/api/v1/ais/${clerk.id}/grants`);
    expect(rest).toMatchObject({ connections: [], memories: 'write', agents: [helper.id] });
    await row.getByRole('button', { name: 'Revoke all of Clerk' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Revoke what you grant to Clerk?').waitFor();
    await checkScreen(page, 'grants-revoke');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await row.waitFor({ state: 'detached' });
    const { body } = await ann.get('/api/v1/grants');
    expect(body.data).toMatchObject([{ agentId: helper.id, connections: [], memories: 'read', agents: [] }]);
    expect(problems).toEqual([]);
  });

  it('is granted in a dialog, in which what an agent may open already is ticked', async () => {
    await ann.put(`/api/v1/ais/${clerk.id}/grants`, { memories: 'read' });
    const { page, problems } = await openConsole(service, ann, '/account/connections');
    await page.getByRole('button', { name: 'Grant to an agent' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Agent' }).selectOption('Clerk');
    await expect.poll(() => dialog.getByRole('combobox', { name: 'Your memories' }).inputValue()).toBe('READ');
    await dialog.getByRole('checkbox', { name: 'Ticket tools' }).check();
    await dialog.getByRole('checkbox', { name: 'Helper' }).check();
    await checkScreen(page, 'grants-dialog');
    await dialog.getByRole('button', { name: 'Grant' }).click();
    const row = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Clerk' }) });
    await row.getByText('Connection: Ticket tools').waitFor();
    const { body } = await ann.get(`/api/v1/ais/${clerk.id}/grants`);
    expect(body).toMatchObject({ connections: [connectionId], memories: 'read', agents: [helper.id] });
    expect(problems).toEqual([]);
  });

  it('fits a telephone in dark and in German, and is without a connection that is deleted', async () => {
    await grantAll();
    const { page } = await openConsole(service, ann, '/account/connections', { scheme: 'dark', width: 390, locale: 'de-DE' });
    const row = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Clerk' }) });
    await row.getByText('Verbindung: Ticket tools').waitFor();
    await row.scrollIntoViewIfNeeded();
    await keepConsolePicture(page, 'grants-phone-dark-german');
    expect(await overflowWidth(page)).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect((await ann.delete(`/api/v1/connections/${connectionId}`)).status).toBeLessThan(300);
    await row.getByText('Verbindung: Ticket tools').waitFor({ state: 'detached' });
    await row.getByText('Agent, den er fragt: Helper').waitFor();
    await row.getByRole('button', { name: 'Alles widerrufen, was für Clerk freigegeben ist' }).waitFor();
  });
});
