import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startMcpUpstream } from '../../../fixtures/upstreams/mcp/server.ts';
import { toolsOf } from '../../../support/runs/research.ts';
import { withService } from '../../../support/service.ts';

/** Members of tools on APIs that write camelCase: both spellings count, and no member is dropped because of its spelling. */
const { make, upstream } = await withService('model');
const server = await startMcpUpstream();

const ann = await make.person();
const agentId = (await make.agent({ owner: ann, modelId: 'openai/test-model' })).id;

beforeEach(() => server.reset());
afterAll(() => server.close());

const send = async (tool: object) => {
  const chat = await make.chat({ owner: ann, agentId });
  return ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Go', tools: [tool] });
};
const spellings: readonly (readonly [string, object])[] = [
  [
    'snake_case',
    { server_label: 'shop', server_url: server.url, allowed_tools: { tool_names: ['echo'] }, require_approval: 'never' },
  ],
  ['camelCase', { serverLabel: 'shop', serverUrl: server.url, allowedTools: { toolNames: ['echo'] }, requireApproval: 'never' }],
];

describe.each(spellings)('a tool of a message in %s', (_spelling, members) => {
  it('has all its members', async () => {
    const text = '{"text":"seven"}';
    upstream.next({ toolCalls: [{ id: 'call_1', name: 'shop__echo', arguments: text }] }, { text: 'Seven.' });
    const { status, body } = await send({ type: 'mcp', ...members });
    expect([status, body.message?.content]).toEqual([200, 'Seven.']);
    expect(toolsOf(upstream.requests[0])).toEqual(['shop__echo']);
    expect(server.calls).toEqual([{ name: 'echo', args: { text: 'seven' } }]);
  });
});

describe('a member of a tool that is wrong', () => {
  it.each<[string, object, string]>([
    ['a number as a list', { type: 'file_search', vector_store_ids: 7 }, 'tools[0].vector_store_ids'],
    ['a text as a yes', { type: 'memory', require_approval: 'perhaps' }, 'tools[0].requireApproval'],
    ['a member of a member', { type: 'deep_research', budget: { sub_agents: 1, tokens: 'many' } }, 'tools[0].budget.tokens'],
  ])('is refused in either spelling: %s', async (_case, tool, param) => {
    const { status, body } = await send(tool);
    expect(status, JSON.stringify(body)).toBeGreaterThanOrEqual(400);
    expect(body.error.param).toBe(param);
  });
});

it('the standing tools of an agent take both spellings', async () => {
  const enabledTools = [{ type: 'mcp', server_label: 'shop', server_url: server.url, allowed_tools: ['echo'] }];
  const made = await make.agent({ owner: ann, enabledTools });
  const { body } = await ann.get(`/api/v1/ais/${made.id}`);
  expect(body.enabledTools).toMatchObject([{ type: 'mcp', serverLabel: 'shop', serverUrl: server.url, allowedTools: ['echo'] }]);
});
