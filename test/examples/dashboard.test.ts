import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../support/browser/browser.ts';
import { openPage, visible } from '../support/browser/pages.ts';
import { addFile, indexed } from '../support/knowledge/knowledge.ts';
import { eventually } from '../support/processes/eventually.ts';
import { installExample } from '../support/processes/example.ts';
import { freePort } from '../support/processes/free-port.ts';
import { withService } from '../support/service.ts';
import { heldAnswer } from '../support/upstream.ts';

// The service keeps its address when it starts again.
const { service, make, upstream } = await withService('model', { env: { PORT: String(await freePort()) } });
const owner = await make.person();
const { key } = await make.withKey(owner, { scopes: ['AGENTS:READ', 'CHATS:READ', 'DATA_SOURCES:READ', 'USAGE:READ'] });
const { id: agentId } = await make.agent({ owner, name: 'Workshop help' });
const example = await installExample('dashboard');
await example.run('build');
const url = await example.start({ PARLEY_URL: service.url, PARLEY_KEY: key }, '--port', '0');

const ask = () => owner.post('/v1/chat/completions', { model: agentId, messages: [{ role: 'user', content: 'Hello' }] });

describe.skipIf(!hasBrowser())('the dashboard', async () => {
  const { page, problems } = await openPage(url);
  const sees = (section: string, text: RegExp) => eventually(async () => expect(await visible(page, section)).toMatch(text));

  it('shows a run while it is active, and what it used', async () => {
    await sees('#runs', /No run yet/);
    await sees('#usage', /^Tokens used: 0/);
    const { script, goOn } = heldAnswer({ text: ['Good', ' morning'], usage: { prompt_tokens: 1_200, completion_tokens: 34 } });
    upstream.next(script);
    const { id: chatId } = await make.chat({ owner, agentId });
    const answer = owner.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hello' });
    await sees('#runs', /Workshop help.*in progress/s);
    goOn();
    expect((await answer).status).toBe(200);
    await sees('#runs', /Workshop help.*completed.*1,234/s);
    await sees('#usage', /^Tokens used: 1,234.*Workshop help\s+1,234/s);
    await sees('#figures', /Runs\s+1\s+0 active/);
  });

  it('shows usage by model and by person', async () => {
    await page.click('#usage label:nth-of-type(3)');
    await sees('#usage', /People.*\S+\s+1,234$/s);
  });

  it('opens a run as a waterfall of its steps', async () => {
    await page.click('#runs tbody button');
    await sees('#run', /Workshop help completed.*1,200 tokens in and 34 out.*test-model/s);
    await page.keyboard.press('Escape');
    await eventually(async () => expect(await page.$('#run')).toBeNull());
  });

  it('filters the runs', async () => {
    await page.select('#runs select', 'FAILED');
    await sees('#runs', /No run yet/);
    await page.select('#runs select', '');
    await sees('#runs', /completed/);
  });

  it('shows a data source that is added, and its progress', async () => {
    const { body } = await addFile(owner, agentId, 'hours.md', 'The workshop opens at nine.');
    await sees('#sources', /^Data sources\s+hours\.md\s+indexed\s+1 of 1 items/);
    expect((await indexed(owner, body.id)).indexPercentage).toBe('100');
    await eventually(async () => expect(await page.$eval('progress', ({ value }) => value)).toBe(100));
  });

  it('shows a question that found nothing', async () => {
    const { id: chatId } = await make.chat({ owner, agentId });
    expect((await owner.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Zeppelin quotas?' })).status).toBe(200);
    await sees('#unanswered', /Zeppelin quotas\?\s+nothing found/);
    expect(problems).toEqual([]);
  });

  it('goes on when Parley has been restarted', async () => {
    await service.restart();
    expect((await ask()).status).toBe(200);
    await sees('#runs', /completion, .*completed/s);
    await eventually(async () => expect(await visible(page, '[role=status]')).toBe('live'));
    expect(await page.$('[role=alert]')).toBeNull();
  });

  it('says why when the key is refused', async () => {
    const refused = await example.start({ PARLEY_URL: service.url, PARLEY_KEY: 'pk_unknown' }, '--port', '0');
    const { page: other } = await openPage(refused);
    await other.waitForSelector('#usage [role=alert]');
    expect(await visible(other, '#usage [role=alert]')).toMatch(/The API key is unknown, revoked or expired/);
  });
});
