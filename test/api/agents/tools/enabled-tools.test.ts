import { describe, expect, it } from 'vitest';
import { toolsOf } from '../../../support/runs/research.ts';
import { withService } from '../../../support/service.ts';
import { graphqlTool } from '../../../support/tools/graphql-tool.ts';

/** Standing tools of an agent: kept with it, offered in all its runs, carried in bundles. */
const model = 'openai/test-model';
const { make, upstream } = await withService('model');

const ann = await make.person();
const user = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });

const path = '/api/v1/ais';
const members = { src: 'https://example.com/a.png', name: 'Ada', description: 'x', instructions: 'x', modelId: model };
const enabledTools = [{ type: 'python', requireApproval: true }, { type: 'deep_research' }];

it('keeps them, shows them, and replaces them as a whole', async () => {
  const made = await ann.post(path, { ...members, enabledTools });
  expect(made.body.enabledTools).toMatchObject([
    { type: 'python', requireApproval: true },
    { type: 'deep_research', requireApproval: false },
  ]);
  const changed = await ann.patch(`${path}/${made.body.id}`, { enabledTools: [{ type: 'python' }] });
  expect(changed.body.enabledTools).toMatchObject([{ type: 'python', requireApproval: false }]);
  const { data } = await ann.graphql('query ($id: ID!) { agent(id: $id) { enabledTools { type requireApproval } } }', {
    id: made.body.id,
  });
  expect(data.agent.enabledTools).toEqual([{ type: 'PYTHON', requireApproval: false }]);
});

it('shows only their types to users who may not edit the agent', async () => {
  const tools = [{ type: 'web_search', filters: { allowed_domains: ['intern.example'] } }];
  const { body } = await ann.post(path, { ...members, visibility: 'ORGANIZATION', enabledTools: tools });
  const seen = await user.get(`${path}/${body.id}`);
  expect(seen.body.enabledTools[0].type).toBe('web_search');
  expect(JSON.stringify(seen.body)).not.toContain('intern.example');
});

it('shows no ids of sources and stores to a key that may not read them', async () => {
  const tools = [{ type: 'file_search', vectorStoreIds: ['vs_1'] }, { type: 'python' }];
  const agent = (await ann.post(path, { ...members, enabledTools: tools })).body;
  const reader = await make.withKey(ann, { scopes: ['AGENTS:READ'] });
  const hidden = { dataSourceIds: [], vectorStoreIds: [], fileId: null };
  const shown = [await reader.get(`${path}/${agent.id}`), await reader.get(`${path}/${agent.id}/export`)];
  expect(agent.enabledTools).toMatchObject([{ vectorStoreIds: ['vs_1'] }, { vectorStoreIds: null }]);
  for (const { body } of shown) expect((body.agent ?? body).enabledTools).toMatchObject([hidden, hidden]);
});

it('carries them in bundles', async () => {
  const { body } = await ann.post(path, { ...members, enabledTools });
  const bundle = (await ann.get(`${path}/${body.id}/export`)).body;
  expect(bundle.agent.enabledTools).toMatchObject([{ type: 'python', requireApproval: true }, { type: 'deep_research' }]);
  const imported = await ann.post(`${path}/import`, { bundle });
  expect(imported.status, JSON.stringify(imported.body)).toBe(200);
  const copy = await ann.get(`${path}/${imported.body.aiId}`);
  expect(copy.body.enabledTools).toMatchObject([{ type: 'python', requireApproval: true }, { type: 'deep_research' }]);
});

describe('servers of tools', () => {
  const server = { type: 'mcp', serverLabel: 'shop', serverUrl: 'https://example.com/mcp' };
  const byTool = { always: { tool_names: ['pay'] }, never: { tool_names: ['search'] } };
  const given: readonly Readonly<Record<string, unknown>>[] = [
    { ...server, allowedTools: { tool_names: ['search'], read_only: true }, requireApproval: byTool },
    { ...server, serverLabel: 'bank', allowedTools: ['pay'], requireApproval: 'never' },
    { ...server, serverLabel: 'post' },
    { type: 'mcp_server', server: 'desk', allowedTools: { read_only: true }, requireApproval: true },
  ];
  const shown: typeof given = [
    given[0] ?? {},
    given[1] ?? {},
    { ...given[2], allowedTools: null, requireApproval: 'always' },
    given[3] ?? {},
  ];
  const filter = '{ names isReadOnly }';
  const typed = `{ type requireApproval
    ... on McpTool { allowedTools ${filter} approvalRules { always ${filter} never ${filter} } }
    ... on McpServerTool { allowedTools ${filter} } }`;
  const named = (names: readonly string[]) => ({ names, isReadOnly: null });
  const onGraphql = [
    {
      ...{ type: 'MCP', requireApproval: false, allowedTools: { names: ['search'], isReadOnly: true } },
      approvalRules: { always: named(['pay']), never: named(['search']) },
    },
    { type: 'MCP', requireApproval: false, allowedTools: named(['pay']), approvalRules: null },
    { type: 'MCP', requireApproval: true, allowedTools: null, approvalRules: null },
    { type: 'MCP_SERVER', requireApproval: true, allowedTools: { names: null, isReadOnly: true } },
  ];

  it('show which tools they allow and which ask, in the form that they were given', async () => {
    const { body } = await ann.post(path, { ...members, enabledTools: given });
    expect(body.enabledTools, JSON.stringify(body)).toMatchObject(shown);
    const { data } = await ann.graphql(`query ($id: ID!) { agent(id: $id) { enabledTools ${typed} } }`, { id: body.id });
    expect(data.agent.enabledTools).toEqual(onGraphql);
    // What was read can be written back.
    const again = await ann.patch(`${path}/${body.id}`, { enabledTools: body.enabledTools });
    expect([again.status, again.body.enabledTools]).toEqual([200, body.enabledTools]);
    const saving = `mutation ($id: ID!, $input: UpdateAgentInput!) { updateAgent(id: $id, input: $input) { enabledTools ${typed} } }`;
    const saved = await ann.graphql(saving, { id: body.id, input: { enabledTools: given.map(graphqlTool) } });
    expect(saved.data?.updateAgent.enabledTools, JSON.stringify(saved)).toEqual(onGraphql);
  });

  it('go through bundles as they are', async () => {
    const { body } = await ann.post(path, { ...members, enabledTools: given });
    const bundle = (await ann.get(`${path}/${body.id}/export`)).body;
    expect(bundle.agent.enabledTools).toMatchObject(shown);
    const imported = await ann.post(`${path}/import`, { bundle });
    expect(imported.status, JSON.stringify(imported.body)).toBe(200);
    expect((await ann.get(`${path}/${imported.body.aiId}`)).body.enabledTools).toEqual(body.enabledTools);
  });

  it('tell users who may not edit the agent nothing of it', async () => {
    const { body } = await ann.post(path, { ...members, visibility: 'ORGANIZATION', enabledTools: given });
    const seen = (await user.get(`${path}/${body.id}`)).body.enabledTools;
    for (const { allowedTools, requireApproval } of seen) expect([allowedTools, requireApproval]).toEqual([null, false]);
  });
});

describe('runs', () => {
  it.each(['chats', 'completions', 'responses'])('of %s offer them beside those of the request', async (surface) => {
    const { body } = await ann.post(path, { ...members, enabledTools: [{ type: 'python' }] });
    upstream.next({ text: 'Hi' });
    const tools = [{ type: 'deep_research' }];
    if (surface === 'chats') {
      const chat = await make.chat({ owner: ann, agentId: body.id });
      await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi', tools });
    } else if (surface === 'completions') {
      await ann.post('/api/v1/chat/completions', { model: body.id, messages: [{ role: 'user', content: 'Hi' }], tools });
    } else await ann.post('/api/v2/responses', { model: body.id, input: 'Hi', tools });
    expect([...toolsOf(upstream.requests[0])].sort()).toEqual(['deep_research', 'python']);
  });
});

it.each([
  [[{ type: 'function' }], 'enabledTools[0].type'],
  [[{ type: 'nothing' }], 'enabledTools[0].type'],
  [
    [{ type: 'mcp', server_label: 'x', server_url: 'https://example.com/mcp', authorization: 'secret' }],
    'enabledTools[0].authorization',
  ],
])('refuses %j', async (tools, param) => {
  const { status, body } = await ann.post(path, { ...members, enabledTools: tools });
  expect([status, body.error.param]).toEqual([400, param]);
});

it('lists the tools of the instance on both APIs, with what switches on the rest', async () => {
  const { body } = await ann.get('/api/v1/tools');
  expect(body.data).toContainEqual(
    expect.objectContaining({ type: 'deep_research', isAvailable: true, isReadOnly: true, functions: ['deep_research'] }),
  );
  for (const { isAvailable, setting } of body.data) expect(isAvailable || typeof setting === 'string').toBe(true);
  const { data } = await ann.graphql('{ tools { type isAvailable } }');
  expect(data.tools).toEqual(
    body.data.map(({ type, isAvailable }: { type: string; isAvailable: boolean }) => ({ type, isAvailable })),
  );
});
