import { afterAll, describe, expect, it } from 'vitest';
import { startMcpUpstream } from '../../../../fixtures/upstreams/mcp/server.ts';
import { sampled } from '../../../../support/property/sample.ts';
import { withService } from '../../../../support/service.ts';

/** What the model reads of a result, against real servers of both eras: everything once, and resources that are only linked. */
const servers = {
  'with sessions': await startMcpUpstream('sessions'),
  'of 2026-07-28': await startMcpUpstream('sessionless'),
};
const { make, upstream } = await withService('model');
const model = 'openai/test-model';

const ann = await make.person();

afterAll(() => Promise.all(Object.values(servers).map((server) => server.close())));

const results = () => {
  const messages = (upstream.requests.at(-1)?.body?.messages ?? []) as { role: string; content: string }[];
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
};
/** The words of the server, without the marks around them. */
const inner = (text = '') => text.split('\n').slice(1, -1).join('\n');
const text = (said: string) => ({ type: 'text', text: said });

describe.each(sampled(Object.entries(servers)))('a server %s', (_era, server) => {
  const tool = { type: 'mcp', server_label: 'shop', server_url: server.url, require_approval: 'never' };
  const call = (id: string, name: string, args: object = {}) => ({
    toolCalls: [{ id, name: `shop__${name}`, arguments: JSON.stringify(args) }],
  });
  const ask = (more: object = {}) => ann.post('/api/v2/responses', { model, input: 'Go', tools: [tool], ...more });

  it.each([
    ['JSON in another order and spacing', [text('{ "b": [1, 2],\n "a": "x" }')], { a: 'x', b: [1, 2] }],
    ['a wrapped text', [text('Sunny')], { result: 'Sunny' }],
    ['a wrapped text in several parts', [text('Sunny'), text('and warm')], { result: 'Sunny\nand warm' }],
    ['a wrapped number', [text('12.5')], { result: 12.5 }],
    ['a wrapped list as JSON', [text('["a",{"b":1}]')], { result: ['a', { b: 1 }] }],
    ['a wrapped list, a text for each member', [text('a'), text('{"b": 1}')], { result: ['a', { b: 1 }] }],
    ['a wrapped object', [text('{"b": 1}')], { result: { b: 1 } }],
  ])('shows once: %s', async (_what, content, structuredContent) => {
    server.reset();
    server.tools.push({ name: 'weather', result: { content, structuredContent } });
    upstream.next(call('call_1', 'weather'), { text: 'Done.' });
    expect((await ask()).status).toBe(200);
    expect(inner(results()[0])).toBe(content.map((part) => part.text).join('\n'));
  });

  it.each([
    ['other values', [text('{"a": 1}')], { a: 2 }],
    ['a member more', [text('Sunny')], { result: 'Sunny', celsius: 12 }],
    ['no text', [], { result: null }],
  ])('shows both: %s', async (_what, content, structuredContent) => {
    server.reset();
    server.tools.push({ name: 'weather', result: { content, structuredContent } });
    upstream.next(call('call_1', 'weather'), { text: 'Done.' });
    expect((await ask()).status).toBe(200);
    expect(inner(results()[0])).toBe([...content.map((part) => part.text), JSON.stringify(structuredContent)].join('\n'));
  });

  it('keeps what a link says, and reads what it links, also in a later turn; nothing else', async () => {
    server.reset();
    server.resources = { 'file:///report.md': 'The roof leaks.', 'file:///secret.md': 'CANARY' };
    const about = { name: 'report', description: 'What the inspection found', mimeType: 'text/markdown', size: 15 };
    server.tools.push({ name: 'find', result: { content: [{ type: 'resource_link', uri: 'file:///report.md', ...about }] } });
    // A new session: the one before was told of no resources.
    const fresh = { ...tool, headers: { 'x-session': 'resources' } };
    upstream.next(
      call('call_1', 'find'),
      call('call_2', 'read_resource', { uri: 'file:///report.md' }),
      call('call_3', 'read_resource', { uri: 'file:///secret.md' }),
      { text: 'It leaks.' },
    );
    const first = await ask({ tools: [fresh] });
    expect(first.status, JSON.stringify(first.body)).toBe(200);
    const [linked, read, refused] = results();
    expect(inner(linked)).toBe('[resource file:///report.md report · What the inspection found · text/markdown · 15 bytes]');
    expect(inner(read)).toBe('[resource file:///report.md]\nThe roof leaks.');
    expect(refused).toMatch(/^Error: uri must be the address of a resource/);
    upstream.next(call('call_4', 'read_resource', { uri: 'file:///report.md' }), { text: 'Yes.' });
    expect((await ask({ tools: [fresh], previous_response_id: first.body.id })).status).toBe(200);
    expect(inner(results().at(-1))).toContain('The roof leaks.');
    server.resources = undefined;
  });
});
