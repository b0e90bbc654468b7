import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { checkScreen, openConsole, overflowWidth } from '../../../support/browser/console.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();
const run = promisify(execFile);

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });

describe.skipIf(!hasBrowser())('keys in the console', () => {
  it('are made for the stock OpenAI client, whose program runs as it is shown, and are revoked', async () => {
    await make.agent({ owner: ann, name: 'Harbour pilot' });
    const { page } = await openConsole(service, ann, '/account/keys?new');
    const form = page.getByRole('dialog', { name: 'New key' });
    await form.getByLabel('Name').fill('Ticket bot');
    await checkScreen(page, 'keys-new');
    await form.getByRole('button', { name: 'Make the key' }).click();
    const shown = page.getByRole('dialog', { name: 'The key Ticket bot' });
    await shown.getByRole('combobox', { name: 'Who answers' }).selectOption('Harbour pilot');
    const program = (await shown.getByRole('region', { name: 'Program' }).textContent()) ?? '';
    await checkScreen(page, 'keys-secret');
    const { stdout } = await runProgram(program);
    expect(stdout.trim()).not.toBe('');
    await shown.getByRole('button', { name: 'curl' }).click();
    const curl = (await shown.getByRole('region', { name: 'Program' }).textContent()) ?? '';
    const answer = await run('sh', ['-c', curl.replace('curl ', 'curl -s ')]);
    expect(JSON.parse(answer.stdout)).toMatchObject({ choices: [{ message: { role: 'assistant' } }] });

    await shown.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Revoke the key Ticket bot' }).click();
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText('The key Ticket bot is revoked.').waitFor();
    await page.getByRole('row', { name: /Ticket bot/ }).waitFor({ state: 'detached' });
    await checkScreen(page, 'keys-list');
    await expect(runProgram(program)).rejects.toThrow(/401/);
  });

  it('are made scope by scope from the keyboard, and shown to administrators with their owners', async () => {
    const bob = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId }, name: 'Bob Builder' });
    const { page } = await openConsole(service, bob, '/account/keys?new');
    // The first field has the focus.
    await page.getByRole('dialog', { name: 'New key' }).waitFor();
    await page.keyboard.type('Reports');
    await page.getByRole('radio', { name: /Choose one by one/ }).focus();
    await page.keyboard.press('Space');
    for (const name of ['Read: Chats', 'Change: Chats', 'Read: Agents']) {
      await page.getByRole('checkbox', { name }).focus();
      await page.keyboard.press('Space');
    }
    await page.getByRole('checkbox', { name: 'Read: Usage' }).focus();
    await page.keyboard.press('Space');
    expect(await page.getByRole('checkbox', { name: 'Read: Administration' }).count()).toBe(0);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'The key Reports' }).waitFor();
    await page.keyboard.press('Escape');
    await page
      .getByRole('row', { name: /Reports/ })
      .getByText('Usage (read)')
      .waitFor();

    const { page: admin } = await openConsole(service, ann, '/administration/keys');
    await admin.getByRole('row', { name: /Reports.*Bob Builder/ }).waitFor();
  });

  it('are not offered to auditors', async () => {
    const ada = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId }, role: 'AUDITOR' });
    const { page } = await openConsole(service, ada, '/account/keys?new');
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'New key' }).count()).toBe(0);
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('can be managed by everybody in dark colors on a telephone', async () => {
    const { page } = await openConsole(service, ann, '/account/keys?new', { scheme: 'dark', width: 390 });
    await page.getByRole('dialog', { name: 'New key' }).waitFor();
    await checkScreen(page, 'keys-new-phone-dark');
    await page.keyboard.press('Escape');
    expect(await overflowWidth(page)).toBe(0);
    await checkScreen(page, 'keys-phone-dark');
  });
});

/** Runs what the console shows as somebody would who copies it into a file beside an installed `openai`. */
async function runProgram(program: string): Promise<{ readonly stdout: string }> {
  const folder = await mkdtemp(join(import.meta.dirname, 'program-'));
  const file = join(folder, 'program.mjs');
  try {
    await writeFile(file, program);
    return await run(process.execPath, [file]);
  } finally {
    await rm(folder, { recursive: true });
  }
}
