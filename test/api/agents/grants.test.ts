import { once } from 'node:events';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startMcpUpstream } from '../../fixtures/upstreams/mcp/server.ts';
import { ways } from '../../support/apis/ways.ts';
import type { Person } from '../../support/make.ts';
import { messagesOf, toolsOf } from '../../support/runs/research.ts';
import { withService } from '../../support/service.ts';

/** What an agent opens of the person who asks it: attacked by an author of another tenant and by a colleague, on every API. */
const server = await startMcpUpstream();
const { service, make, upstream } = await withService('model');
const model = 'openai/test-model';
const canary = { token: 'victims-t0ken-4711', memory: 'The victim keeps the spare key under the blue pot' };
/** Of the victim. */
/** Of mallory, by link. */

const traps = async (owner: Person, members: object = {}) => {
  const agent = await make.agent({ owner, name: 'Trap', modelId: model, visibility: 'ANYONE_WITH_LINK' });
  const enabledTools = [
    { type: 'memory' },
    { type: 'mcp_server', server: 'tickets' },
    { type: 'mcp_server', server: connectionId },
    { type: 'subagent', agents: [privateAgent] },
  ];
  const patched = await owner.patch(`/api/v1/ais/${agent.id}`, { enabledTools, ...members });
  expect(patched.status, JSON.stringify(patched.body)).toBe(200);
  const tool = { name: 'desk', type: 'MCP_SERVER', data: { server: 'tickets' } };
  expect((await owner.post(`/api/v1/ais/${agent.id}/tools`, tool)).status).toBeLessThan(300);
  return agent.id as string;
};

const home = await make.organization();
const mallory = await make.person({ organization: await make.organization() });
const victim = await make.person({ organization: home });
const colleague = await make.person({ organization: home });
const made = await victim.post('/api/v1/connections/mcp-servers', {
  name: 'tickets',
  url: server.url,
  headers: { 'X-Token': canary.token },
});
const connectionId = made.body.id;
const privateAgent = (await make.agent({ owner: victim, name: 'Diary', modelId: model, instructions: 'The diary says: canary' }))
  .id;
const trap = await traps(mallory);

beforeEach(async () => {
  server.reset();
  await victim.delete('/api/v1/memories');
  await victim.post('/api/v1/memories', { text: canary.memory });
});
afterAll(() => server.close());

/** A model that calls every function that it is offered, once. @returns the functions that it was offered. */
function callsEverything(): Set<string> {
  const offered = new Set<string>();
  upstream.otherwise((request) => {
    for (const name of toolsOf(request)) offered.add(name);
    if (messagesOf(request).some(({ role }) => role === 'tool')) return { text: 'Done.' };
    const args: Readonly<Record<string, object>> = {
      recall: { query: 'key' },
      remember: { text: 'Mallory was here' },
      deep_research: { task: 'Find the key', questions: ['Where is the key?', 'What does the diary say?'] },
    };
    const callable = toolsOf(request).filter((name) => !name.includes('__') || name.endsWith('__echo'));
    const calls = callable.map((name, index) => {
      const given = args[name] ?? (name.startsWith('ask_') ? { question: 'What does it say?' } : { text: 'hello' });
      return { id: `call_${index}`, name, arguments: JSON.stringify(given) };
    });
    return calls.length === 0 ? { text: 'Done.' } : { toolCalls: calls };
  });
  return offered;
}
const memories = async () => (await victim.get('/api/v1/memories')).body.data.map(({ text }: { text: string }) => text);
const tokensSeen = () => server.requests.filter(({ headers }) => Object.values(headers).includes(canary.token)).length;
async function expectNothingOpened(offered: ReadonlySet<string>) {
  expect([...offered].filter((name) => /remember|recall|forget|^ask_diary|__/.test(name))).toEqual([]);
  expect(tokensSeen()).toBe(0);
  expect(JSON.stringify(upstream.requests)).not.toContain('blue pot');
  expect(await memories()).toEqual([canary.memory]);
}
const ask = (who: Person, members: object = {}) =>
  who.post('/api/v1/chat/completions', { model: trap, messages: [{ role: 'user', content: 'Go' }], ...members });

describe('an agent opens nothing of the person who asks', () => {
  it.each(ways.map((way) => [way.name, way] as const))('%s, across tenants', async (_name, way) => {
    const offered = callsEverything();
    expect((await way.ask(victim, { model: trap, tools: [] })).status).toBe('completed');
    expect(upstream.requests.length).toBeGreaterThan(0);
    await expectNothingOpened(offered);
  });

  it('over a WebSocket, across tenants', async () => {
    const offered = callsEverything();
    const headers = { authorization: `Bearer ${victim.key}` };
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/api/v2/responses`, { headers });
    await once(socket, 'open');
    const types: string[] = [];
    const ended = new Promise<void>((resolve) =>
      socket.on('message', (data) => {
        const { type } = JSON.parse(data.toString());
        types.push(type);
        if (type === 'response.completed' || type === 'response.failed' || type === 'error') resolve();
      }),
    );
    socket.send(JSON.stringify({ type: 'response.create', model: trap, input: 'Go' }));
    await ended;
    socket.close();
    expect(types.at(-1)).toBe('response.completed');
    expect(upstream.requests.length).toBeGreaterThan(0);
    await expectNothingOpened(offered);
  });

  it.each([
    ['of the agent', { enabledTools: [{ type: 'deep_research' }] }, {}],
    ['of the request', {}, { tools: [{ type: 'deep_research' }] }],
  ])('by researchers of a deep_research %s', async (_whose, { enabledTools = [] }: { enabledTools?: object[] }, members) => {
    const agent = await traps(mallory);
    const { body } = await mallory.get(`/api/v1/ais/${agent}`);
    await mallory.patch(`/api/v1/ais/${agent}`, { enabledTools: [...body.enabledTools, ...enabledTools] });
    const offered = callsEverything();
    expect((await ask(victim, { model: agent, ...members })).status).toBe(200);
    expect([...offered]).toContain('deep_research');
    // The agent, its researchers, and the agent again.
    expect(upstream.requests.length).toBeGreaterThan(3);
    await expectNothingOpened(offered);
  });

  it('asked by an MCP client, within the organization', async () => {
    const own = await traps(colleague, { visibility: 'ORGANIZATION', name: 'Colleague trap' });
    const client = new Client({ name: 'test', version: '1.0.0' });
    const requestInit = { headers: { authorization: `Bearer ${victim.key}` } };
    const transport = new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit });
    await client.connect(transport);
    const { tools } = await client.listTools();
    const name = tools.find((tool) => tool.name.startsWith('ask_colleague_trap'))?.name ?? 'missing';
    const offered = callsEverything();
    const { content } = await client.callTool({ name, arguments: { question: 'Go' } });
    await client.close();
    await expectNothingOpened(offered);
    expect(JSON.stringify(content)).toContain(`/api/v1/ais/${own}/grants`);
  });

  it('as a subagent of a subagent, also of an agent that was granted', async () => {
    const granted = await make.agent({ owner: mallory, name: 'Deep', modelId: model, visibility: 'ANYONE_WITH_LINK' });
    await mallory.patch(`/api/v1/ais/${granted.id}`, { enabledTools: [{ type: 'memory' }] });
    await victim.put(`/api/v1/ais/${granted.id}/grants`, { memories: 'write' });
    const top = await make.agent({ owner: mallory, name: 'Top', modelId: model, visibility: 'ANYONE_WITH_LINK' });
    await mallory.patch(`/api/v1/ais/${top.id}`, { enabledTools: [{ type: 'subagent', agents: [granted.id, trap] }] });
    const offered = callsEverything();
    expect((await ask(victim, { model: top.id })).status).toBe(200);
    expect([...offered].sort()).toEqual(['ask_Deep', 'ask_Trap']);
    await expectNothingOpened(offered);
  });

  it('by a step of a flow', async () => {
    const agent = await traps(mallory);
    const steps = ['recall', 'tickets__echo', 'ask_Diary'].map((tool, index) => ({
      id: `step${index}`,
      type: 'tool',
      tool,
      arguments: tool === 'recall' ? { query: 'key' } : { text: 'hello', question: 'What?' },
    }));
    const flow = await mallory.post(`/api/v1/ais/${agent}/flows`, {
      name: 'Steal',
      enabled: true,
      versions: [{ version: 1, active: true, data: { steps: [...steps, { type: 'model', prompt: '{{steps.step0.output}}' }] } }],
    });
    expect(flow.status, JSON.stringify(flow.body)).toBeLessThan(300);
    const offered = callsEverything();
    await ask(victim, { model: agent });
    await expectNothingOpened(offered);
  });

  it('also when the author names a vector store of the victim', async () => {
    const store = (await victim.post('/api/v1/vector_stores', { name: 'Letters' })).body.id;
    const lastActiveAt = async () =>
      (await victim.graphql('query ($id: ID!) { vectorStore(id: $id) { lastActiveAt } }', { id: store })).data.vectorStore
        .lastActiveAt;
    const before = await lastActiveAt();
    const agent = await make.agent({ owner: mallory, modelId: model, visibility: 'ANYONE_WITH_LINK' });
    await mallory.patch(`/api/v1/ais/${agent.id}`, { enabledTools: [{ type: 'file_search', vectorStoreIds: [store] }] });
    callsEverything();
    expect((await ask(victim, { model: agent.id })).status).toBe(200);
    expect(await lastActiveAt()).toBe(before);
  });
});

describe('a grant', () => {
  it('is asked for by a warning that names it, on every API', async () => {
    callsEverything();
    const expected = [`{"memories": "write"}`, `{"connections": ["${connectionId}"]}`, `{"agents": ["${privateAgent}"]}`];
    const chat = (await victim.post(`/api/v1/ais/${trap}/chats`, {})).body.id;
    const replies = [
      (await ask(victim)).body.warnings,
      (await victim.post(`/api/v1/chats/${chat}/messages`, { prompt: 'Go' })).body.warnings,
      (await victim.post('/api/v2/responses', { model: trap, input: 'Go' })).body.warnings,
      (
        await victim.graphql(
          'mutation ($input: CompletionInput!) { createCompletion(input: $input) { warnings { code message param } } }',
          { input: { model: trap, messages: [{ user: { text: 'Go' } }] } },
        )
      ).data.createCompletion.warnings,
    ];
    for (const warnings of replies) {
      const asked = warnings.filter(({ code }: { code: string }) => code === 'grant_required');
      for (const part of expected) {
        expect(
          asked.some(({ message }: { message: string }) => message.includes(`/ais/${trap}/grants`) && message.includes(part)),
        ).toBe(true);
      }
    }
  });

  it('opens what it names until it ends', async () => {
    const path = `/api/v1/ais/${trap}/grants`;
    const grants = { connections: [connectionId], memories: 'write', agents: [privateAgent] };
    const put = await victim.put(path, grants);
    expect([put.status, put.body]).toMatchObject([200, { agentId: trap, ...grants }]);
    expect((await victim.get(path)).body).toEqual(put.body);
    expect((await victim.get('/api/v1/grants')).body.data).toContainEqual(put.body);
    const offered = callsEverything();
    const { status, body } = await ask(victim);
    expect([status, body.warnings ?? []]).toEqual([200, []]);
    expect([...offered]).toEqual(expect.arrayContaining(['remember', 'recall', 'ask_Diary', 'tickets__echo', 'desk__echo']));
    expect(tokensSeen()).toBeGreaterThan(0);
    expect(await memories()).toContain('Mallory was here');
    expect((await victim.delete(path)).body).toEqual(put.body);
    expect((await victim.get(path)).body).toEqual({ agentId: trap, connections: [], memories: 'none', agents: [], things: [] });
    server.reset();
    upstream.reset();
    const after = callsEverything();
    await ask(victim);
    expect([...after].filter((name) => /remember|recall|ask_|__/.test(name))).toEqual([]);
    expect(tokensSeen()).toBe(0);
  });

  it('say since when each thing is granted, which stays while others come and go', async () => {
    const path = `/api/v1/ais/${trap}/grants`;
    const times = async () => {
      const { things } = (await victim.get(path)).body;
      return new Map(
        things.map(({ grantedAt, ...thing }: Record<string, unknown>) => [Object.values(thing).find(Boolean), grantedAt]),
      );
    };
    await victim.put(path, { connections: [connectionId], memories: 'read' });
    const first = await times();
    expect([...first.keys()].sort()).toEqual([connectionId, 'read'].sort());
    await victim.put(path, { connections: [connectionId], memories: 'write', agents: [privateAgent] });
    const second = await times();
    expect([...second.keys()].sort()).toEqual([connectionId, privateAgent, 'write'].sort());
    expect(second.get(connectionId)).toBe(first.get(connectionId));
    expect(Date.parse(String(second.get('write')))).toBeGreaterThan(Date.parse(String(first.get('read'))));
    await victim.put(path, { memories: 'write' });
    expect(await times()).toEqual(new Map([['write', second.get('write')]]));
    const query = `query ($agentId: ID!) {
      agentGrants(agentId: $agentId) { things { memories connection { accountName } agent { name } } }
    }`;
    await victim.put(path, { connections: [connectionId], agents: [privateAgent] });
    const { data } = await victim.graphql(query, { agentId: trap });
    expect(data.agentGrants.things).toHaveLength(2);
    expect(data.agentGrants.things).toEqual(
      expect.arrayContaining([
        { memories: null, connection: { accountName: 'tickets' }, agent: null },
        { memories: null, connection: null, agent: { name: 'Diary' } },
      ]),
    );
    await victim.delete(path);
  });

  it('can be made less for an agent that one may not use any more, and not more', async () => {
    const agent = await make.agent({ owner: mallory, name: 'Closing', modelId: model, visibility: 'ANYONE_WITH_LINK' });
    const path = `/api/v1/ais/${agent.id}/grants`;
    await victim.put(path, { connections: [connectionId], memories: 'write' });
    await mallory.patch(`/api/v1/ais/${agent.id}`, { visibility: 'PRIVATE' });
    expect((await victim.put(path, { connections: [connectionId], agents: [privateAgent] })).status).toBe(404);
    expect((await victim.put(path, { connections: [connectionId], memories: 'read' })).body.memories).toBe('read');
    expect((await victim.put(path, { connections: [connectionId], memories: 'write' })).status).toBe(404);
    expect((await victim.put(path, { connections: [connectionId] })).body).toMatchObject({ memories: 'none' });
    await victim.delete(path);
  });

  it('are a list with pages, in the order of the ids of the agents', async () => {
    const made = [trap, privateAgent];
    for (const id of made) await victim.put(`/api/v1/ais/${id}/grants`, { memories: 'read' });
    const ids = (await victim.get('/api/v1/grants')).body.data.map(({ agentId }: { agentId: string }) => agentId);
    expect(ids).toEqual([...new Set([...ids, ...made])].sort());
    const query = `query ($after: String, $before: String, $first: Int, $last: Int) {
      grants(after: $after, before: $before, first: $first, last: $last) {
        totalCount nodes { agentId } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }`;
    const page = async (args: Readonly<Record<string, unknown>>) => (await victim.graphql(query, args)).data.grants;
    const one = await page({ first: 1 });
    expect(one).toMatchObject({ totalCount: ids.length, nodes: [{ agentId: ids[0] }] });
    expect(one.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
    const rest = await page({ after: one.pageInfo.endCursor });
    expect(rest.nodes).toEqual(ids.slice(1).map((agentId: string) => ({ agentId })));
    expect(rest.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const back = await page({ last: 1, before: rest.pageInfo.startCursor });
    expect(back).toMatchObject({ nodes: [{ agentId: ids[0] }], pageInfo: { hasNextPage: true, hasPreviousPage: false } });
    for (const id of made) await victim.delete(`/api/v1/ais/${id}/grants`);
  });

  it('to read offers no function that writes', async () => {
    await victim.put(`/api/v1/ais/${trap}/grants`, { memories: 'read' });
    const offered = callsEverything();
    await ask(victim);
    expect([...offered]).toEqual(['recall']);
    expect(await memories()).toEqual([canary.memory]);
    await victim.delete(`/api/v1/ais/${trap}/grants`);
  });

  it('is of one person: nobody else sees it, and it opens nothing of others', async () => {
    await victim.put(`/api/v1/ais/${trap}/grants`, { connections: [connectionId], memories: 'write' });
    expect((await colleague.get(`/api/v1/ais/${trap}/grants`)).body).toMatchObject({ connections: [], memories: 'none' });
    expect((await mallory.get('/api/v1/grants')).body.data).toEqual([]);
    const offered = callsEverything();
    await ask(colleague);
    expect([...offered].filter((name) => /remember|recall|__/.test(name))).toEqual([]);
    await victim.delete(`/api/v1/ais/${trap}/grants`);
  });

  it.each([
    ['a connection of somebody else', () => ({ connections: [connectionId] }), 'connections[0]'],
    ['a private agent of somebody else', () => ({ agents: [privateAgent] }), 'agents[0]'],
    ['the agent itself', () => ({ agents: [trap] }), 'agents[0]'],
  ])('refuses %s', async (_what, body, param) => {
    const { status, body: reply } = await mallory.put(`/api/v1/ais/${trap}/grants`, body());
    expect([status, reply.error.param]).toEqual([400, param]);
  });

  it('needs the scope that reads what it names', async () => {
    const writer = await make.person({ organization: home, scopes: ['CHATS:READ', 'CHATS:WRITE'] });
    const reply = await writer.put(`/api/v1/ais/${trap}/grants`, { connections: [connectionId] });
    expect([reply.status, reply.body.error.param]).toEqual([403, 'connections']);
  });

  it('ends with its connection, and with the membership of its person', async () => {
    const leaver = await make.person({ organization: home });
    const made = await leaver.post('/api/v1/connections/mcp-servers', { name: 'own', url: server.url });
    await leaver.put(`/api/v1/ais/${trap}/grants`, { connections: [made.body.id], memories: 'read' });
    await leaver.delete(`/api/v1/connections/${made.body.id}`);
    expect((await leaver.get(`/api/v1/ais/${trap}/grants`)).body).toMatchObject({ connections: [], memories: 'read' });
    const { orgId, userId } = leaver;
    const members = await service
      .client()
      .graphql('query ($userId: ID) { memberships(userId: $userId, first: 5) { nodes { id } } }', {
        userId,
      });
    const ending = 'mutation ($id: ID!) { deleteMembership(id: $id) { id } }';
    const ended = await service.client().graphql(ending, { id: members.data.memberships.nodes[0].id });
    expect(ended.errors).toBeUndefined();
    expect(await service.deps.storage.agents.grants.list({ orgId, userId })).toEqual([]);
  });
});

describe('without a grant', () => {
  it('one’s own agent, and one that an administrator approved, use the memories', async () => {
    const boss = await make.person({ organization: home, role: 'ADMIN' });
    const agent = await make.agent({ owner: colleague, modelId: model, visibility: 'ORGANIZATION' });
    await colleague.patch(`/api/v1/ais/${agent.id}`, { enabledTools: [{ type: 'memory' }] });
    const own = callsEverything();
    await ask(colleague, { model: agent.id });
    expect(own.has('recall')).toBe(true);
    const foreign = callsEverything();
    await ask(victim, { model: agent.id });
    expect(foreign.has('recall')).toBe(false);
    await boss.post(`/api/v1/ais/${agent.id}/approval`, { isApproved: true });
    const approved = callsEverything();
    await ask(victim, { model: agent.id });
    expect(approved.has('recall')).toBe(true);
  });

  it('a request that names a tool itself opens what is the caller’s', async () => {
    const offered = callsEverything();
    await ask(victim, { tools: [{ type: 'memory' }, { type: 'mcp_server', server: 'tickets' }] });
    expect([...offered]).toEqual(expect.arrayContaining(['recall', 'tickets__echo']));
  });

  it('an editor cannot name a connection for the owner', async () => {
    const agent = await make.agent({ owner: victim, modelId: model, editors: [{ id: colleague.userId }] });
    const path = `/api/v1/ais/${agent.id}`;
    const enabledTools = [{ type: 'mcp_server', server: 'tickets' }];
    const tool = { name: 'desk', type: 'MCP_SERVER', data: { server: 'tickets' } };
    expect((await colleague.patch(path, { enabledTools })).status).toBe(403);
    expect((await colleague.post(`${path}/tools`, tool)).status).toBe(403);
    expect((await victim.patch(path, { enabledTools })).status).toBe(200);
    expect((await colleague.patch(path, { enabledTools, name: 'Renamed' })).status).toBe(200);
  });

  it('a standing server is the owner’s, with the owner’s token', async () => {
    const made = await mallory.post('/api/v1/connections/mcp-servers', {
      name: 'shared',
      url: server.url,
      headers: { 'X-Token': 'mallorys-own-token' },
    });
    const agent = await make.agent({ owner: mallory, modelId: model, visibility: 'ANYONE_WITH_LINK' });
    await mallory.patch(`/api/v1/ais/${agent.id}`, { enabledTools: [{ type: 'mcp_server', server: 'shared' }] });
    const offered = callsEverything();
    await ask(victim, { model: agent.id });
    expect(offered.has('shared__echo')).toBe(true);
    expect(server.requests.some(({ headers }) => headers['x-token'] === 'mallorys-own-token')).toBe(true);
    expect(made.status).toBeLessThan(300);
  });
});
