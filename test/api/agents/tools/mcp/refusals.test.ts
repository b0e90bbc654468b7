import { afterAll, describe, expect, it } from 'vitest';
import { startMcpUpstream } from '../../../../fixtures/upstreams/mcp/server.ts';
import { sampled } from '../../../../support/property/sample.ts';
import { withService } from '../../../../support/service.ts';

/** What a request, or a tool of an agent, says wrongly of an MCP server is refused with its member before anything is stored. */
const server = await startMcpUpstream();
const { service, make, upstream } = await withService('model');
const model = 'openai/test-model';
const ann = await make.person();
const agentId = (await make.agent({ owner: ann, modelId: model })).id;
const chatId = (await make.chat({ owner: ann, agentId })).id;
const bob = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
await bob.post('/api/v1/connections/mcp-servers', { name: 'of-bob', url: server.url });

afterAll(() => server.close());

const mcp = { type: 'mcp', server_label: 'shop', server_url: server.url };
const faults: Readonly<Record<string, readonly [object[], string]>> = {
  'an unknown server': [[{ type: 'mcp_server', server: 'nowhere' }], 'tools[0].server'],
  "somebody else's server": [[{ type: 'mcp_server', server: 'of-bob' }], 'tools[0].server'],
  'one label twice': [[mcp, { ...mcp, server_url: `${server.url}?2` }], 'tools[1].server_label'],
  'allowed_tools that names nothing': [[{ ...mcp, allowed_tools: [] }], 'tools[0].allowed_tools'],
  'an empty filter': [[{ ...mcp, allowed_tools: { tool_names: [] } }], 'tools[0].allowed_tools'],
};
const messages = [{ role: 'user', content: 'Go' }];
const apis: Readonly<
  Record<string, (tools: readonly object[]) => Promise<{ status: number; body: ReturnType<typeof JSON.parse> }>>
> = {
  responses: (tools) => ann.post('/api/v2/responses', { model, input: 'Go', tools }),
  'responses, streamed': (tools) => ann.post('/api/v2/responses', { model, input: 'Go', tools, stream: true }),
  completions: (tools) => ann.post('/api/v1/chat/completions', { model, messages, tools }),
  chats: (tools) => ann.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Go', tools }),
};

describe.each(sampled(Object.keys(apis)))('%s', (api) => {
  it.each(Object.entries(faults))('refuses %s', async (_what, [tools, member]) => {
    const count = async () =>
      (await service.deps.storage.db.pool.query('select (select count(*) from runs) + (select count(*) from messages) as n'))
        .rows[0].n;
    const before = await count();
    const reply = await apis[api]?.(tools);
    expect(reply?.status, JSON.stringify(reply?.body)).toBe(400);
    const plain = (text: string) => text.replaceAll('_', '').toLowerCase();
    expect(plain(reply?.body.error.param)).toBe(plain(member));
    expect(await count()).toBe(before);
    expect(upstream.requests).toEqual([]);
  });
});

describe('a tool of an agent', () => {
  const add = (type: string, data: object) => ann.post(`/api/v1/ais/${agentId}/tools`, { name: 'tool_a', type, data });
  it.each([
    ['API_FUNCTION', { url: 'https://example.com', headers: { 'Idempotency-Key': 'always' } }, 'data.headers.Idempotency-Key'],
    ['MCP_SERVER', { url: 'https://example.com/mcp', headers: { 'idempotency-key': 'x' } }, 'data.headers.idempotency-key'],
    ['MCP_SERVER', { url: 'https://example.com/mcp', command: 'npx' }, 'data.command'],
  ])('is refused: %s %s', async (type, data, member) => {
    const { status, body } = await add(type, data);
    expect([status, body.error.param]).toEqual([400, member]);
  });

  it('may make its idempotency key of an argument', async () => {
    const parameters = { type: 'object', properties: { order: { type: 'string' } } };
    const headers = { 'Idempotency-Key': 'order-{order}' };
    const { status, body } = await add('API_FUNCTION', { url: 'https://example.com', method: 'POST', parameters, headers });
    expect(status, JSON.stringify(body)).toBe(200);
  });
});
