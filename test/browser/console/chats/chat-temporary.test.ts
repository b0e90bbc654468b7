import { afterAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { checkScreen, keepConsolePicture, openConsole, overflowWidth } from '../../../support/browser/console.ts';
import { startApiServer } from '../../../support/egress/api-server.ts';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import { withService } from '../../../support/service.ts';
import { heldAnswer } from '../../../support/upstream.ts';

const { service, make, upstream } = await withService('model');
const marker = 'quokka-4711';

const ann = await make.person({ name: 'Ann Example' });
const agentId = (await make.agent({ owner: ann, name: 'Harbour pilot', generateCitations: true })).id;
const source = await make.apiDataSource({
  owner: ann,
  agentId,
  name: 'Prices',
  data: { repair: 'A puncture repair costs 15 euro' },
});
await indexed(ann, source.id);

/** Tables of the database with the text in any row. */
async function tablesWith(text: string): Promise<readonly string[]> {
  const { pool } = service.deps.storage.db;
  const { rows } = await pool.query(
    `select table_name as name from information_schema.tables where table_schema in ('public', 'pgboss') and table_type = 'BASE TABLE'`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const schema = name === 'job' || name === 'queue' ? 'pgboss' : undefined;
    const query = `select 1 from ${schema === undefined ? '' : `${schema}.`}"${name}" row where row::text like $1 limit 1`;
    const result = await pool.query(query, [`%${text}%`]).catch(() => undefined);
    if ((result?.rowCount ?? 0) > 0) found.push(name);
  }
  return found;
}

describe.skipIf(!hasBrowser())('a temporary chat', () => {
  it('answers with knowledge and with what was said before, and leaves nothing behind', async () => {
    const { page, problems } = await openConsole(service, ann, `/?agent=${agentId}`);
    await page.getByRole('switch', { name: 'Temporary chat' }).click();
    await page.waitForURL((url) => url.pathname === '/temporary');
    await page.getByText('Nothing said here is stored').waitFor();
    await keepConsolePicture(page, 'temporary-empty');
    const transcript = page.getByRole('region', { name: 'Transcript' });
    const box = page.getByRole('textbox', { name: 'Message' });
    upstream.next({ text: `It costs 15 euro [1], ${marker}.` });
    await box.fill(`What does a puncture repair cost, ${marker}?`);
    await page.keyboard.press('Enter');
    await transcript.getByRole('button', { name: /^Source 1/ }).waitFor();
    upstream.next({ text: 'Still 15 euro.' });
    await box.fill('And today?');
    await page.keyboard.press('Enter');
    await transcript.getByText('Still 15 euro.').waitFor();
    const asked = JSON.stringify(upstream.requests.at(-1)?.body);
    for (const text of ['puncture repair cost', 'It costs 15 euro', 'And today?']) expect(asked).toContain(text);
    await checkScreen(page, 'temporary');
    await service.deps.audit.flush();
    expect(await tablesWith('Harbour pilot')).toContain('agents');
    expect(await tablesWith(marker)).toEqual([]);
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain(marker);
    expect(await page.getByRole('complementary', { name: 'Chats' }).getByText('puncture').count()).toBe(0);
    expect((await ann.get('/api/v1/chats')).body.data).toEqual([]);
    expect(problems).toEqual([]);
  });

  it('gives the focus to the box when the answer ends that the reader could have stopped', async () => {
    const { page, problems } = await openConsole(service, ann, `/temporary?agent=${agentId}`);
    const box = page.getByRole('textbox', { name: 'Message' });
    const { script, goOn } = heldAnswer({ text: ['At ', 'six.'] });
    upstream.next(script);
    await box.fill('When is low tide?');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Stop' }).focus();
    goOn();
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    await expect.poll(() => box.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(problems).toEqual([]);
  });

  it('takes files that stay in the page, and another model', async () => {
    const { page, problems } = await openConsole(service, ann, `/temporary?agent=${agentId}`);
    const box = page.getByRole('textbox', { name: 'Message' });
    const transcript = page.getByRole('region', { name: 'Transcript' });
    const choose = (files: Parameters<ReturnType<typeof page.locator>['setInputFiles']>[0]) =>
      page.locator('input[type=file]').setInputFiles(files);
    await choose([
      { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from(`The tide is high at noon, ${marker}-file.`) },
      { name: 'large.txt', mimeType: 'text/plain', buffer: Buffer.alloc(5_000_000, 'x') },
    ]);
    await page.getByText('The files of a temporary chat may have 5 MB together.').waitFor();
    expect(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Remove large.txt' }).click();
    upstream.next({ text: 'At noon.' });
    await box.fill('When is high tide?');
    await page.keyboard.press('Enter');
    await transcript.getByText('At noon.').waitFor();
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain(`${marker}-file`);
    await transcript.getByText('note.txt').waitFor();
    upstream.next({ text: 'Still at noon.' });
    await box.fill('Really?');
    await page.keyboard.press('Enter');
    await transcript.getByText('Still at noon.').waitFor();
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain(`${marker}-file`);
    const asked = upstream.requests.length;
    await page.getByRole('combobox', { name: 'Model' }).selectOption('parley/offline');
    await box.fill('And without a model?');
    await page.keyboard.press('Enter');
    await transcript.getByText('And without a model?').waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    expect(upstream.requests.length).toBe(asked);
    await checkScreen(page, 'temporary-files');
    await service.deps.audit.flush();
    expect(await tablesWith(marker)).toEqual([]);
    expect(problems).toEqual([]);
  });

  it('asks before it calls a tool that needs a person, and a function for its output, and goes on with both', async () => {
    const api = await startApiServer();
    afterAll(() => api.close());
    const parameters = { type: 'object', properties: { part: { type: 'string' } }, required: ['part'] };
    const order = { method: 'POST', url: `${api.url}/orders`, parameters, body: '{"part":"{part}"}', requireApproval: true };
    const { id } = await make.agent({ owner: ann, name: 'Chandler' });
    for (const tool of [
      { name: 'order', type: 'API_FUNCTION', data: order },
      {
        name: 'look_outside',
        type: 'CLIENT_FUNCTION',
        data: { description: 'Looks.', parameters: { type: 'object', properties: {} } },
      },
    ]) {
      const { status, body } = await ann.post(`/api/v1/ais/${id}/tools`, tool);
      expect([status, body.error]).toEqual([200, undefined]);
    }
    const call = { id: 'call_1', name: 'order', arguments: `{"part":"rope of ${marker}"}` };
    const look = { id: 'call_2', name: 'look_outside', arguments: '{}' };
    upstream.next({ toolCalls: [call] }, { text: 'It is ordered.' }, { toolCalls: [{ ...call, id: 'call_3' }, look] });
    upstream.next({ text: 'Then you need no sail.' });
    const { page, problems } = await openConsole(service, ann, `/temporary?agent=${id}`);
    const transcript = page.getByRole('region', { name: 'Transcript' });
    const ask = async (text: string) => {
      await page.getByRole('textbox', { name: 'Message' }).fill(text);
      await page.keyboard.press('Enter');
    };
    await ask('Order a rope');
    const card = transcript.getByRole('region', { name: 'May it call order?', exact: true });
    await card.getByRole('textbox', { name: 'Arguments' }).fill('{"part": "chain"}');
    await checkScreen(page, 'temporary-approval');
    await card.getByRole('button', { name: 'Approve' }).click();
    await transcript.getByText('It is ordered.').waitFor();
    expect(api.requests.map(({ body }) => body)).toEqual(['{"part":"chain"}']);
    await card.getByText('Approved').waitFor();

    await ask('Order a rope if it blows');
    const second = transcript.getByRole('region', { name: /^May it call order\? 2\/2$/ });
    await second.getByRole('button', { name: 'Deny' }).click();
    await second.getByText('This waits for the answer to the other call.').waitFor();
    const output = transcript.getByRole('region', { name: /^It asks for the output of look_outside/ });
    await output.getByRole('textbox', { name: 'Output' }).fill('No wind.');
    await output.getByRole('button', { name: 'Give the output' }).click();
    await transcript.getByText('Then you need no sail.').waitFor();
    const asked = JSON.stringify(upstream.requests.at(-1)?.body);
    for (const text of ['It is ordered.', 'Order a rope if it blows', 'No wind.']) expect(asked).toContain(text);
    expect(api.requests).toHaveLength(1);
    await service.deps.audit.flush();
    expect(await tablesWith(marker)).toEqual([]);
    expect(problems).toEqual([]);
  });

  it('stops, starts over, and says before it is lost', async () => {
    const { page } = await openConsole(service, ann, `/temporary?agent=${agentId}`);
    const box = page.getByRole('textbox', { name: 'Message' });
    const { script, goOn } = heldAnswer({ text: ['At ', 'noon.'] });
    upstream.next(script);
    await box.fill('When is high tide?');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped.').waitFor();
    goOn();
    const asks = new Promise<string>((resolve) => {
      page.once('dialog', (dialog) => {
        resolve(dialog.type());
        void dialog.dismiss();
      });
    });
    void page.reload().catch(() => undefined);
    expect(await asks).toBe('beforeunload');
    await page.getByRole('switch', { name: 'Temporary chat' }).click();
    await page.getByRole('dialog', { name: 'Leave this temporary chat?' }).getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Start over' }).click();
    await page.getByText('A chat that is not kept').waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await overflowWidth(page)).toBe(0);
    await keepConsolePicture(page, 'temporary-phone');
  });

  it('says why an answer failed', async () => {
    const { page } = await openConsole(service, ann, `/temporary?agent=${agentId}`);
    upstream.next({ status: 500 });
    await page.getByRole('textbox', { name: 'Message' }).fill('When is high tide?');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('textbox', { name: 'Message' }).isEnabled()).toBe(true);
  });
});
