import { afterAll, describe, expect, it } from 'vitest';
import { startGuardedMcp } from '../../fixtures/upstreams/mcp/authorization.ts';
import { hasBrowser } from '../../support/browser/browser.ts';
import { checkScreen, keepConsolePicture, openConsole, overflowWidth } from '../../support/browser/console.ts';
import { withService } from '../../support/service.ts';

/** A person connects an MCP server that wants a sign-in, at an authorization server that agrees to everything. */
const guarded = await startGuardedMcp();
const { service, make, upstream } = await withService('model');

const ann = await make.person({ name: 'Ann Example' });

afterAll(() => guarded.close());

describe.skipIf(!hasBrowser())('an MCP server that wants a sign-in, in the console', () => {
  it('is stored and signed in to in one go, and again when the server demands it', async () => {
    const { page } = await openConsole(service, ann, '/account/connections');
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByText('MCP server', { exact: true }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Team notes');
    await page.getByRole('textbox', { name: 'Address' }).fill(guarded.url);
    await page.getByLabel('Access').selectOption('I sign in there in the browser');
    await checkScreen(page, 'mcp-sign-in-form');
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Store the server and sign in' }).click(),
    ]);
    await popup.getByRole('heading', { name: 'Connect this server?' }).waitFor();
    await popup.getByText('Team notes · 127.0.0.1').waitFor();
    await checkScreen(popup, 'mcp-sign-in-confirm');
    const row = page.getByRole('row', { name: /Team notes/ });
    await row.getByText('Sign-in needed').waitFor();
    await popup.getByRole('button', { name: 'Connect Team notes' }).click();
    await popup.getByRole('heading', { name: 'Connected' }).waitFor();
    await row.getByText('Works').waitFor();

    const { body } = await ann.get('/api/v1/connections');
    await service.deps.storage.knowledge.connections.requireSignIn(body.data[0].id);
    await row.getByText('Sign-in needed').waitFor();
    await checkScreen(page, 'mcp-sign-in-needed');
    // In the window that is open already.
    await row.getByRole('button', { name: 'Sign in' }).click();
    await popup.getByRole('button', { name: 'Connect Team notes' }).click();
    await row.getByText('Works').waitFor();
  });

  it('is told of in the chat whose agent could not use it', async () => {
    const bob = await make.person({ name: 'Bob Example' });
    const agent = await make.agent({ owner: bob, name: 'Clerk', modelId: 'openai/test-model' });
    await bob.post('/api/v1/connections/mcp-servers', { name: 'Notes', url: guarded.url });
    await bob.post(`/api/v1/ais/${agent.id}/tools`, { name: 'notes', type: 'MCP_SERVER', data: { server: 'Notes' } });
    upstream.next({ text: 'I cannot see the notes.' });
    const { page } = await openConsole(service, bob, `/?agent=${agent.id}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('What is in my notes?');
    await page.keyboard.press('Enter');
    await page.getByText('An MCP server wants you to sign in').waitFor();
    await checkScreen(page, 'mcp-sign-in-chat');
    await page.getByRole('link', { name: 'Your connections' }).click();
    await page.getByRole('row', { name: /Notes/ }).getByRole('button', { name: 'Sign in' }).waitFor();
  });

  it('that cannot be signed in to says why, where it was asked for', async () => {
    const { page } = await openConsole(service, ann, '/account/connections', { width: 390 });
    guarded.metadata = { registration_endpoint: undefined };
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByText('MCP server', { exact: true }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Other notes');
    await page.getByRole('textbox', { name: 'Address' }).fill(guarded.url);
    await page.getByLabel('Access').selectOption('I sign in there in the browser');
    await page.getByRole('button', { name: 'Store the server and sign in' }).click();
    await page.getByRole('alert').getByText('registers no clients by itself').waitFor();
    await keepConsolePicture(page, 'mcp-sign-in-refused');
    expect(await overflowWidth(page)).toBe(0);
    guarded.metadata = {};
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Store the server and sign in' }).click(),
    ]);
    await popup.getByRole('heading', { name: 'Connect this server?' }).waitFor();
    // It was stored once.
    const { body } = await ann.get('/api/v1/connections');
    const stored = (body.data as readonly { readonly accountName: string }[]).filter(
      ({ accountName }) => accountName === 'Other notes',
    );
    expect(stored).toHaveLength(1);
  });
});
