import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';
import { heldAnswer } from '../../../support/upstream.ts';

/** Agents as tools of MCP clients, with the official client over HTTP. */
const { service, make, upstream } = await withService('model', {});
const model = 'openai/test-model';
const open: Client[] = [];

const ann = await make.person();
const agent = await make.agent({
  owner: ann,
  modelId: model,
  name: 'Bücher & Co.',
  description: 'Knows the books.',
  introduction: 'Ask me about books.',
  instructions: 'Answer about books only.',
});
const agentId = agent.id;

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

async function connect(who: { readonly key: string | undefined }): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${who.key}` } },
  });
  await client.connect(transport);
  open.push(client);
  return client;
}
const tool = 'ask_bucher_co';
type Result = {
  readonly content: readonly { readonly text: string }[];
  readonly isError?: boolean;
  readonly structuredContent?: Record<string, unknown>;
};
const ask = (client: Client, args: Record<string, unknown>, name = tool) =>
  client.callTool({ name, arguments: args }) as Promise<Result>;
const rpc = (method: string, params: object = {}, id = 1) => ({ jsonrpc: '2.0', id, method, params });
const both = { accept: 'application/json, text/event-stream' };

describe('/mcp', () => {
  it('lists the agents of the key as tools, prompts and resources', async () => {
    const client = await connect(ann);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['search_knowledge', tool]);
    expect(tools[1]).toMatchObject({ title: 'Bücher & Co.', description: expect.stringContaining('Knows the books.') });
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual([tool]);
    expect((await client.listResources()).resources).toEqual([
      { uri: `parley://agents/${agentId}`, name: 'Bücher & Co.', description: 'Knows the books.', mimeType: 'application/json' },
    ]);
    expect((await client.listResourceTemplates()).resourceTemplates[0]?.uriTemplate).toBe('parley://agents/{id}');
  });

  it('pages its lists', async () => {
    const many = await make.person();
    for (let index = 0; index < 52; index += 1) await make.agent({ owner: many, modelId: model, name: `Same` });
    const client = await connect(many);
    const first = (await many.post('/mcp', rpc('tools/list'), both)).body.result;
    const second = await client.listTools({ cursor: first.nextCursor });
    const names = [...first.tools, ...second.tools].map(({ name }: { name: string }) => name);
    expect(first.tools).toHaveLength(50);
    expect(second.nextCursor).toBeUndefined();
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names);
    expect(new Set(names).size).toBe(53);
    expect(names[1]).toBe('ask_same');
    for (const name of names.slice(2)) expect(name).toMatch(/^ask_same_[0-9a-z]{6}$/);
    for (const cursor of ['x', '50', '', '-1 ask_same', '1e3 ask_same'])
      await expect(many.post('/mcp', rpc('tools/list', { cursor }), both), cursor).resolves.toMatchObject({
        body: { error: { code: -32_602 } },
      });
  });

  it.each(['before it', 'at its end'])(
    'lists every tool, though one of the first page %s is deleted before the second',
    async (place) => {
      const many = await make.person();
      const ids: string[] = [];
      for (let index = 0; index < 52; index += 1) ids.push((await make.agent({ owner: many, modelId: model })).id);
      const page = async (cursor?: string) => (await many.post('/mcp', rpc('tools/list', { cursor }), both)).body.result;
      const first = await page();
      const deleted = place === 'before it' ? ids[3] : ids[48];
      expect((await many.delete(`/api/v1/ais/${deleted}`)).status).toBe(200);
      const second = await page(first.nextCursor);
      const rest = await page();
      const names = [...first.tools, ...second.tools].map(({ name }: { name: string }) => name);
      expect(new Set(names).size).toBe(53);
      expect(names).toHaveLength(53);
      expect(rest.tools).toHaveLength(50);
    },
  );

  it('answers a question in a new chat, and goes on in it', async () => {
    const client = await connect(ann);
    upstream.next({ text: 'Moby Dick.' }, { text: 'Melville.' });
    const first = await ask(client, { question: 'Which book?' });
    expect(first.structuredContent?.answer).toBe('Moby Dick.');
    // A client that shows texts and structured content sees that they are the same.
    expect(JSON.parse(first.content[0]?.text ?? '')).toEqual(first.structuredContent);
    expect(first.content).toHaveLength(1);
    const chatId = String(first.structuredContent?.chat_id);
    const second = await ask(client, { question: 'Who wrote it?', chat_id: chatId });
    expect(second.structuredContent?.answer).toBe('Melville.');
    expect(second.structuredContent?.chat_id).toBe(chatId);
    const { body } = await ann.get(`/api/v1/chats/${chatId}`);
    expect(body.id).toBe(chatId);
    const sent = (upstream.requests.at(-1)?.body?.messages ?? []) as { content: string }[];
    expect(sent.map(({ content }) => content)).toEqual(expect.arrayContaining(['Which book?', 'Moby Dick.', 'Who wrote it?']));
  });

  it('charges the organization of the key', async () => {
    const carl = await make.person();
    await make.agent({ owner: carl, modelId: model, name: 'Paid' });
    upstream.next({ text: 'Here.', usage: { prompt_tokens: 11, completion_tokens: 7 } });
    await ask(await connect(carl), { question: 'Anything?' }, 'ask_paid');
    await eventually(async () => {
      const { body } = await carl.get('/api/v1/usage');
      expect(body.orgUsage.apiTokensUsed).toBe(11 + 7);
    });
  });

  it('tells progress while the agent answers', async () => {
    const client = await connect(ann);
    const held = heldAnswer({ text: ['Call me', ' Ishmael.'] });
    upstream.next(held.script);
    const told: string[] = [];
    const asked = client.callTool(
      { name: tool, arguments: { question: 'How does it begin?' } },
      {
        onprogress: ({ message }) => void told.push(message ?? ''),
      },
    );
    await eventually(() => expect(told.join('')).toContain('Thinking'));
    held.goOn();
    expect(((await asked) as unknown as Result).structuredContent?.answer).toBe('Call me Ishmael.');
  });

  it('ends the run when the client cancels', async () => {
    const client = await connect(ann);
    upstream.next(heldAnswer({ text: ['One', ' two'] }).script);
    const cancelling = new AbortController();
    const asked = client.callTool({ name: tool, arguments: { question: 'Count.' } }, { signal: cancelling.signal });
    await upstream.until(({ openStreams }) => openStreams === 1);
    cancelling.abort();
    await expect(asked).rejects.toThrow();
    await upstream.until(({ aborted }) => aborted === 1);
  });

  it('does not let another client with the same key cancel a call by its number', async () => {
    const [one, two] = [await connect(ann), await connect(ann)];
    const held = heldAnswer({ text: ['One', ' two'] });
    upstream.next(held.script);
    const asked = ask(one, { question: 'Count.' });
    await upstream.until(({ openStreams }) => openStreams === 1);
    for (const requestId of [0, 1, 2, 3]) await two.notification({ method: 'notifications/cancelled', params: { requestId } });
    held.goOn();
    expect((await asked).structuredContent?.answer).toBe('One two');
  });

  it('searches the knowledge of the agents', async () => {
    const lib = await make.person();
    const agent = await make.agent({ owner: lib, modelId: model, name: 'Library' });
    const source = await make.apiDataSource({
      owner: lib,
      agentId: agent.id,
      data: { content: 'The whale is called Moby Dick.' },
    });
    await indexed(lib, source.id);
    const client = await connect(lib);
    const found = (await client.callTool({ name: 'search_knowledge', arguments: { query: 'whale' } })) as unknown as Result;
    expect(found.content[0]?.text).toContain('Moby Dick');
    expect(found.structuredContent?.passages).toHaveLength(1);
    const other = await connect(ann);
    const nothing = (await other.callTool({ name: 'search_knowledge', arguments: { query: 'whale' } })) as unknown as Result;
    expect(nothing.content[0]?.text).toBe('{"passages":[]}');
    const foreign = (await other.callTool({
      name: 'search_knowledge',
      arguments: { query: 'whale', agent: agent.id },
    })) as unknown as Result;
    expect(foreign.isError).toBe(true);
  });

  it('shows the instructions of an agent to those who may edit it only', async () => {
    const read = async (who: Person) => {
      const { contents } = await (await connect(who)).readResource({ uri: `parley://agents/${agentId}` });
      return JSON.parse((contents[0] as { text: string }).text) as Record<string, unknown>;
    };
    expect(await read(ann)).toMatchObject({ introduction: 'Ask me about books.', instructions: 'Answer about books only.' });
    const bob = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
    await ann.patch(`/api/v1/ais/${agentId}`, { visibility: 'ORGANIZATION' });
    const seen = await read(bob);
    expect(seen).toMatchObject({ name: 'Bücher & Co.' });
    expect(seen).not.toHaveProperty('instructions');
  });

  it('completes the id of an agent by its begin or by its name', async () => {
    const client = await connect(ann);
    const idsFor = async (value: string, uri = 'parley://agents/{id}') => {
      const { completion } = await client.complete({ ref: { type: 'ref/resource', uri }, argument: { name: 'id', value } });
      return completion.values;
    };
    expect(await idsFor('büch')).toEqual([agentId]);
    expect(await idsFor(agentId.slice(0, 20))).toContain(agentId);
    expect([await idsFor('whale'), await idsFor('', 'other://{id}')]).toEqual([[], []]);
  });

  it('gives a prompt that names the tool', async () => {
    const { messages } = await (await connect(ann)).getPrompt({ name: tool, arguments: { question: 'Why?' } });
    expect(JSON.stringify(messages)).toContain(tool);
    expect(JSON.stringify(messages)).toContain('Why?');
  });

  it('tells clients that the lists have changed', async () => {
    const dora = await make.person();
    const client = await connect(dora);
    const changed = new Set<string>();
    client.setNotificationHandler('notifications/tools/list_changed', () => void changed.add('tools'));
    client.setNotificationHandler('notifications/resources/list_changed', () => void changed.add('resources'));
    client.setNotificationHandler('notifications/prompts/list_changed', () => void changed.add('prompts'));
    await eventually(() => expect(service.deps.pools.countOf('subscriptions')).toBeGreaterThan(0));
    await make.agent({ owner: dora, modelId: model, name: 'New' });
    await eventually(() => expect([...changed].sort()).toEqual(['prompts', 'resources', 'tools']));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('ask_new');
  });
});

describe('/mcp refuses', () => {
  it('a request without a key, or with a bad one, and says how to give one', async () => {
    for (const who of [service.nobody, service.client('pk-wrong')]) {
      const reply = await who.post('/mcp', rpc('tools/list'), both);
      expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringContaining(`resource_metadata="${service.url}/.well-known/oauth-protected-resource/mcp"`),
      ]);
    }
    await expect(connect(service.nobody)).rejects.toThrow();
  });

  it('what the key has no scope for', async () => {
    const reader = await make.withKey(ann, { scopes: ['AGENTS:READ'] });
    const client = await connect(reader);
    expect((await client.listTools()).tools).toEqual([]);
    expect((await client.listResources()).resources).toHaveLength(1);
    await expect(ask(client, { question: 'Hi' })).rejects.toThrow('CHATS:WRITE');
    const writer = await make.withKey(ann, { scopes: ['CHATS:WRITE'] });
    const blind = await connect(writer);
    expect((await blind.listTools()).tools).toEqual([]);
    await expect(ask(blind, { question: 'Hi' })).rejects.toThrow('AGENTS:READ');
    await expect(blind.readResource({ uri: `parley://agents/${agentId}` })).rejects.toThrow('AGENTS:READ');
  });

  it('an agent of another organization, like one that is missing', async () => {
    const eve = await make.person();
    const client = await connect(eve);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['search_knowledge']);
    await expect(ask(client, { question: 'Hi' })).rejects.toThrow(`There is no tool ${tool} for this key`);
    await expect(client.readResource({ uri: `parley://agents/${agentId}` })).rejects.toThrow('no such');
  });

  it('a chat of somebody else, and one with another agent', async () => {
    const client = await connect(ann);
    const second = await make.agent({ owner: ann, modelId: model, name: 'Second' });
    const chat = await make.chat({ owner: ann, agentId: second.id });
    expect(await ask(client, { question: 'Hi', chat_id: chat.id })).toMatchObject({ isError: true });
    const eve = await make.person();
    const hers = await make.agent({ owner: eve, modelId: model, name: 'Hers' });
    const foreign = await make.chat({ owner: eve, agentId: hers.id });
    const refused = await ask(client, { question: 'Hi', chat_id: foreign.id });
    expect(refused).toMatchObject({ isError: true });
    expect(refused.content[0]?.text).toContain('no such chat');
    expect(upstream.requests).toEqual([]);
  });

  it('arguments that do not fit', async () => {
    const client = await connect(ann);
    for (const args of [
      {},
      { question: '  ' },
      { question: 'x'.repeat(100_001) },
      { question: 'Hi', chat_id: 1 },
      { question: 'Hi', inputs: 1 },
    ]) {
      expect(await ask(client, args)).toMatchObject({ isError: true });
    }
  });

  it('pages of other origins', async () => {
    const from = (origin: string) => ann.post('/mcp', rpc('tools/list'), { ...both, origin });
    expect((await from('https://evil.example')).status).toBe(403);
    expect((await from('http://evil.example:80')).status).toBe(403);
    expect((await from(service.url)).status).toBe(200);
    expect((await ann.post('/mcp', rpc('tools/list'), both)).status).toBe(200);
  });

  it('no request for the name of its host, whatever it is', async () => {
    const body = JSON.stringify(rpc('tools/list'));
    const headers = { host: '[', authorization: `Bearer ${ann.key}`, 'content-type': 'application/json', ...both };
    const sent = request(`${service.url}/mcp`, { method: 'POST', headers }).end(body);
    const [reply] = (await once(sent, 'response')) as [IncomingMessage];
    reply.resume();
    expect(reply.statusCode).toBe(200);
  });

  it.each([
    ['a batch', [rpc('tools/list')], 400, -32_600],
    ['no JSON', '{', 400, -32_700],
    ['another type of content', rpc('tools/list'), 415, -32_600, { 'content-type': 'text/plain' }],
    ['a large body', JSON.stringify(rpc('tools/list', { pad: 'x'.repeat(5_000_000) })), 413, -32_600],
    ['a message that is none', { hello: 1 }, 400, -32_600],
    ['a version that does not exist', rpc('tools/list'), 400, -32_602, { 'mcp-protocol-version': '1999-01-01' }],
    ['a page of another origin', rpc('tools/list'), 403, -32_000, { origin: 'https://evil.example' }],
  ])('%s, as an error of JSON-RPC', async (_what, body, status, code, headers: Record<string, string> = {}) => {
    const reply = await ann.post('/mcp', body, { 'content-type': 'application/json', ...both, ...headers });
    expect([reply.status, reply.body.jsonrpc, reply.body.error.code]).toEqual([status, '2.0', code]);
  });

  it('params without what the protocol demands, by their names', async () => {
    const begun = await ann.post('/mcp', rpc('initialize', { capabilities: {} }), both);
    expect(begun.body).toMatchObject({ id: 1, error: { code: -32_602, message: expect.stringContaining('protocolVersion: ') } });
    const called = (await ann.post('/mcp', rpc('tools/call'), both)).body;
    expect(called.error).toMatchObject({ code: -32_602, message: expect.stringMatching(/: name: /) });
  });

  it('arguments that a tool does not have', async () => {
    const client = await connect(ann);
    const refused = await ask(client, { question: 'Hi', tone: 'kind' });
    expect(refused.content[0]?.text).toBe(
      'tone is no argument of this tool, which takes question, chat_id, inputs (invalid_value)',
    );
    expect((await ask(client, { query: 'Hi', top_k: 3 }, 'search_knowledge')).content[0]?.text).toContain('top_k');
    expect(upstream.requests).toEqual([]);
  });

  it('methods that the protocol does not have', async () => {
    const reply = await ann.put('/mcp', {});
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE, OPTIONS']);
    expect((await ann.get('/mcp')).status).toBe(406);
  });
});
