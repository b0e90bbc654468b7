import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { checkScreen, keepConsolePicture, openConsole, overflowWidth } from '../../../support/browser/console.ts';
import { withService } from '../../../support/service.ts';

/** A session of a browser runs documents of the console, and what the organization has saved, and nothing else. */
const { service, make } = await withService('model', { env: { TRUSTED_DOCUMENTS: 'sessions' } });

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
const agentId = (await make.agent({ owner: ann, name: 'Harbour pilot', modelId: 'openai/test-model' })).id;

/** The operations that a page was refused for their documents, and how many it sent. */
function watchOperations(page: Page): { readonly refused: string[]; sent: number } {
  const seen = { refused: [] as string[], sent: 0 };
  page.on('response', async (response) => {
    if (!response.url().includes('/graphql') || response.request().method() !== 'POST') return;
    seen.sent += 1;
    const text = await response.text().catch(() => '');
    if (text.includes('UNTRUSTED_DOCUMENT')) seen.refused.push(response.request().postData() ?? '');
  });
  return seen;
}

describe.skipIf(!hasBrowser())('saved documents in the console', () => {
  it('are saved, refused with a reason, changed and deleted', async () => {
    const { page } = await openConsole(service, ann, '/administration/documents');
    await page.getByRole('heading', { name: 'No saved documents yet' }).waitFor();
    await keepConsolePicture(page, 'saved-documents-none');
    await page.getByRole('button', { name: 'New document' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('newest_agents');
    await page.getByRole('textbox', { name: 'What it is for' }).fill('The newest agents, with the models that answer for them.');
    await page.getByRole('textbox', { name: 'Document' }).fill('{ nothing }');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('[aria-invalid="true"]').waitFor();
    await keepConsolePicture(page, 'saved-documents-refused');
    const document = 'query ($count: Int = 5) {\n  agents(first: $count) {\n    nodes {\n      id\n      name\n    }\n  }\n}';
    await page.getByRole('textbox', { name: 'Document' }).fill(document);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('POST /api/v1/documents/newest_agents').waitFor();
    await checkScreen(page, 'saved-documents');
    expect((await ann.post('/api/v1/documents/newest_agents')).body.data.agents.nodes).toMatchObject([{ id: agentId }]);
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByRole('textbox', { name: 'What it is for' }).fill('Agents.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Agents.', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'No saved documents yet' }).waitFor();
  });

  it('can be read in dark colors on a telephone', async () => {
    const saved = {
      name: 'me',
      description: 'Who calls.',
      document: `{ viewer { user { id name email } organization { id name } } }`,
    };
    await ann.put('/api/v1/documents', saved);
    const { page } = await openConsole(service, ann, '/administration/documents', { scheme: 'dark', width: 390 });
    await page.getByText('Who calls.').waitFor();
    expect(await overflowWidth(page)).toBe(0);
    await checkScreen(page, 'saved-documents-phone-dark');
  });
});

describe.skipIf(!hasBrowser())('with TRUSTED_DOCUMENTS=sessions the console', () => {
  it('shows every screen, follows what happens, and answers in a chat', async () => {
    const { page } = await openConsole(service, ann, '/');
    const seen = watchOperations(page);
    await page
      .getByRole('textbox', { name: /message/i })
      .first()
      .fill('Hello');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/chats\//);
    for (const path of [
      ...['/agents', `/agents/${agentId}`, `/agents/${agentId}/versions`, '/knowledge', '/library', '/runs', '/usage', '/people'],
      ...['/people/groups', '/account', '/account/keys', '/account/memories', '/account/connections'],
      ...['/administration/audit', '/administration/data', '/administration/budgets', '/administration/webhooks'],
    ]) {
      await page.goto(service.url + path);
      await page.waitForLoadState('load');
      await page.getByRole('heading').first().waitFor();
    }
    expect(seen.sent).toBeGreaterThan(30);
    expect(seen.refused).toEqual([]);
  });

  it('leaves GraphiQL to keys', async () => {
    const { page } = await openConsole(service, ann, '/');
    const codeOf = (query: string) =>
      page.evaluate(async (text) => {
        const headers = { 'content-type': 'application/json', 'graphql-require-preflight': 'true' };
        const reply = await fetch('/graphql', { method: 'POST', headers, body: JSON.stringify({ query: text }) });
        return ((await reply.json()) as { errors?: { extensions: { code: string } }[] }).errors?.[0]?.extensions.code;
      }, query);
    expect(await codeOf('{ viewer { keyId } }')).toBe('UNTRUSTED_DOCUMENT');
    expect(
      await codeOf('query Session{viewer{keyId role level scopes user{id name email}organization{id name}session{id}}}'),
    ).toBeUndefined();
  });
});
