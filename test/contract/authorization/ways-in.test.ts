import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { scopes as allScopes, type Scope } from '../../../src/entities/people/caller.ts';
import { indexed } from '../../support/knowledge/knowledge.ts';
import type { Person } from '../../support/make.ts';
import { sampled } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';

// One table: what may be done (act), and the ways to do it (REST, GraphQL, the WebSocket, MCP, the page of the callback). Every way needs the same
// scope, refuses alike, and leaves the same entry in the audit log.

const vendor = createServer((req, res) => {
  req.resume();
  res.writeHead(200, { 'content-type': 'application/json' });
  const account = { user: { displayName: 'Ann', emailAddress: 'ann@drive.example' } };
  res.end(JSON.stringify(req.url?.startsWith('/drive') === true ? account : { access_token: 'a', expires_in: 3600 }));
});
await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
const serviceUrl = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
const { service, make, upstream } = await withService('model', {
  env: {
    ...{
      GOOGLE_CLIENT_ID: 'id',
      GOOGLE_CLIENT_SECRET: 'secret',
      GOOGLE_API_URL: serviceUrl,
      GOOGLE_TOKEN_URL: `${serviceUrl}/token`,
    },
    GOOGLE_AUTHORIZE_URL: `${serviceUrl}/authorize`,
  },
});
const model = 'openai/test-model';
const open: Client[] = [];
afterEach(() => Promise.all(open.splice(0).map((client) => client.close())));
afterAll(() => vendor.close());

/** An administrator of an organization in which a member has a private agent with knowledge. */
interface World {
  readonly boss: Person;
  readonly agentId: string;
  readonly dataSourceId: string;
  readonly chatId: string;
}
/** What a way says: '' for success, else the words of the refusal. */
type Way = (world: World, who: Person) => Promise<string>;
interface Act {
  readonly scope: Scope;
  /** The entry that success leaves; undefined: a run, which is in the ledger. */
  readonly entry: { readonly kind: 'READ' | 'CHANGE'; readonly target: (world: World) => unknown } | undefined;
  readonly ways: Readonly<Record<string, Way>>;
}

const rest = async (who: Person, method: string, path: string, body?: object): Promise<string> => {
  const reply = await who.call(method, path, body);
  return reply.status < 300 ? '' : String(reply.body.error.code);
};
const graphql = async (who: Person, document: string, variables: object = {}): Promise<string> => {
  const { errors } = await who.graphql(document, { ...variables });
  return errors === undefined ? '' : String(errors[0].extensions.code).toLowerCase();
};
async function mcp(who: Person, work: (client: Client) => Promise<unknown>): Promise<string> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const headers = { authorization: `Bearer ${who.key}` };
  const transport = new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit: { headers } });
  await client.connect(transport);
  open.push(client);
  try {
    const result = await work(client);
    return (result as { readonly isError?: boolean }).isError === true ? JSON.stringify(result) : '';
  } catch (error) {
    return /needs a key with the scope/.test(String(error)) ? 'insufficient_scope' : String(error);
  }
}
function socket(who: Person, request: object): Promise<string> {
  const address = `${service.url.replace('http', 'ws')}/api/v2/responses`;
  const opened = new WebSocket(address, { headers: { authorization: `Bearer ${who.key}` } });
  return new Promise((resolve) => {
    opened.on('open', () => opened.send(JSON.stringify({ type: 'response.create', ...request })));
    opened.on('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (part) => (text += String(part)));
      response.on('end', () => resolve(JSON.parse(text).error.code));
    });
    opened.on('message', (data) => {
      const event = JSON.parse(String(data));
      if (event.type !== 'error' && event.type !== 'response.completed') return;
      opened.close();
      resolve(event.type === 'error' ? event.code : '');
    });
  });
}

async function a2a(who: Person, agentId: string, method: string, params: object): Promise<string> {
  const body = { jsonrpc: '2.0', id: 1, method, params };
  const reply = await who.fetch('POST', `/a2a/${agentId}`, body, { 'a2a-version': '1.0' });
  const { error } = JSON.parse(await reply.text());
  return error === undefined ? '' : String(error.data[0].reason).toLowerCase();
}

/** By a document that the organization has saved: on its route, and as a tool. */
async function savedRoute({ boss }: World, who: Person, document: string, variables: object = {}): Promise<string> {
  await boss.put('/api/v1/documents', { name: 'saved', description: 'Saved.', document });
  return rest(who, 'POST', '/api/v1/documents/saved', variables);
}
async function savedTool({ boss }: World, who: Person, document: string, args: Record<string, unknown> = {}): Promise<string> {
  await boss.put('/api/v1/documents', { name: 'saved', description: 'Saved.', document });
  const said = await mcp(who, (client) => client.callTool({ name: 'saved', arguments: args }));
  return said.includes('(insufficient_scope)') ? 'insufficient_scope' : said;
}
const reading = 'query ($id: ID!) { agent(id: $id) { instructions } }';
const beginning = 'mutation ($id: ID!) { createChat(agentId: $id, input: {}) { id } }';
const running = `mutation { createCompletion(input: { model: "${model}", messages: [{ user: { text: "Hi" } }] }) { id } }`;

const acts: Readonly<Record<string, Act>> = {
  'reads the inside of an agent of somebody else': {
    scope: 'AGENTS:READ',
    entry: { kind: 'READ', target: ({ agentId }) => agentId },
    ways: {
      REST: ({ agentId }, who) => rest(who, 'GET', `/api/v1/ais/${agentId}`),
      GraphQL: ({ agentId }, who) => graphql(who, `{ agent(id: "${agentId}") { instructions } }`),
      MCP: ({ agentId }, who) => mcp(who, (client) => client.readResource({ uri: `parley://agents/${agentId}` })),
      A2A: ({ agentId }, who) => a2a(who, agentId, 'GetExtendedAgentCard', {}),
      'a saved document': (world, who) => savedRoute(world, who, reading, { id: world.agentId }),
      'the tool of a saved document': (world, who) => savedTool(world, who, reading, { id: world.agentId }),
    },
  },
  'searches knowledge of somebody else': {
    scope: 'DATA_SOURCES:READ',
    entry: { kind: 'READ', target: ({ dataSourceId }) => dataSourceId },
    ways: {
      REST: ({ dataSourceId }, who) => rest(who, 'POST', '/api/v1/search', { query: 'harbour', dataSourceIds: [dataSourceId] }),
      GraphQL: ({ dataSourceId }, who) =>
        graphql(
          who,
          `{ search: searchKnowledge(input: { query: "harbour", dataSourceIds: ["${dataSourceId}"] }) { hits { dataSourceId } } }`,
        ),
      MCP: ({ agentId }, who) =>
        mcp(who, (client) => client.callTool({ name: 'search_knowledge', arguments: { query: 'harbour', agent: agentId } })),
    },
  },
  'begins a chat': {
    scope: 'CHATS:WRITE',
    entry: { kind: 'CHANGE', target: () => expect.stringMatching(/^(chat|ai|agent)_/) },
    ways: {
      REST: ({ agentId }, who) => rest(who, 'POST', `/api/v1/ais/${agentId}/chats`, {}),
      GraphQL: ({ agentId }, who) => graphql(who, `mutation { createChat(agentId: "${agentId}", input: {}) { id } }`),
      MCP: (_world, who) => mcp(who, (client) => client.callTool({ name: 'ask_private_desk', arguments: { question: 'Hi' } })),
      'a saved document': (world, who) => savedRoute(world, who, beginning, { id: world.agentId }),
      'the tool of a saved document': (world, who) => savedTool(world, who, beginning, { id: world.agentId }),
    },
  },
  'runs a model': {
    scope: 'CHATS:WRITE',
    entry: undefined,
    ways: {
      REST: (_world, who) => rest(who, 'POST', '/api/v2/responses', { model, input: 'Hi', store: false }),
      Messages: async (_world, who) => {
        const body = { model, max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] };
        const reply = await who.call('POST', '/api/v1/messages', body);
        if (reply.status < 300) return '';
        return reply.body.error.type === 'permission_error' ? 'insufficient_scope' : JSON.stringify(reply.body);
      },
      'AG-UI': ({ agentId }, who) =>
        rest(who, 'POST', `/api/v1/ag-ui/${agentId}`, { threadId: 't', runId: 'r', messages: [{ role: 'user', content: 'Hi' }] }),
      A2A: ({ agentId }, who) =>
        a2a(who, agentId, 'SendMessage', { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Hi' }] } }),
      GraphQL: (_world, who) =>
        graphql(who, `mutation { createCompletion(input: { model: "${model}", messages: [{ user: { text: "Hi" } }] }) { id } }`),
      'a saved document': (world, who) => savedRoute(world, who, running),
      'the tool of a saved document': (world, who) => savedTool(world, who, running),
      WebSocket: (_world, who) => socket(who, { model, input: 'Hi', store: false }),
      MCP: (_world, who) => mcp(who, (client) => client.callTool({ name: 'ask_private_desk', arguments: { question: 'Hi' } })),
    },
  },
  'connects an account': {
    scope: 'CONNECTIONS:WRITE',
    entry: { kind: 'CHANGE', target: () => expect.stringMatching(/^oat_/) },
    ways: {
      REST: (_world, who) =>
        rest(who, 'POST', '/api/v1/connections', { provider: 'DRIVE_A', accountName: 'Ann', scopes: [], accessToken: 'a' }),
      GraphQL: (_world, who) =>
        graphql(who, 'mutation ($input: StoreOauthTokenInput!) { storeOauthToken(input: $input) { id } }', {
          input: { provider: 'DRIVE_A', accountName: 'Ann', scopes: [], accessToken: 'a' },
        }),
      'the callback page': async (_world, who) => {
        const begun = await who.post('/api/v1/connections/authorize', { provider: 'DRIVE_A' });
        if (begun.status >= 300) return begun.body.error.code;
        const query = new URLSearchParams({ state: new URL(begun.body.url).searchParams.get('state') ?? '', code: 'c' });
        const page = await (await fetch(`${service.url}/oauth/callback?${query}`)).text();
        const word = /name="word" value="([^"]+)"/.exec(page)?.[1] ?? '';
        const done = await fetch(`${service.url}/oauth/callback`, { method: 'POST', body: new URLSearchParams({ word }) });
        return done.status === 200 ? '' : done.text();
      },
    },
  },
};

async function newWorld(): Promise<World> {
  const organization = await make.organization();
  const ann = await make.person({ organization });
  const boss = await make.person({ organization, role: 'ADMIN' });
  const agent = await make.agent({ owner: ann, name: 'Private desk', modelId: model, visibility: 'PRIVATE' });
  const source = await make.apiDataSource({ owner: ann, agentId: agent.id, data: { place: 'the harbour is in the north' } });
  await indexed(ann, source.id);
  const chat = await make.chat({ owner: boss, agentId: agent.id });
  return { boss, agentId: agent.id, dataSourceId: source.id, chatId: chat.id };
}

interface Entry {
  readonly kind: string;
  readonly targetIds: readonly string[];
  readonly actorKeyId: string;
  readonly action: string;
}
/** The entries that a key left. */
async function entriesOf(world: World, keyId: string): Promise<readonly Entry[]> {
  await service.deps.audit.flush();
  const { data } = await world.boss.graphql('{ auditLog(first: 100) { nodes { kind action targetIds actorKeyId } } }');
  return data.auditLog.nodes.filter(({ actorKeyId }: Entry) => actorKeyId === keyId);
}

const table = Object.entries(acts).flatMap(([name, act]) =>
  Object.entries(act.ways).map(([way, call]) => [`${name}: ${way}`, act, call] as const),
);

describe('every way', () => {
  it.each(sampled(table))('does it with the scope, and leaves the entry: %s', async (_name, { entry }, call) => {
    const world = await newWorld();
    upstream.otherwise({ text: 'Hello.' });
    const who = await make.withKey(world.boss, {});
    expect(await call(world, who)).toBe('');
    const entries = (await entriesOf(world, who.keyId)).filter(({ kind }) => kind !== 'REFUSAL');
    if (entry === undefined) return;
    const { kind, target } = entry;
    const own = entries.filter((one) => one.kind === kind);
    expect(own.flatMap(({ targetIds }) => targetIds)).toContainEqual(target(world));
    expect(entries.filter((one) => one.kind === 'READ')).toHaveLength(kind === 'READ' ? 1 : 0);
  });

  it.each(sampled(table))('is refused without the scope, which is an entry too: %s', async (_name, { scope }, call) => {
    const world = await newWorld();
    const who = await make.withKey(world.boss, { scopes: allScopes.filter((one) => one !== scope) });
    expect(await call(world, who)).toBe('insufficient_scope');
    const refusals = (await entriesOf(world, who.keyId)).filter(({ kind }) => kind === 'REFUSAL');
    expect(refusals).not.toEqual([]);
  });
});

const mcpLists: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  tools: (client) => client.listTools(),
  resources: (client) => client.listResources(),
  prompts: (client) => client.listPrompts(),
  completions: (client) =>
    client.complete({ ref: { type: 'ref/resource', uri: 'parley://agents/{id}' }, argument: { name: 'id', value: '' } }),
};
it.each(Object.entries(mcpLists))('MCP lists agents of somebody else: an entry for %s', async (_name, list) => {
  const world = await newWorld();
  const who = await make.withKey(world.boss, {});
  expect(await mcp(who, list)).toBe('');
  expect(await entriesOf(world, who.keyId)).toMatchObject([{ kind: 'READ', action: 'agents', targetIds: [world.agentId] }]);
});

it('a page of a key that has ended connects nothing', async () => {
  const world = await newWorld();
  const who = await make.withKey(world.boss, {});
  const begun = await who.post('/api/v1/connections/authorize', { provider: 'DRIVE_A' });
  await world.boss.delete(`/api/v1/api-keys/${who.keyId}`);
  const query = new URLSearchParams({ state: new URL(begun.body.url).searchParams.get('state') ?? '', code: 'c' });
  const page = await fetch(`${service.url}/oauth/callback?${query}`);
  expect([page.status, await page.text()]).toEqual([400, expect.stringContaining('has ended')]);
});
