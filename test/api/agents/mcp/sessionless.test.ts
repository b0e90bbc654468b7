import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';
import { heldAnswer } from '../../../support/upstream.ts';

/** The revision of 2026-07-28: each request stands for itself, and the client cancels by closing its stream. */
const version = '2026-07-28';
const { service, make, upstream } = await withService('model', {});
const model = 'openai/test-model';
const tool = 'ask_ada';
const open: Client[] = [];

const ann = await make.person();
await make.agent({ owner: ann, modelId: model, name: 'Ada' });

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

async function connect(who: Person): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: { pin: version } } });
  const requestInit = { headers: { authorization: `Bearer ${who.key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit }));
  open.push(client);
  return client;
}
const envelope = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 7, method, params: { ...params, _meta: envelope } });
const headersOf = (method: string, more: Readonly<Record<string, string>> = {}) => ({
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': version,
  'mcp-method': method,
  ...more,
});

describe('a request without a session', () => {
  it('lists, answers and tells progress, as one in a session does', async () => {
    const client = await connect(ann);
    expect([client.getProtocolEra(), client.transport?.sessionId]).toEqual(['modern', undefined]);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['search_knowledge', tool]);
    const held = heldAnswer({ text: ['Call me', ' Ishmael.'] });
    upstream.next(held.script);
    const progress: string[] = [];
    const asked = client.callTool(
      { name: tool, arguments: { question: 'How does it begin?' } },
      { onprogress: ({ message }) => void progress.push(message ?? '') },
    );
    await eventually(() => expect(progress.join('')).toContain('Thinking'));
    held.goOn();
    expect((await asked).structuredContent).toMatchObject({ answer: 'Call me Ishmael.' });
  });

  it('gets lists as JSON, and the answer of an agent as a stream from its begin', async () => {
    const listed = await ann.post('/mcp', rpc('tools/list'), headersOf('tools/list'));
    expect([listed.status, listed.headers.get('content-type'), listed.headers.get('mcp-session-id')]).toEqual([
      200,
      'application/json',
      null,
    ]);
    expect(listed.headers.get('x-content-type-options')).toBe('nosniff');
    upstream.next({ text: 'Yes.' });
    const call = rpc('tools/call', { name: tool, arguments: { question: 'Well?' } });
    const reply = await ann.fetch('POST', '/mcp', call, headersOf('tools/call', { 'mcp-name': tool }));
    expect(reply.headers.get('content-type')).toContain('text/event-stream');
    expect(await reply.text()).toContain('Yes.');
  });

  it('ends its run when the client leaves', async () => {
    const leaving = new AbortController();
    upstream.next(heldAnswer({ text: ['One', ' two'] }).script);
    const call = rpc('tools/call', { name: tool, arguments: { question: 'Count.' } });
    const headers = headersOf('tools/call', { 'mcp-name': tool });
    const reply = ann.fetch('POST', '/mcp', call, headers, leaving.signal).catch(() => undefined);
    await upstream.until(({ openStreams }) => openStreams === 1);
    leaving.abort();
    await reply;
    await upstream.until(({ aborted }) => aborted === 1);
  });

  it('keeps a stream on which it is told of changes, until its key ends', async () => {
    const dora = await make.person();
    const key = await make.withKey(dora, { scopes: ['AGENTS:READ'] });
    const client = await connect(key);
    const changed = new Set<string>();
    client.setNotificationHandler('notifications/tools/list_changed', () => void changed.add('tools'));
    client.setNotificationHandler('notifications/prompts/list_changed', () => void changed.add('prompts'));
    const subscription = await client.listen({ toolsListChanged: true });
    expect(service.deps.pools.countOf('subscriptions')).toBe(1);
    await make.agent({ owner: dora, modelId: model, name: 'New' });
    await eventually(() => expect([...changed]).toEqual(['tools']));
    await subscription.close();
    await eventually(() => expect(service.deps.pools.countOf('subscriptions')).toBe(0));
  });

  it('is refused without a key, from a page of another origin, and in a version that does not exist', async () => {
    const headers = headersOf('tools/list');
    expect((await service.nobody.post('/mcp', rpc('tools/list'), headers)).status).toBe(401);
    expect((await ann.post('/mcp', rpc('tools/list'), { ...headers, origin: 'https://evil.example' })).status).toBe(403);
    const meta = { ...envelope, 'io.modelcontextprotocol/protocolVersion': '2999-01-01' };
    const unspoken = { ...rpc('tools/list'), params: { _meta: meta } };
    const { status, body } = await ann.post('/mcp', unspoken, { ...headers, 'mcp-protocol-version': '2999-01-01' });
    expect([status, body]).toMatchObject([400, { id: 7, error: { code: -32_022, data: { supported: [version] } } }]);
  });

  it('has the rights of its key', async () => {
    const reader = await make.withKey(ann, { scopes: ['AGENTS:READ'] });
    const client = await connect(reader);
    expect((await client.listTools()).tools).toEqual([]);
    await expect(client.callTool({ name: tool, arguments: { question: 'Hi' } })).rejects.toThrow('CHATS:WRITE');
  });
});
