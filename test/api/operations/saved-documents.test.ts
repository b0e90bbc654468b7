import { createHash } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import type { Person } from '../../support/make.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { withService } from '../../support/service.ts';

/** Documents that an organization saves: kept over both APIs, run over REST and as tools of MCP. */
const { service, make, upstream } = await withService('model');
const path = '/api/v1/documents';
const open: Client[] = [];

const organization = await make.organization();
const admin = await make.person({ organization, role: 'ADMIN' });
const ann = await make.person({ organization });
const agent = await make.agent({ owner: ann, name: 'Ada', modelId: 'openai/test-model' });

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

const newestAgents = {
  name: 'newest_agents',
  description: 'The newest agents.',
  document: 'query ($count: Int = 5) { agents(first: $count) { nodes { id name } } }',
};
const save = (input: object, who = admin) => who.put(path, { ...newestAgents, ...input });
const run = (name: string, variables?: object, who = ann) => who.post(`${path}/${name}`, variables);
async function connect(who: Person): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${who.key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit }));
  open.push(client);
  return client;
}

describe('saved documents', () => {
  it('are saved, listed, seen, replaced and deleted over both APIs, with entries of the audit log', async () => {
    const saved = await save({ name: 'first_one' });
    expect(saved).toMatchObject({ status: 200, body: { name: 'first_one', fault: null, description: 'The newest agents.' } });
    expect(saved.body.sha256).toBe(createHash('sha256').update(newestAgents.document).digest('hex'));
    const replaced = await save({ name: 'first_one', description: 'Others.' });
    expect(replaced.body).toMatchObject({ id: saved.body.id, description: 'Others.', createdAt: saved.body.createdAt });
    expect((await ann.get(path)).body.data).toMatchObject([{ id: saved.body.id }]);
    expect((await ann.get(`${path}/first_one`)).body).toMatchObject({ id: saved.body.id, document: newestAgents.document });
    const { data } = await ann.graphql(
      'query ($id: ID!) { savedDocument(id: $id) { name } node(id: $id) { id } savedDocuments { totalCount } }',
      {
        id: saved.body.id,
      },
    );
    expect(data).toEqual({
      savedDocument: { name: 'first_one' },
      node: { id: saved.body.id },
      savedDocuments: { totalCount: 1 },
    });
    expect((await admin.delete(`${path}/first_one`)).body.id).toBe(saved.body.id);
    expect((await ann.get(`${path}/first_one`)).status).toBe(404);
    const log = await admin.graphql('query ($id: ID!) { auditLog(filter: { targetId: $id }) { nodes { action } } }', {
      id: saved.body.id,
    });
    expect(log.data.auditLog.nodes.map(({ action }: { action: string }) => action)).toContain('saveDocument');
  });

  it.each([
    ['a name with a space', { name: 'two words' }, 'name'],
    ['the name of a tool of an agent', { name: 'ask_ada' }, 'name'],
    ['the name of the search', { name: 'search_knowledge' }, 'name'],
    ['a blank description', { description: ' ' }, 'description'],
    ['no GraphQL', { document: '{' }, 'document'],
    ['a field that is none', { document: '{ nothing }' }, 'document'],
    ['a subscription', { document: 'subscription { usageChanged { id } }' }, 'document'],
    ['two operations', { document: 'query A { viewer { keyId } } query B { viewer { keyId } }' }, 'document'],
    ['a file', { document: 'mutation ($file: File!) { createFile(file: $file) { id } }' }, 'document'],
    [
      'too high a cost',
      {
        document: `{ ${Array.from({ length: 12 }, (_, index) => `a${index}: agents(first: 100) { nodes { sources(first: 100) { nodes { name description } } } }`).join(' ')} }`,
      },
      'document',
    ],
    [
      'too deep a selection',
      { document: `{ agents { nodes ${'{ owner { organization '.repeat(15)}{ id }${' } }'.repeat(15)} } }` },
      'document',
    ],
  ])('refuse %s, naming the member', async (_case, input, param) => {
    const refused = await save(input);
    expect([refused.status, refused.body.error?.param, refused.body.error?.message]).toEqual([
      400,
      param,
      expect.stringContaining(param),
    ]);
  });

  it('are saved and deleted by administrators only, and are of one organization', async () => {
    await save({});
    expect((await save({}, ann)).status).toBe(403);
    expect((await ann.delete(`${path}/newest_agents`)).status).toBe(403);
    const stranger = await make.person();
    expect((await stranger.get(`${path}/newest_agents`)).status).toBe(404);
    expect(await run('newest_agents', {}, stranger)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  });
});

describe('POST /api/v1/documents/{name}', () => {
  it('runs the document with the variables of the body, as its caller', async () => {
    await save({});
    const reply = await run('newest_agents', { count: 1 });
    expect(reply).toMatchObject({ status: 200, body: { data: { agents: { nodes: [{ id: agent.id, name: 'Ada' }] } } } });
    expect((await run('newest_agents')).body.data.agents.nodes).toHaveLength(1);
    await save({ name: 'me', document: '{ viewer { user { id } } }' });
    expect((await run('me')).body).toEqual({ data: { viewer: { user: { id: ann.userId } } } });
    expect((await run('me', {}, admin)).body).toEqual({ data: { viewer: { user: { id: admin.userId } } } });
  });

  it.each([
    ['a variable that the document does not have', { other: 1 }, 'other'],
    ['a variable of another type', { count: 'many' }, 'count'],
  ])('refuses %s, naming it', async (_case, variables, param) => {
    await save({});
    expect(await run('newest_agents', variables)).toMatchObject({ status: 400, body: { error: { param } } });
  });

  it('refuses a body that is no object, a call without a key, and a name that is none', async () => {
    await save({});
    expect((await run('newest_agents', [])).status).toBe(400);
    expect((await service.nobody.post(`${path}/newest_agents`, {})).status).toBe(401);
    expect((await run('nothing')).status).toBe(404);
    expect((await ann.post(path, {})).status).toBe(405);
  });

  it('gives a key no more than its scopes, and a person no more than the rights', async () => {
    await save({});
    await save({ name: 'log', document: '{ auditLog(first: 1) { nodes { id } } }' });
    const reader = await make.withKey(ann, { scopes: ['CHATS:READ'] });
    expect(await run('newest_agents', {}, reader)).toMatchObject({
      status: 403,
      body: { error: { code: 'insufficient_scope' } },
    });
    expect((await run('log')).status).toBe(403);
  });

  it('answers what succeeded beside what failed', async () => {
    await save({ name: 'both', document: 'query ($id: ID!) { viewer { keyId } budget(id: $id) { id } }' });
    const { id } = (
      await admin.put('/api/v1/admin/budgets', { subject: 'ORGANIZATION', period: 'DAY', unit: 'TOKENS', limit: 1_000_000 })
    ).body;
    const key = await make.withKey(ann, { scopes: ['ADMIN:READ'] });
    expect((await run('both', { id }, key)).body).toMatchObject({
      data: { viewer: { keyId: key.keyId }, budget: null },
      errors: [{ code: 'forbidden', path: ['budget'] }],
    });
    await admin.delete(`/api/v1/admin/budgets/${id}`);
    const result = await (await connect(key)).callTool({ name: 'both', arguments: { id } });
    expect(result).toMatchObject({
      structuredContent: { budget: null },
      content: [{}, { text: expect.stringContaining('budget is null: ') }],
    });
  });

  it('runs a mutation once, with an entry of the audit log for what it changed', async () => {
    const document = 'mutation ($id: ID!, $name: String!) { updateAgent(id: $id, input: { name: $name }) { id name } }';
    await save({ name: 'rename_agent', description: 'Renames an agent.', document });
    expect((await run('rename_agent', { id: agent.id, name: 'Grace' })).body).toEqual({
      data: { updateAgent: { id: agent.id, name: 'Grace' } },
    });
    await run('rename_agent', { id: agent.id, name: 'Ada' });
    const log = await admin.graphql(
      'query ($id: ID!) { auditLog(filter: { targetId: $id, action: "updateAgent" }) { nodes { actorUserId } } }',
      { id: agent.id },
    );
    expect(log.data.auditLog.nodes).toMatchObject([{ actorUserId: ann.userId }, { actorUserId: ann.userId }]);
  });

  it('asks a model as the field does', async () => {
    upstream.otherwise({ text: 'Four.' });
    const document =
      'mutation ($question: String!) { createCompletion(input: { model: "openai/test-model", messages: [{ user: { text: $question } }] }) { text } }';
    await save({ name: 'answer', description: 'Answers a question.', document });
    expect((await run('answer', { question: '2 + 2?' })).body).toMatchObject({
      data: { createCompletion: { text: 'Four.' } },
    });
  });
});

describe('as tools of MCP clients, saved documents', () => {
  it('have their variables as input, and their result as output', async () => {
    await save({});
    const client = await connect(ann);
    const { tools } = await client.listTools();
    const tool = tools.find(({ name }) => name === 'newest_agents');
    expect(tool).toMatchObject({
      description: 'The newest agents.',
      annotations: { readOnlyHint: true },
      inputSchema: {
        type: 'object',
        properties: { count: { type: ['integer', 'null'], default: 5, description: expect.any(String) } },
        additionalProperties: false,
      },
      outputSchema: { type: 'object', required: ['agents'] },
    });
    // The SDK checks the result against the output schema.
    const result = await client.callTool({ name: 'newest_agents', arguments: { count: 1 } });
    expect(result.structuredContent).toEqual({ agents: { nodes: [{ id: agent.id, name: 'Ada' }] } });
    expect(JSON.parse((result.content as { text: string }[])[0]?.text ?? '')).toEqual(result.structuredContent);
    const refused = await client.callTool({ name: 'newest_agents', arguments: { count: 'x' } });
    expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('count') }] });
  });

  it('are those that the scopes of the key admit, and are told of when they change', async () => {
    await save({});
    const reader = await make.withKey(ann, { scopes: ['CHATS:READ'] });
    const client = await connect(reader);
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('newest_agents');
    const own = await connect(ann);
    expect((await own.listTools()).tools.map(({ name }) => name)).toContain('newest_agents');
    await admin.delete(`${path}/newest_agents`);
    await eventually(async () => expect((await own.listTools()).tools.map(({ name }) => name)).not.toContain('newest_agents'));
  });

  it('are none of those of another organization', async () => {
    await save({});
    const client = await connect(await make.person());
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('newest_agents');
    await expect(client.callTool({ name: 'newest_agents', arguments: {} })).rejects.toThrow('no tool');
  });
});
