import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../support/browser/browser.ts';
import { openPage, visible } from '../support/browser/pages.ts';
import { addFile, indexed } from '../support/knowledge/knowledge.ts';
import { installExample } from '../support/processes/example.ts';
import { withService } from '../support/service.ts';

const { service, make } = await withService();
const owner = await make.person();
const { key } = await make.withKey(owner, { scopes: ['AGENTS:READ', 'CHATS:WRITE'] });
const { id: agentId } = await make.agent({ owner });
const { body: source } = await addFile(
  owner,
  agentId,
  'loans.md',
  '# Loan bicycles\n\nThe deposit for a loan bicycle is 50 euro.',
);
await indexed(owner, source.id);
const example = await installExample('nextjs-chat');
const url = await example.start({ PARLEY_URL: service.url, PARLEY_KEY: key }, '-p', '0');
const question = 'What is the deposit for a loan bicycle?';

describe('the route of the chat', () => {
  const ask = (body: unknown) => fetch(`${url}/api/chat`, { method: 'POST', body: JSON.stringify(body) });
  const message = (role: string, text: string) => ({ id: text, role, parts: [{ type: 'text', text }] });

  it('streams the answer of the agent, with what it cites', async () => {
    const reply = await ask({
      agentId,
      messages: [message('user', 'Hello'), message('assistant', 'Hello.'), message('user', question)],
    });
    expect(reply.headers.get('content-type')).toContain('text/event-stream');
    const parts = (await reply.text())
      .split('\n\n')
      .flatMap((frame) => (frame.startsWith('data: {') ? [JSON.parse(frame.slice(6))] : []));
    const deltas = parts.filter(({ type }) => type === 'text-delta').map(({ delta }) => delta);
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join('')).toContain('50 euro [1]');
    expect(parts.filter(({ type }) => type === 'source-url')).toEqual([
      expect.objectContaining({ title: expect.any(String), url: expect.stringContaining('/api/v1/data-sources/') }),
    ]);
    expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' });
  });

  it('tells in the stream why Parley refuses', async () => {
    const reply = await ask({ agentId: 'ai_none', messages: [message('user', question)] });
    expect(await reply.text()).toContain('"type":"error","errorText":"There is no model or agent \\"ai_none\\""');
  });

  it.each([
    ['an id that is no agent’s', { agentId: 'parley/offline', messages: [message('user', 'Hello')] }, 'agentId'],
    ['messages that are none', { agentId, messages: [{ role: 'user' }] }, 'parts'],
  ])('refuses %s', async (_case, body, named) => {
    const reply = await ask(body);
    expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining(named)]);
  });
});

describe.skipIf(!hasBrowser())('the page', () => {
  it('lets people pick an agent by its name, and lists the citations of its answer', async () => {
    const { page, problems } = await openPage(url);
    await page.select('select', agentId);
    await page.type('input', question);
    await page.keyboard.press('Enter');
    const link = await page.waitForSelector('ul[aria-label=Citations] a');
    expect(await visible(page, 'article.assistant p')).toContain('50 euro [1]');
    const address = String(await (await link?.getProperty('href'))?.jsonValue());
    // The address carries its own right for an hour: a reader follows it without a key.
    expect(await (await fetch(address)).text()).toContain('The deposit for a loan bicycle is 50 euro.');
    expect(problems).toEqual([]);
  });
});
