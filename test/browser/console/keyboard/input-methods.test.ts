import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { openConsole } from '../../../support/browser/console.ts';
import { withService } from '../../../support/service.ts';

const { service, make, upstream } = await withService('model');

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
const agentId = (await make.agent({ owner: ann, name: '港の案内' })).id;

/** The key that confirms a word of an input method, as Safari tells of it: behind the end of the composition, with the key code alone. */
async function confirmWord(box: Locator, key = 'Enter'): Promise<void> {
  await box.evaluate((element, pressed) => {
    element.dispatchEvent(new CompositionEvent('compositionstart', { bubbles: true }));
    element.dispatchEvent(new CompositionEvent('compositionend', { bubbles: true, data: '港' }));
    const options = { key: pressed, keyCode: 229, isComposing: false, bubbles: true, cancelable: true };
    element.dispatchEvent(new KeyboardEvent('keydown', options));
  }, key);
}

describe.skipIf(!hasBrowser())('the key that confirms a word of an input method', () => {
  it('sends no message: the next Enter does', async () => {
    upstream.otherwise({ text: '正午です。' });
    const { page } = await openConsole(service, ann, `/?agent=${agentId}`);
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.fill('港は');
    await confirmWord(box);
    await box.pressSequentially('どこ');
    await box.press('Enter');
    const transcript = page.getByRole('region', { name: 'Transcript' });
    await transcript.getByText('港はどこ', { exact: true }).waitFor();
    await transcript.getByText('正午です。').waitFor();
    await box.fill('いつ');
    await confirmWord(box);
    await box.pressSequentially('閉まる');
    await box.press('Enter');
    await transcript.getByText('いつ閉まる', { exact: true }).waitFor();
    await expect.poll(() => transcript.getByText('正午です。').count(), { timeout: 10_000 }).toBe(2);
    expect(await transcript.getByRole('article', { name: 'You' }).count()).toBe(2);
  });

  it('opens nothing in the palette', async () => {
    const { page } = await openConsole(service, ann, '/usage');
    await page.keyboard.press('Control+k');
    const box = page.getByRole('combobox', { name: 'Search agents' });
    await box.fill('港の');
    await page.getByRole('option', { name: '港の案内' }).waitFor();
    await confirmWord(box);
    await confirmWord(box, 'ArrowDown');
    expect(await page.getByRole('option', { selected: true }).getAttribute('id')).toContain(agentId);
    expect(page.url()).toBe(`${service.url}/usage`);
    await box.press('Enter');
    await page.waitForURL(`**/agents/${agentId}`);
  });

  it('asks nothing in the preview of an agent, and adds no editor', async () => {
    upstream.otherwise({ text: '正午です。' });
    const { page } = await openConsole(service, ann, `/agents/${agentId}`);
    const box = page.getByRole('complementary', { name: 'Preview' }).getByRole('textbox');
    await box.fill('港は');
    await confirmWord(box);
    expect(await box.inputValue()).toBe('港は');
    await box.press('Enter');
    await page.getByRole('region', { name: 'Preview of the chat' }).getByText('正午です。').waitFor();
    await page.goto(`${service.url}/agents/${agentId}/sharing`);
    const email = page.getByRole('textbox', { name: 'Add an editor' });
    await email.fill('bob@example.com');
    await confirmWord(email);
    expect(await email.inputValue()).toBe('bob@example.com');
    await email.press('Enter');
    await expect.poll(() => email.inputValue()).toBe('');
  });

  it('does not leave the box in which a message is said in other words', async () => {
    upstream.otherwise({ text: '正午です。' });
    const { page } = await openConsole(service, ann, `/?agent=${agentId}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('港は');
    await page.keyboard.press('Enter');
    const transcript = page.getByRole('region', { name: 'Transcript' });
    await transcript.getByText('正午です。').waitFor();
    await transcript.getByRole('button', { name: 'Edit the message' }).click();
    const box = transcript.getByRole('textbox', { name: 'The message in other words' });
    await confirmWord(box, 'Escape');
    await confirmWord(box);
    expect(await box.count()).toBe(1);
    await box.press('Escape');
    await box.waitFor({ state: 'detached' });
  });

  it('opens nothing in the search of the manual', async () => {
    const { page } = await openConsole(service, ann, '/usage');
    await page.goto(`${service.url}/manual`);
    const box = page.getByRole('combobox');
    await box.fill('chats');
    await page.getByRole('option').first().waitFor();
    await confirmWord(box);
    expect(page.url()).toBe(`${service.url}/manual`);
  });
});
