import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { installExample } from '../support/examples/example.ts';
import { addFile, indexed } from '../support/knowledge/knowledge.ts';
import { openPage, visible } from '../support/pages.ts';
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
    await sees('#runs', /^Active runs: 0$/);
    await sees('#usage', /^Tokens used: 0$/);
    const { script, goOn } = heldAnswer({ text: ['Good', ' morning'], usage: { prompt_tokens: 1_200, completion_tokens: 34 } });
    upstream.next(script);
    const { id: chatId } = await make.chat({ owner, agentId });
    const answer = owner.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hello' });
    await sees('#runs', /^Active runs: 1\s+Workshop help, in_progress since /);
    goOn();
    expect((await answer).status).toBe(200);
    await sees('#runs', /^Active runs: 0$/);
    await sees('#usage', /^Tokens used: 1,234\s+Workshop help\s+1,234$/);
  });

  it('shows a data source that is added, and its progress', async () => {
    const { body } = await addFile(owner, agentId, 'hours.md', 'The workshop opens at nine.');
    await sees('#sources', /^Data sources\s+hours\.md: INDEXED/);
    expect((await indexed(owner, body.id)).indexPercentage).toBe('100');
    await eventually(async () => expect(await page.$eval('progress', ({ value }) => value)).toBe(100));
    expect(problems).toEqual([]);
  });

  it('goes on when Parley has been restarted', async () => {
    await service.restart();
    expect((await ask()).status).toBe(200);
    await sees('#usage', /^Tokens used: 1,2[4-9]\d/);
    await sees('#runs', /^Active runs: 0$/);
    expect(await page.$('[role=alert]')).toBeNull();
  });

  it('says why when the key is refused', async () => {
    const refused = await example.start({ PARLEY_URL: service.url, PARLEY_KEY: 'pk_unknown' }, '--port', '0');
    const { page: other } = await openPage(refused);
    await other.waitForSelector('#usage [role=alert]');
    expect(await visible(other, '#usage [role=alert]')).toMatch(/The API key is unknown, revoked or expired/);
  });
});
