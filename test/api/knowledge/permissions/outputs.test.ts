import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { indexed, itemsOf } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { makeWebhook } from '../../../support/operations/webhooks.ts';
import { withService } from '../../../support/service.ts';

const logLines: string[] = [];
const { service, make, upstream } = await withService('model', { onLog: (line) => logLines.push(line) });
const secret = 'kingfisher';
let ann: Person;
let bob: Person;
let admin: Person;
let agentId: string;
let source: string;
let item: string;
let chatOfBob: string;
let runOfBob: string;
let linkOfBob: string;
let citation: { readonly url: string } | undefined;
let responseOfBob: string;
let agentOfBob: string;
let sharedByBob: string;

const push = (acl: readonly string[]) => ann.put(`/api/v1/data-sources/${source}/items`, { items: [{ uniqueId: 'plan', acl }] });
const lookup = { query: secret, limit: 20 };
/** What an MCP client gets of a tool. */
const callTool = async (name: string, args: object) => {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
  return (await bob.post(`/mcp/agents/${agentId}`, body, { accept: 'application/json, text/event-stream' })).body;
};
/** All that models were sent meanwhile. */
const sentBy = async (act: () => Promise<unknown>) => {
  const before = upstream.requests.length;
  await act();
  return upstream.requests.slice(before).map(({ body }) => body);
};
const cited = () =>
  `query ($id: ID!) { citedDocument(id: $id) { name url downloadUrl passage(charStart: 0, charEnd: 20) { text } } }`;

/**
 * Everything that shows what a document says: docs/permissions.md has these rows by their names. Bob could open the document once, has asked about it, and
 * owns what came of that; then it was closed to him. No row may show him its text or its title.
 */
const outputs: Readonly<Record<string, () => Promise<unknown>>> = {
  'search API': async () => (await bob.post('/api/v1/search', { agentId, ...lookup })).body.data,
  'search over GraphQL': () =>
    bob.ask(
      'query ($agentId: ID!, $query: String!) { searchKnowledge(input: { agentId: $agentId, query: $query }) { hits { text title previous next } } }',
      {
        agentId,
        query: secret,
      },
    ),
  'retrieval before an answer': async () => {
    upstream.next({ text: 'Nothing is known.' });
    const chat = await make.chat({ owner: bob, agentId });
    await bob.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Where does it nest?' });
    return upstream.requests.at(-1)?.body;
  },
  file_search: async () => {
    upstream.next(
      { toolCalls: [{ id: 'call_1', name: 'search_knowledge', arguments: JSON.stringify({ query: 'nests' }) }] },
      { text: 'Nothing.' },
    );
    await bob.post('/api/v1/responses', { model: agentId, input: 'Look', tools: [{ type: 'file_search' }] });
    return upstream.requests.at(-1)?.body;
  },
  'search of an MCP client': () => callTool('search_knowledge', { query: 'nests' }),
  'agent asked by an MCP client': () => {
    upstream.next({ text: 'Nothing.' });
    return sentBy(() => callTool('ask_guide', { question: 'Where does it nest?' }));
  },
  subagent: () => {
    const ask = { id: 'call_1', name: 'ask_Guide', arguments: '{"question":"Where does it nest?"}' };
    upstream.next({ toolCalls: [ask] }, { text: 'Nothing.' }, { text: 'Nothing.' });
    return sentBy(() => bob.post('/api/v1/responses', { model: agentOfBob, input: 'Ask them' }));
  },
  'chat shared by a link': () =>
    bob.ask(
      'query ($secret: String!) { sharedChat(secret: $secret) { messages { nodes { hiddenCitationCount citations { name snippet url } } } } }',
      { secret: sharedByBob },
    ),
  'deliveries of webhooks': async () => {
    const sql = 'select body from webhook_deliveries where "orgId" = $1';
    return (await service.deps.storage.db.pool.query(sql, [bob.orgId])).rows;
  },
  log: async () => logLines,
  'list of items over REST': async () => itemsOf(bob, source),
  'items, counts and passages over GraphQL': () =>
    bob.ask('query ($id: ID!) { knowledgeItems(dataSourceId: $id) { totalCount nodes { name passages { nodes { text } } } } }', {
      id: source,
    }),
  'items of a source over GraphQL': () =>
    bob.ask('query ($id: ID!) { dataSource(id: $id) { items(search: "plan") { totalCount nodes { name metadata } } } }', {
      id: source,
    }),
  node: () =>
    bob.ask('query ($id: ID!) { node(id: $id) { ... on KnowledgeItem { name passages { nodes { text } } } } }', { id: item }),
  'content of an item': async () => {
    return (await bob.get(`/api/v1/data-sources/${source}/knowledge/${item}/content`)).body;
  },
  'cited document': () => bob.ask(cited(), { id: item }),
  'signed link of a citation': async () => {
    return (await service.nobody.get(linkOfBob.slice(service.url.length))).body;
  },
  'chat over REST': async () => (await bob.get(`/api/v1/chats/${chatOfBob}`)).body.messages.at(-1).citations,
  'chat over GraphQL': () =>
    bob.ask(
      'query ($id: ID!) { chat(id: $id) { messages { nodes { citations { name url snippet headingPath isHidden content { text } } } } } }',
      {
        id: chatOfBob,
      },
    ),
  'export of a chat': async () => {
    const text = JSON.stringify((await bob.get(`/api/v1/chats/${chatOfBob}/export?format=json`)).body);
    return text.replaceAll('What the model wrote', '');
  },
  'tree of a chat': () => bob.ask('query ($id: ID!) { chatTree(chatId: $id) { content } }', { id: chatOfBob }),
  'stored response': async () => (await bob.get(`/api/v1/responses/${responseOfBob}`)).body.output,
  'conversation items': async () => (await bob.get(`/api/v1/conversations/${chatOfBob}/items`)).body,
  'trace of a run': async () => (await bob.get(`/api/v1/runs/${runOfBob}/trace`)).body,
  'events of a run': async () => {
    const events = `subscription ($id: ID!) { runEvents(runId: $id) { __typename
      ... on RetrievalCompleted { titles } ... on CitationAdded { citation { name snippet url } } } }`;
    return Array.fromAsync(bob.subscribe(events, { id: runOfBob }));
  },
  'events of a run over REST': async () => (await bob.get(`/api/v1/chats/${chatOfBob}/runs/${runOfBob}/events`)).body,
  'events of a response': async () => (await bob.get(`/api/v1/responses/${responseOfBob}?stream=true`)).body,
  'steps of a run': () =>
    bob.ask('query ($id: ID!) { run(id: $id) { steps { ... on RetrievalStep { passages { title } } } } }', { id: runOfBob }),
  'unanswered questions': () => bob.ask('query { unansweredQuestions { nodes { passages { title } } } }'),
  'bundle of an agent': async () => (await ann.get(`/api/v1/ais/${agentId}/export`)).body.dataSources,
  'search for the owner of the source, who lost the right': async () => {
    await push(['user:nobody@example.org']);
    const reply = (await ann.post('/api/v1/search', { agentId, ...lookup })).body.data;
    await push([`user:${ann.email}`]);
    return reply;
  },
  'what a person can see, for an administrator': () =>
    admin.ask('query ($id: ID!, $user: ID!) { openDocuments(dataSourceId: $id, userId: $user) { totalCount nodes { name } } }', {
      id: source,
      user: bob.userId,
    }),
  'text for an administrator': () =>
    admin.ask('query ($id: ID!) { node(id: $id) { ... on KnowledgeItem { passages { nodes { text } } } } }', { id: item }),
};

beforeAll(async () => {
  const organization = await make.organization();
  ann = await make.person({ organization });
  bob = await make.person({ organization });
  admin = await make.person({ organization, role: 'ADMIN' });
  await service.deps.storage.db.prisma.user.updateMany({
    where: { id: { in: [ann.userId, bob.userId] } },
    data: { emailVerifiedAt: new Date() },
  });
  agentId = (await make.agent({ owner: ann, name: 'Guide', visibility: 'ORGANIZATION', intermediateStepsVisible: true })).id;
  source = (await ann.post(`/api/v1/ais/${agentId}/data-sources/api`, { name: 'Wiki', data: {}, access: 'MIRRORED' })).body.id;
  await ann.patch(`/api/v1/data-sources/${source}`, { orgVisible: true });
  const text = `# The plan of the ${secret}\n\nThe ${secret} nests in the river bank.`;
  const items = [{ uniqueId: 'plan', name: `plan of the ${secret}`, text, acl: [`user:${ann.email}`, `user:${bob.email}`] }];
  expect((await ann.put(`/api/v1/data-sources/${source}/items`, { items })).status).toBe(200);
  await indexed(ann, source);
  item = (await itemsOf(ann, source)).find(({ uniqueId }: { uniqueId: string }) => uniqueId === 'plan').id;
  chatOfBob = (await make.chat({ owner: bob, agentId })).id;
  upstream.next({ text: 'What the model wrote [1].' });
  const reply = await bob.post(`/api/v1/chats/${chatOfBob}/messages`, { prompt: 'Where does it nest?' });
  [citation] = reply.body.citations;
  linkOfBob = citation?.url ?? '';
  upstream.next({ text: 'In the bank [1].' });
  responseOfBob = (await bob.post('/api/v1/responses', { model: agentId, input: 'Where does it nest?' })).body.id;
  const enabledTools = [{ type: 'subagent', agents: [agentId] }];
  agentOfBob = (await make.agent({ owner: bob, enabledTools })).id;
  const sharing = 'mutation ($chatId: ID!) { shareChat(chatId: $chatId, input: { audience: ORGANIZATION }) { url } }';
  sharedByBob = (await bob.ask(sharing, { chatId: chatOfBob })).shareChat.url.split('#')[1];
  await makeWebhook(admin, 'http://127.0.0.1:9/nobody-listens');
  runOfBob = (await bob.ask('query { runs(first: 10) { nodes { id chatId } } }')).runs.nodes.find(
    ({ chatId }: { chatId: string }) => chatId === chatOfBob,
  ).id;
});

/** Rows that show nothing of a MIRRORED source to anybody, or nothing here before it is closed. */
const neverShown: ReadonlySet<string> = new Set([
  ...['bundle of an agent', 'unanswered questions', 'text for an administrator', 'deliveries of webhooks', 'log'],
  'search for the owner of the source, who lost the right',
]);

describe('before it was closed', () => {
  it.each(Object.entries(outputs).filter(([name]) => !neverShown.has(name)))('it is shown by: %s', async (_name, show) => {
    const text = (JSON.stringify(await show()) ?? '').toLowerCase();
    expect(text.includes(`the ${secret}`) || text.includes('river bank')).toBe(true);
  });

  it('the document is found, cited and opened', async () => {
    expect(citation).toMatchObject({ name: expect.stringContaining(secret), snippet: expect.stringContaining(secret) });
    expect((await service.nobody.get(linkOfBob.slice(service.url.length))).status).toBe(200);
    expect(JSON.stringify(await bob.ask(cited(), { id: item }))).toContain(secret);
    expect((await bob.post('/api/v1/search', { agentId, ...lookup })).body.data).toHaveLength(1);
  });
});

describe('a document that was closed to its reader is shown by', () => {
  beforeAll(async () => {
    expect((await push([`user:${ann.email}`])).body.permissionsChangedCount).toBe(1);
  });
  it.each(Object.entries(outputs))('nothing in: %s', async (_name, show) => {
    const text = JSON.stringify((await show()) ?? null);
    // The question of the search names it; no reply repeats questions.
    expect(text.toLowerCase()).not.toContain(`the ${secret}`);
    expect(text.toLowerCase()).not.toContain('river bank');
  });

  it('still everything to the person who may open it', async () => {
    expect((await ann.post('/api/v1/search', { agentId, ...lookup })).body.data).toHaveLength(1);
    expect(JSON.stringify(await itemsOf(ann, source))).toContain(secret);
  });

  it('its name and state to an administrator', async () => {
    expect(JSON.stringify(await itemsOf(admin, source))).toContain(secret);
  });

  it('each of these rows is in docs/permissions.md', () => {
    const page = readFileSync('docs/permissions.md', 'utf8');
    for (const name of Object.keys(outputs)) expect(page, name).toContain(`| ${name} |`);
  });
});
