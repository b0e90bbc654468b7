import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import {
  accessibilityFaults,
  checkScreen,
  keepConsolePicture,
  openConsole,
  overflowWidth,
} from '../../../support/browser/console.ts';
import { startApiServer } from '../../../support/egress/api-server.ts';
import { withService } from '../../../support/service.ts';

const { service, make, upstream } = await withService('model');

const organization = await make.organization();
const ann = await make.person({ organization, role: 'ADMIN', name: 'Ann Example' });
const bob = await make.person({ organization, name: 'Bob Builder' });

const section = (page: Page, name: string) => page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name });
const save = async (page: Page) => {
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('region', { name: 'Unsaved changes' }).waitFor({ state: 'detached' });
};

describe.skipIf(!hasBrowser())('the editor of an agent', () => {
  it('builds an agent and shares it with a group: a colleague finds it and asks it', async () => {
    const group = await ann.post('/api/v1/groups', {
      name: 'Harbour crew',
      availability: 'EVERYONE',
      memberEmails: bob.email,
    });
    expect(group.status).toBeLessThan(300);
    const agent = await make.agent({ owner: ann, name: 'Harbour pilot' });
    const { page, problems, strangers } = await openConsole(service, ann, `/agents/${agent.id}`);
    await section(page, 'Instructions').click();
    await page.getByRole('textbox', { name: 'Instructions' }).fill('You are a harbour pilot. Answer by the handbook.');
    await checkScreen(page, 'agent-instructions');
    await save(page);

    await section(page, 'Knowledge').click();
    await keepConsolePicture(page, 'agent-knowledge-empty');
    const handbook = { name: 'handbook.md', mimeType: 'text/markdown', buffer: Buffer.from('# Tides\n\nHigh tide is at seven.') };
    await page.getByLabel('Files').setInputFiles(handbook);
    await page.getByText('1 of 1 document ready').waitFor();
    await checkScreen(page, 'agent-knowledge');

    await section(page, 'Tools').click();
    await page.getByRole('switch', { name: 'Calculate with Python' }).check();
    // Nothing on this machine searches the web: the switch says what is missing.
    await page.getByText('SEARCH_URL').first().waitFor();
    expect(await page.getByRole('switch', { name: 'Search the web' }).isDisabled()).toBe(true);
    await checkScreen(page, 'agent-tools');
    await save(page);

    await section(page, 'Sharing').click();
    await page.getByRole('radio', { name: /^Groups/ }).check();
    await page.getByRole('checkbox', { name: 'Harbour crew' }).check();
    await checkScreen(page, 'agent-sharing');
    await save(page);

    // The preview answers as the agent is saved, and leaves no chat behind.
    upstream.next({ text: ['High tide ', 'is at seven.'] });
    await page.getByRole('textbox', { name: 'Try a question' }).fill('When is high tide?');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Preview' }).getByText('High tide is at seven.').waitFor();
    await checkScreen(page, 'agent-preview');
    await page.getByRole('button', { name: 'Close the preview' }).click();
    await expect.poll(async () => (await ann.get('/api/v1/chats')).body.data?.length ?? 0).toBe(0);
    expect(problems).toEqual([]);
    expect([...strangers]).toEqual([]);

    const other = await openConsole(service, bob, '/agents');
    await other.page.getByRole('link', { name: 'Harbour pilot', exact: true }).click();
    await other.page.getByText('You may use this agent.').waitFor();
    expect(await section(other.page, 'Instructions').count()).toBe(0);
    expect(await other.page.getByRole('textbox', { name: 'Name' }).isDisabled()).toBe(true);
    upstream.next({ text: 'At seven, Bob.' });
    await other.page.getByRole('textbox', { name: 'Try a question' }).fill('When?');
    await other.page.keyboard.press('Enter');
    await other.page.getByText('At seven, Bob.').waitFor();
    await keepConsolePicture(other.page, 'agent-read-only');
    expect(await accessibilityFaults(other.page)).toEqual([]);
  });

  it('asks before unsaved changes are left, and shows refused values beside their fields', async () => {
    const agent = await make.agent({ owner: ann, name: 'Night watch' });
    const { page } = await openConsole(service, ann, '/agents');
    await page.getByRole('link', { name: 'Night watch', exact: true }).click();
    const name = page.getByRole('textbox', { name: 'Name' });
    await name.fill('');
    await section(page, 'Instructions').click();
    await page.getByText('Options: all left to the model').click();
    await page.getByRole('spinbutton', { name: 'Temperature' }).fill('9');
    // Sections are parts of one form: nobody is asked between them.
    await section(page, 'Basics').click();
    expect(await name.inputValue()).toBe('');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('alert').first().waitFor();
    expect(await name.getAttribute('aria-invalid')).toBe('true');
    await checkScreen(page, 'agent-refused');
    await section(page, 'Instructions').click();
    expect(await page.getByRole('spinbutton', { name: 'Temperature' }).getAttribute('aria-invalid')).toBe('true');

    await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Usage' }).click();
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    await question.waitFor();
    await keepConsolePicture(page, 'agent-leave');
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(page.url()).toContain(`/agents/${agent.id}/`);
    await page.evaluate(() => history.go(-4));
    await question.waitFor();
    await question.getByRole('button', { name: 'Leave without saving' }).click();
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
    await page.getByRole('link', { name: 'Night watch', exact: true }).waitFor();
  });

  it('merges what others save, and asks where both changed the same', async () => {
    const agent = await make.agent({ owner: ann, name: 'Legal desk', description: 'Reads contracts.' });
    const { page } = await openConsole(service, ann, `/agents/${agent.id}`);
    await page.getByRole('textbox', { name: 'Name' }).fill('Legal desk of Ann');
    await ann.patch(`/api/v1/ais/${agent.id}`, { description: 'Reads all contracts.' });
    // What only the other one changed comes by itself.
    await expect.poll(() => page.getByRole('textbox', { name: 'What it is for' }).inputValue()).toBe('Reads all contracts.');
    await ann.patch(`/api/v1/ais/${agent.id}`, { name: 'Legal desk of Bob' });
    await page.getByText('Ann Example saved “Name” while you changed it.').waitFor();
    await page.getByText('What differs: Name').click();
    await page.getByRole('deletion').filter({ hasText: 'Legal desk of Bob' }).waitFor();
    await page.getByRole('insertion').filter({ hasText: 'Legal desk of Ann' }).waitFor();
    await checkScreen(page, 'agent-conflict');
    expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Keep mine' }).click();
    await save(page);
    expect((await ann.get(`/api/v1/ais/${agent.id}`)).body.name).toBe('Legal desk of Ann');
    await ann.delete(`/api/v1/ais/${agent.id}`);
    await page.getByRole('heading', { name: 'There is no such agent' }).waitFor();
  });

  it('keeps skills, inputs, secrets and flows', async () => {
    const agent = await make.agent({ owner: ann, name: `Parts ${randomUUID().slice(0, 8)}` });
    const { page, problems } = await openConsole(service, ann, `/agents/${agent.id}/skills`);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Add a skill' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Write an offer');
    await dialog.getByRole('textbox', { name: 'When to use it' }).fill('When a customer asks for a price.');
    await dialog.getByRole('textbox', { name: 'Instructions' }).fill('Name the price and the date.');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('switch', { name: 'Use Write an offer' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);

    await section(page, 'Inputs').click();
    await page.getByRole('button', { name: 'Add an input' }).click();
    await dialog.getByRole('textbox', { name: 'Question' }).fill('Which language?');
    await dialog.getByRole('textbox', { name: 'Name in the instructions' }).fill('not a name');
    await dialog.getByRole('combobox', { name: 'Kind' }).selectOption('SELECT');
    await dialog.getByRole('textbox', { name: 'Options' }).fill('German\nEnglish');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(() => dialog.getByRole('textbox', { name: 'Name in the instructions' }).getAttribute('aria-invalid'))
      .toBe('true');
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('textbox', { name: 'Name in the instructions' }).fill('language');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('{{language}}').waitFor();

    await section(page, 'Secrets').click();
    await page.getByRole('button', { name: 'Add a secret' }).click();
    await dialog.getByRole('textbox', { name: 'Key' }).fill('WEATHER');
    await dialog.getByLabel('Value', { exact: true }).fill('a-secret-that-nobody-reads');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Sent nowhere yet').waitFor();
    expect(await page.content()).not.toContain('a-secret-that-nobody-reads');
    await keepConsolePicture(page, 'agent-secrets');

    await section(page, 'Flows').click();
    await page.getByRole('button', { name: 'Add a flow' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Look it up');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'New version from it' }).click();
    await dialog.getByRole('button', { name: '+ Make a text' }).click();
    await dialog.getByRole('textbox', { name: 'Text', exact: true }).fill('Found: {{steps.find.output}}');
    await checkScreen(page, 'agent-flow');
    await dialog.getByRole('button', { name: 'Edit as JSON' }).click();
    expect(JSON.parse(await dialog.getByRole('textbox', { name: 'Steps as JSON' }).inputValue())).toHaveLength(3);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.locator('summary', { hasText: 'Version 2' }).click();
    await page.getByRole('button', { name: 'Make version 2 active' }).click();
    await page.locator('summary', { hasText: /Version 2.*Active/s }).waitFor();
    await checkScreen(page, 'agent-flows');
    // The service counts the parts as the sections do.
    await page.getByRole('link', { name: /^Skills ?1$/ }).waitFor();
    expect(problems.filter((problem) => !problem.includes('400'))).toEqual([]);
  });

  it('makes a function of an API and tries it against a server', async () => {
    const api = await startApiServer();
    api.answer(({ path }) => ({ body: JSON.stringify({ path, degrees: 21 }) }));
    const agent = await make.agent({ owner: ann, name: 'Weather desk' });
    const { page } = await openConsole(service, ann, `/agents/${agent.id}/tools`);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Add a tool' }).click();
    await page.getByRole('menuitem', { name: 'Function of an API' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('get_weather');
    await dialog.getByRole('textbox', { name: 'What it does' }).fill('Says how warm it is.');
    await dialog.getByRole('textbox', { name: 'Address' }).fill('not an address');
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    await dialog.getByRole('textbox', { name: 'Arguments, as JSON Schema' }).fill(JSON.stringify(schema));
    await dialog.getByRole('combobox', { name: 'How it signs in' }).selectOption('BEARER_TOKEN');
    await dialog.getByLabel('Value', { exact: true }).fill('the-token-of-the-weather');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => dialog.getByRole('textbox', { name: 'Address' }).getAttribute('aria-invalid')).toBe('true');
    await dialog.getByRole('textbox', { name: 'Address' }).fill(`${api.url}/weather/{city}`);
    await checkScreen(page, 'agent-tool');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Try it get_weather' }).click();
    await dialog.getByRole('textbox', { name: 'Arguments as JSON' }).fill('{"city": "Hamburg"}');
    await dialog.getByRole('button', { name: 'Call it' }).click();
    await dialog.getByText('"degrees":21').waitFor();
    await checkScreen(page, 'agent-try');
    expect(api.requests.at(-1)).toMatchObject({
      path: '/weather/Hamburg',
      headers: { authorization: 'Bearer the-token-of-the-weather' },
    });
    expect(await page.content()).not.toContain('the-token-of-the-weather');
    await api.close();
  });

  it.each(['light', 'dark'] as const)('can be used by everybody in %s colors, on a telephone too', async (scheme) => {
    const agent = await make.agent({ owner: ann, name: 'Pocket guide' });
    const { page } = await openConsole(service, ann, `/agents/${agent.id}/basics`, { scheme, width: 390 });
    await page.getByRole('button', { name: 'Preview' }).click();
    for (const name of ['Basics', 'Tools', 'Sharing', 'Profile']) {
      await section(page, name).click();
      await page.getByRole('heading', { level: 2 }).first().waitFor();
      expect(await overflowWidth(page)).toBe(0);
      // The content scrolls by itself.
      expect(await page.locator('main#content').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
      await checkScreen(page, `agent-phone-${name.toLowerCase()}-${scheme}`);
    }
  });
});
