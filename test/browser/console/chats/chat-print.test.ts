import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { keepConsolePicture, openConsole } from '../../../support/browser/console.ts';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import { withService } from '../../../support/service.ts';

const { service, make, upstream } = await withService('model');
const turns = 70;

const ann = await make.person({ name: 'Ann Example' });
const agentId = (await make.agent({ owner: ann, name: 'Harbour pilot' })).id;
const data = { fee: 'A berth for one night costs forty crowns.' };
const source = await make.apiDataSource({ owner: ann, agentId, name: 'Fees', data });
await indexed(ann, source.id);
const chatId = (await make.chat({ owner: ann, agentId, name: 'Berths' })).id;
const idOf = (n: string) => `'msg_01h' || lpad((${n})::text, 23, '0')`;
await service.deps.storage.db.pool.query(
  `insert into messages (id, "parentId", "createdAt", "updatedAt", "chatId", ordinal, role, content)
   select ${idOf('n')}, case when n > 0 then ${idOf('n - 1')} end, now(), now(), $1, n, case n % 2 when 0 then 'user' else 'assistant' end,
     'Message ' || n
   from generate_series(0, $2::int - 1) as n`,
  [chatId, 2 * turns],
);

describe.skipIf(!hasBrowser())('a chat on paper', () => {
  it('is the whole chat: names, every message, what is cited, and nothing to press', async () => {
    upstream.next({ text: 'It costs forty crowns [1].' });
    const { page } = await openConsole(service, ann, `/chats/${chatId}`, { scheme: 'dark' });
    await page.getByRole('textbox', { name: 'Message' }).fill('What does a berth for one night cost?');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^Source 1/ }).waitFor();
    expect(await page.getByText('Message 0', { exact: true }).count()).toBe(0);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    const transcript = page.getByRole('region', { name: 'Transcript' });
    await transcript.getByText('Message 0', { exact: true }).waitFor();
    await transcript.getByText(`Message ${2 * turns - 1}`, { exact: true }).waitFor();
    expect(await transcript.getByRole('article').count()).toBe(2 * turns + 2);
    await transcript.getByText('You', { exact: true }).first().waitFor();
    await transcript.getByRole('heading', { name: 'Harbour pilot' }).first().waitFor();
    await page.getByRole('heading', { level: 1, name: 'Berths' }).waitFor();
    await transcript.getByRole('listitem').filter({ hasText: 'Fees' }).waitFor();
    const pressable = page.locator('button:visible, input:visible, textarea:visible, nav:visible');
    expect(await pressable.evaluateAll((all) => all.map((element) => element.getAttribute('aria-label')))).toEqual([
      expect.stringMatching(/^Source 1/),
    ]);
    expect(await page.evaluate(() => getComputedStyle(document.body).color)).toBe('rgb(26, 29, 33)');
    await keepConsolePicture(page, 'chat-print');
    const pdf = await page.pdf({ format: 'A4' });
    expect(pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length).toBeGreaterThan(3);
    await page.emulateMedia({ media: 'screen', colorScheme: 'dark' });
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    await expect.poll(() => transcript.getByRole('article').count()).toBeLessThan(100);
  });

  it('is printed from its menu, with what was not loaded', async () => {
    const { page } = await openConsole(service, ann, `/chats/${chatId}`);
    await page.evaluate(() => {
      window.print = () => void document.body.setAttribute('data-asked', 'yes');
    });
    await page.getByRole('button', { name: 'More about this chat' }).click();
    await page.getByRole('menuitem', { name: 'Print or save as PDF' }).click();
    await page.locator('body[data-asked=yes]').waitFor();
    await page.emulateMedia({ media: 'print' });
    await page.getByText('Message 0', { exact: true }).waitFor();
  });
});
