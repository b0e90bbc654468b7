import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MeaningServer, startMeaningServer } from '../../../support/knowledge/embedding-server.ts';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import { makeFor, type Organization, type Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { countFewestStatements, countStatements } from '../../../support/storage/statements.ts';
import { never, startUpstream, type Upstream } from '../../../support/upstream.ts';

/** Every run leaves one row, whichever API began it: who asked for it, what it cost, and what it did. */
let upstream: Upstream;
let meanings: MeaningServer;
let service: TestService;
let make: ReturnType<typeof makeFor>;
let organization: Organization;
let admin: Person;
let ann: Person;
const model = 'lab/priced';

beforeAll(async () => {
  upstream = await startUpstream();
  meanings = await startMeaningServer();
  const file = join(mkdtempSync(join(tmpdir(), 'parley-models-')), 'models.json');
  const price = { inputPerMillionTokens: 0.4, outputPerMillionTokens: 1.6 };
  const priced = [
    { name: 'priced', price },
    { name: 'cached', price: { ...price, cachedInputPerMillionTokens: 0.1 } },
    { name: 'written', price: { ...price, cachedInputPerMillionTokens: 0.1, cacheWritePerMillionTokens: 0.5 } },
  ];
  const providers = [
    { id: 'lab', baseUrl: upstream.url, models: priced },
    {
      id: 'vectors',
      baseUrl: meanings.url,
      models: [{ name: 'meaning', price: { inputPerMillionTokens: 2, outputPerMillionTokens: 0 } }],
    },
  ];
  writeFileSync(file, JSON.stringify({ providers }));
  const env = {
    OPENAI_BASE_URL: upstream.url,
    MODELS_FILE: file,
    DEFAULT_MODEL: model,
    MODEL_RETRIES_MAX: '0',
    EMBEDDING_MODEL: 'vectors/meaning',
  };
  service = await startService({ env: { ...env, EGRESS_ALLOW: '127.0.0.1', LOG_LEVEL: 'fatal' } });
  make = makeFor(service);
  organization = await make.organization();
  admin = await make.person({ organization, role: 'ADMIN' });
  ann = await make.person({ organization });
});
afterAll(async () => {
  await service.close();
  await upstream.close();
  await meanings.close();
});

const usage = { prompt_tokens: 1_000, completion_tokens: 500 };
/** 1,000 tokens at 0.4 and 500 at 1.6 for a million. */
const cost = 0.0012;
const figures = `id kind isStored status modelId answeredModelId firstTokenMs durationMs cost startedAt endedAt error { code message }
  usage { inputTokens outputTokens } agent { id } user { id } key { id } chat { id }`;

/** The rows of runs that are not stored are written after their replies. */
async function runsOf(person: Person, filter: Readonly<Record<string, unknown>> = {}, fields = figures, first = 100) {
  const query = `query ($filter: RunFilter, $first: Int) { runs(filter: $filter, first: $first) { nodes { ${fields} } totalCount } }`;
  const data = await person.ask(query, { filter, first });
  return data.runs.nodes;
}

/** The one run of a person that is made now. */
async function newest(person: Person, kind: string, fields = figures) {
  return eventually(async () => {
    const [run] = await runsOf(person, { kind }, fields, 1);
    expect(run).toBeDefined();
    return run;
  });
}

const complete = (person: Person, members = {}) =>
  person.post('/api/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Tell me a secret word' }], ...members });

describe('the run of a completion', () => {
  it.each([
    ['in one piece', {}],
    ['as a stream', { stream: true }],
  ])('%s says who asked, what answered, and what it cost', async (_how, members) => {
    const bob = await make.person({ organization });
    upstream.next({ text: 'Hello', usage });
    const reply = await complete(bob, members);
    expect(reply.status).toBe(200);
    const run = await newest(bob, 'COMPLETION');
    expect(run).toMatchObject({
      ...{ kind: 'COMPLETION', isStored: false, status: 'COMPLETED', modelId: model, answeredModelId: model, error: null, cost },
      ...{
        usage: { inputTokens: 1_000, outputTokens: 500 },
        agent: null,
        user: { id: bob.userId },
        key: { id: bob.keyId },
        chat: null,
      },
    });
    expect(run.firstTokenMs).toBeGreaterThanOrEqual(0);
    expect(run.durationMs).toBeGreaterThanOrEqual(run.firstTokenMs);
    const id = typeof reply.body === 'string' ? /"id":"(chatcmpl-[^"]+)"/.exec(reply.body)?.[1] : reply.body.id;
    expect(run.id).toBe(id);
    const found = await bob.graphql('query ($id: ID!) { node(id: $id) { id } run(id: $id) { cost text output { id } } }', { id });
    expect(found.data).toEqual({ node: { id }, run: { cost, text: null, output: [] } });
  });

  it('of an agent names the agent', async () => {
    const agent = await make.agent({ owner: ann, modelId: model });
    expect((await complete(ann, { model: agent.id })).status).toBe(200);
    await eventually(async () => {
      const [run] = await runsOf(ann, { agentId: agent.id });
      expect(run).toMatchObject({ kind: 'COMPLETION', agent: { id: agent.id } });
    });
  });

  it('counts tokens from the cache of the provider at their own price', async () => {
    const bob = await make.person({ organization });
    const cached = { ...usage, prompt_tokens_details: { cached_tokens: 600 } };
    upstream.next({ text: 'Hello', usage: cached });
    await complete(bob, { model: 'lab/cached' });
    // 400 at 0.4, 600 at 0.1, 500 at 1.6.
    expect((await newest(bob, 'COMPLETION')).cost).toBe(0.00102);
  });

  it('counts what the provider wrote to its cache, by its price, in the run, its steps and the statistics', async () => {
    const bob = await make.person({ organization });
    const written = { ...usage, prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 300 } };
    const tokens = 'inputTokens cachedTokens cacheWriteTokens';
    upstream.next({ text: 'Hello', usage: written });
    await complete(bob, { model: 'lab/written' });
    const run = await newest(
      bob,
      'COMPLETION',
      `id cost usage { ${tokens} } steps { ... on ModelCallStep { usage { ${tokens} } } }`,
    );
    const counted = { inputTokens: 1_000, cachedTokens: 600, cacheWriteTokens: 300 };
    // 100 at 0.4, 600 at 0.1, 300 at 0.5, 500 at 1.6.
    expect(run).toMatchObject({ cost: 0.00105, usage: counted, steps: [{ usage: counted }] });
    const asks = `{ runStatistics(by: MODEL) { total { ${tokens} } groups { key figures { ${tokens} } } } }`;
    const { data } = await bob.graphql(asks);
    expect(data.runStatistics).toMatchObject({ total: counted, groups: [{ key: 'lab/written', figures: counted }] });
    const { rows } = await service.deps.storage.db.pool.query('select * from usage_entries where "userId" = $1', [bob.userId]);
    expect(rows).toMatchObject([counted]);
    // Where no price is stated: as other input.
    upstream.next({ text: 'Hello', usage: written });
    await complete(bob, { model: 'lab/cached' });
    await eventually(async () => {
      const [row] = await runsOf(bob, { modelId: 'lab/cached' }, 'cost');
      expect(row).toEqual({ cost: 0.00102 });
    });
  });

  it('has no cost when its model has no price, and says why it failed', async () => {
    const bob = await make.person({ organization });
    upstream.next({ status: 400, body: JSON.stringify({ error: { message: 'I do not like "Tell me a secret word"' } }) });
    expect((await complete(bob, { model: 'openai/test-model' })).status).toBe(400);
    const run = await newest(bob, 'COMPLETION');
    const error = { code: 'INVALID_VALUE', message: 'The model provider "openai" refused the request' };
    expect(run).toMatchObject({ status: 'FAILED', error, cost: 0, usage: null, firstTokenMs: null });
    upstream.next({ text: 'Hello', usage });
    await complete(bob, { model: 'openai/test-model' });
    await eventually(async () => expect((await runsOf(bob, { status: 'COMPLETED' }))[0]).toMatchObject({ cost: null }));
  });

  it('whose client left is cancelled, and has what it used by then', async () => {
    const bob = await make.person({ organization });
    upstream.next({ text: ['Hello ', 'there'], restGate: never });
    const frames = bob.sse('POST', '/api/v1/chat/completions', {
      ...{ model, stream: true, messages: [{ role: 'user', content: 'Hi' }] },
    });
    await frames.next();
    await frames.return?.(undefined);
    const run = await newest(bob, 'COMPLETION');
    expect(run).toMatchObject({ status: 'CANCELLED', usage: { inputTokens: expect.any(Number) } });
  });

  it('costs no statement of its own, and its row no content', async () => {
    const bob = await make.person({ organization });
    await complete(bob);
    await eventually(async () => expect(await runsOf(bob)).toHaveLength(1));
    const many = 20;
    const { statements } = await countStatements(service, async () => {
      await Promise.all(Array.from({ length: many }, () => complete(bob)));
      await eventually(async () => expect(await countRows(bob)).toBe(many + 1));
    });
    const writes = statements.filter((text) => /insert into usage_entries/.test(text));
    expect(writes.length).toBeLessThan(many);
    expect(statements.filter((text) => /into runs|update runs/.test(text) && !writes.includes(text))).toEqual([]);
    const { rows } = await service.deps.storage.db.pool.query('select runs::text as text from runs where "userId" = $1', [
      bob.userId,
    ]);
    for (const { text } of rows) expect(text).not.toMatch(/secret word|Hello from upstream/);
  });
});

async function countRows(person: Person): Promise<number> {
  const text = 'select count(*)::int as count from runs where "userId" = $1';
  return (await service.deps.storage.db.pool.query(text, [person.userId])).rows[0].count;
}

describe('the runs of other APIs', () => {
  it('a chat and a stored response have their rows once, with times and cost', async () => {
    const bob = await make.person({ organization });
    const agent = await make.agent({ owner: bob, modelId: model });
    const chat = await make.chat({ owner: bob, agentId: agent.id });
    upstream.next({ text: 'Hello', usage }, { text: 'Hello', usage });
    expect((await bob.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi' })).status).toBe(200);
    const response = await bob.post('/api/v2/responses', { model, input: 'Hi' });
    const runs = await runsOf(bob);
    expect(runs).toMatchObject([
      { id: response.body.id, kind: 'RESPONSE', isStored: true, cost, status: 'COMPLETED', answeredModelId: model },
      { kind: 'CHAT', isStored: true, cost, agent: { id: agent.id }, chat: { id: chat.id }, usage: { inputTokens: 1_000 } },
    ]);
    for (const run of runs) expect(run.durationMs).toBeGreaterThanOrEqual(run.firstTokenMs);
  });

  it('a response that is not stored has a row, and stays out of reach of v2', async () => {
    const bob = await make.person({ organization });
    const { body } = await bob.post('/api/v2/responses', { model, input: 'Hi', store: false });
    expect(await newest(bob, 'RESPONSE')).toMatchObject({ id: body.id, isStored: false, status: 'COMPLETED' });
    const missing = [
      await bob.get(`/api/v2/responses/${body.id}`),
      await bob.get(`/api/v2/responses/${body.id}/input_items`),
      await bob.post(`/api/v2/responses/${body.id}/cancel`),
      await bob.delete(`/api/v2/responses/${body.id}`),
    ];
    expect(missing.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    const next = await bob.post('/api/v2/responses', { model, input: 'Hi', previous_response_id: body.id });
    expect(next.status).toBe(400);
    expect(await countRows(bob)).toBe(1);
  });

  it('embeddings have the tokens and their cost', async () => {
    const bob = await make.person({ organization });
    expect((await bob.post('/api/v1/embeddings', { model: 'vectors/meaning', input: ['a text', 'another'] })).status).toBe(200);
    const run = await newest(bob, 'EMBEDDING');
    expect(run).toMatchObject({ status: 'COMPLETED', modelId: 'vectors/meaning', firstTokenMs: null });
    expect(run.cost).toBeCloseTo(run.usage.inputTokens * 2e-6, 12);
  });

  it('a search of knowledge says how it searched, and what it found', async () => {
    const { agent, source } = await knowing(ann, 'The price of the green bicycle is 400 euro');
    const searched = await ann.post('/api/v1/search', { agentId: agent.id, query: 'green bicycle' });
    expect(searched.status).toBe(200);
    const run = await newest(
      ann,
      'SEARCH',
      'modelId retrieval { passageCount bestScore } steps { __typename durationMs ... on RetrievalStep { passages { title dataSourceId } } }',
    );
    expect(run).toMatchObject({ modelId: null, retrieval: { passageCount: 1, bestScore: expect.any(Number) } });
    expect(run.steps.find((step: { __typename: string }) => step.__typename === 'RetrievalStep')).toMatchObject({
      passages: [{ title: expect.any(String), dataSourceId: source.id }],
    });
  });

  it('a conversation that is compacted, and a draft of a profile, are runs too', async () => {
    const bob = await make.person({ organization });
    await bob.post('/api/v2/responses/compact', { model, input: [{ role: 'user', content: 'Hi' }] });
    expect(await newest(bob, 'COMPACTION')).toMatchObject({ status: 'COMPLETED', modelId: model });
  });
});

async function knowing(owner: Person, text: string, members = {}) {
  const agent = await make.agent({ owner, modelId: model, ...members });
  const source = await make.apiDataSource({ owner, agentId: agent.id, data: { text } });
  await indexed(owner, source.id);
  return { agent, source };
}

describe('the steps of a run', () => {
  const steps = `steps { __typename offsetMs durationMs status errorCode subagentId
    ... on RetrievalStep { question mode passageCount passages { title score knowledgeItemId dataSource { id } } }
    ... on ModelCallStep { modelId firstTokenMs cost usage { inputTokens } } ... on ToolCallStep { name callId itemId } }`;

  it('are a search, model calls and calls of tools, each with its place in time', async () => {
    const { agent, source } = await knowing(ann, 'Bicycles are green', { intermediateStepsVisible: true });
    const chat = await make.chat({ owner: ann, agentId: agent.id });
    const memory = { id: 'call_1', name: 'remember', arguments: JSON.stringify({ text: 'likes green', scope: 'user' }) };
    upstream.next({ toolCalls: [memory], usage }, { text: 'Green', usage });
    const sent = await ann.post(`/api/v1/chats/${chat.id}/messages`, {
      prompt: 'Which colour has a bicycle?',
      tools: [{ type: 'memory' }],
    });
    expect(sent.status).toBe(200);
    const [run] = await runsOf(ann, { agentId: agent.id }, `cost retrieval { mode passageCount } ${steps}`, 5);
    expect(run).toMatchObject({ cost: 0.0024, retrieval: { passageCount: 1 } });
    expect(run.steps.map((step: { __typename: string }) => step.__typename)).toEqual([
      'RetrievalStep',
      'ModelCallStep',
      'ToolCallStep',
      'ModelCallStep',
    ]);
    expect(run.steps).toMatchObject([
      {
        question: 'Which colour has a bicycle?',
        passageCount: 1,
        passages: [{ dataSource: { id: source.id }, knowledgeItemId: expect.any(String) }],
      },
      { modelId: model, cost, usage: { inputTokens: 1_000 }, status: 'COMPLETED' },
      { name: 'remember', callId: 'call_1' },
      { modelId: model, cost },
    ]);
    const offsets = run.steps.map((step: { offsetMs: number }) => step.offsetMs);
    expect(offsets).toEqual(offsets.toSorted((a: number, b: number) => a - b));
  });

  it('hide searches from users of an agent that hides its steps, and show them to its editors', async () => {
    const { agent } = await knowing(ann, 'Bicycles are green', { visibility: 'ORGANIZATION' });
    const bob = await make.person({ organization });
    await complete(bob, { model: agent.id, messages: [{ role: 'user', content: 'Which colour has a bicycle?' }] });
    const seen = async (person: Person) =>
      eventually(async () => {
        const [run] = await runsOf(person, { agentId: agent.id, userId: bob.userId }, `retrieval { mode } ${steps}`, 5);
        return { retrieval: run.retrieval !== null, types: run.steps.map((step: { __typename: string }) => step.__typename) };
      });
    expect(await seen(bob)).toEqual({ retrieval: false, types: ['ModelCallStep'] });
    expect(await seen(ann)).toEqual({ retrieval: true, types: ['RetrievalStep', 'ModelCallStep'] });
    expect(await seen(admin)).toEqual({ retrieval: true, types: ['RetrievalStep', 'ModelCallStep'] });
  });
});

describe('who sees a run', () => {
  it('its user, editors of its agent, and administrators of its organization; what was said, those who read the chat', async () => {
    const home = await make.organization();
    const [owner, user, stranger, boss] = await Promise.all([
      make.person({ organization: home }),
      make.person({ organization: home }),
      make.person({ organization: home }),
      make.person({ organization: home, role: 'ADMIN' }),
    ]);
    const foreign = await make.person({ role: 'ADMIN' });
    const agent = await make.agent({ owner, modelId: model, visibility: 'ORGANIZATION' });
    const chat = await make.chat({ owner: user, agentId: agent.id });
    await user.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Where is the treasure?' });
    await complete(user);
    await eventually(async () => expect(await runsOf(user)).toHaveLength(2));
    const [ofChat] = await runsOf(user, { kind: 'CHAT' }, 'id text messages { content }');
    expect(ofChat).toMatchObject({ text: 'Hello from upstream', messages: [{ content: 'Where is the treasure?' }, {}] });
    const seen = async (person: Person) => ({
      kinds: (await runsOf(person, {}, 'kind')).map((run: { kind: string }) => run.kind).toSorted(),
      byId: (await person.graphql('query ($id: ID!) { run(id: $id) { text messages { content } } }', { id: ofChat.id })).data.run,
      found: (await runsOf(person, { search: 'treasure' }, 'id')).length,
    });
    const quiet = { text: null, messages: [] };
    expect(await seen(owner)).toEqual({ kinds: ['CHAT'], byId: quiet, found: 0 });
    expect(await seen(boss)).toEqual({ kinds: ['CHAT', 'COMPLETION'], byId: quiet, found: 0 });
    expect(await seen(stranger)).toEqual({ kinds: [], byId: null, found: 0 });
    expect(await seen(foreign)).toEqual({ kinds: [], byId: null, found: 0 });
    expect((await runsOf(user, { search: 'treasure' }, 'id')).map((run: { id: string }) => run.id)).toEqual([ofChat.id]);
    const reader = await make.withKey(user, { scopes: ['AGENTS:READ'] });
    expect((await reader.get('/api/v1/runs')).status).toBe(403);
  });
});

describe('the list of runs', () => {
  it('is searched among more agents than a statement takes values', async () => {
    const home = await make.organization();
    const [owner, boss] = await Promise.all([
      make.person({ organization: home }),
      make.person({ organization: home, role: 'ADMIN' }),
    ]);
    const agent = await make.agent({ owner, modelId: model, chatLogsVisible: true, visibility: 'ORGANIZATION' });
    const chat = await make.chat({ owner, agentId: agent.id });
    await owner.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Where is the lighthouse?' });
    await service.deps.storage.db.pool.query(
      `insert into agents (id, "createdAt", "updatedAt", "orgId", "userId", name, description, instructions, src)
       select 'ai_' || i, now(), now(), $1, $2, 'Many', '', '', '' from generate_series(1, 33000) as i`,
      [home.id, owner.userId],
    );
    // The owner may edit all of them, and somebody else asks one of them.
    const guest = await make.person({ organization: home });
    const asked = await make.chat({ owner: guest, agentId: agent.id });
    await guest.post(`/api/v1/chats/${asked.id}/messages`, { prompt: 'Who keeps the windmill?' });
    await eventually(async () => expect(await runsOf(boss, { search: 'lighthouse' }, 'id')).toHaveLength(1));
    for (const reader of [boss, owner]) {
      await eventually(async () => expect(await runsOf(reader, { search: 'windmill' }, 'id')).toHaveLength(1));
      expect(await runsOf(reader, { search: 'zebrafinch' }, 'id')).toEqual([]);
    }
    expect(await runsOf(guest, { search: 'lighthouse' }, 'id')).toEqual([]);
  });

  it('is narrowed by every member of the filter, and read both ways', async () => {
    const bob = await make.person({ organization });
    const key = await make.withKey(bob, {});
    const agent = await make.agent({ owner: bob, modelId: model, name: 'Zebra keeper' });
    for (let made = 0; made < 3; made += 1) await complete(bob);
    await complete(key, { model: agent.id });
    upstream.next({ status: 500 });
    await complete(bob, { model: 'openai/test-model' });
    await eventually(async () => expect(await countRows(bob)).toBe(5));
    const count = async (filter: object) => (await runsOf(bob, { ...filter }, 'id')).length;
    expect(await count({})).toBe(5);
    expect(await count({ agentId: agent.id })).toBe(1);
    expect(await count({ keyId: key.keyId })).toBe(1);
    expect(await count({ userId: ann.userId })).toBe(0);
    expect(await count({ modelId: 'openai/test-model' })).toBe(1);
    expect(await count({ status: 'FAILED' })).toBe(1);
    expect(await count({ kind: 'CHAT' })).toBe(0);
    expect(await count({ since: new Date(Date.now() + 60_000) })).toBe(0);
    expect(await count({ until: new Date(Date.now() + 60_000), since: new Date(Date.now() - 600_000) })).toBe(5);
    expect(await count({ feedback: 'ANY' })).toBe(0);
    expect(await count({ search: 'zebra' })).toBe(1);
    expect(await count({ search: 'test-mod' })).toBe(1);
    expect(await count({ search: agent.id })).toBe(1);
    expect(await count({ search: key.keyId })).toBe(1);
    expect(await count({ search: 'nothing like it' })).toBe(0);
    const ids = (await runsOf(bob, {}, 'id')).map((run: { id: string }) => run.id);
    const page =
      'query ($after: String, $before: String, $first: Int, $last: Int, $orderBy: RunOrder) { runs(after: $after, before: $before, first: $first, last: $last, orderBy: $orderBy) { nodes { id } totalCount isTotalCountExact pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }';
    const first = (await bob.graphql(page, { first: 2 })).data.runs;
    expect(first).toMatchObject({ totalCount: 5, isTotalCountExact: true, pageInfo: { hasNextPage: true } });
    const second = (await bob.graphql(page, { first: 3, after: first.pageInfo.endCursor })).data.runs;
    expect([...first.nodes, ...second.nodes].map(({ id }: { id: string }) => id)).toEqual(ids);
    const back = (await bob.graphql(page, { last: 2, before: second.pageInfo.startCursor })).data.runs;
    expect(back.nodes).toEqual(first.nodes);
    const oldest = (await bob.graphql(page, { first: 5, orderBy: 'OLDEST_FIRST' })).data.runs;
    expect(oldest.nodes.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed());
  });

  it('is the same on REST', async () => {
    const bob = await make.person({ organization });
    await complete(bob);
    await complete(bob);
    await eventually(async () => expect(await countRows(bob)).toBe(2));
    const { body } = await bob.get('/api/v1/runs?limit=1&kind=COMPLETION&status=completed');
    expect(body).toMatchObject({
      data: [{ kind: 'COMPLETION', status: 'completed', modelId: model }],
      nextCursor: expect.any(String),
    });
    const { body: rest } = await bob.get(`/api/v1/runs?limit=1&cursor=${body.nextCursor}`);
    expect(rest).toMatchObject({ data: [{ userId: bob.userId }], nextCursor: null });
    const one = await bob.get(`/api/v1/runs/${rest.data[0].id}`);
    expect(one.body).toMatchObject({ id: rest.data[0].id, steps: [{ type: 'ModelCallStep', modelId: model }] });
    expect((await ann.get(`/api/v1/runs/${rest.data[0].id}`)).status).toBe(404);
    const sums = await bob.get('/api/v1/runs/statistics?by=MODEL');
    expect(sums.body).toMatchObject({
      isComplete: true,
      total: { runCount: 2 },
      groups: [{ key: model, figures: { runCount: 2 } }],
    });
    expect((await bob.get('/api/v1/runs/unanswered')).body).toEqual({ data: [], nextCursor: null });
  });

  it('of fifty runs with their agents, people, keys, chats and steps costs as many statements as of five', async () => {
    const bob = await make.person({ organization });
    const chats: string[] = [];
    for (let made = 0; made < 5; made += 1) {
      const agent = await make.agent({ owner: bob, modelId: model });
      chats.push((await make.chat({ owner: bob, agentId: agent.id })).id);
    }
    for (let sent = 0; sent < 50; sent += 1) await bob.post(`/api/v1/chats/${chats[sent % 5]}/messages`, { prompt: 'Hi' });
    const query = `query ($first: Int) { runs(first: $first) { nodes { id cost agent { name } user { name } key { name } chat { name } retrieval { mode }
      steps { __typename durationMs } } } }`;
    const cost = async (first: number) => {
      await bob.graphql(query, { first });
      // Without those of the audit log and of the usage ledger, which are written after replies.
      const others = /audit_entries|usage_entries|^SELECT "t0"\."id", "t0"\."(?:orgId|email)" FROM/;
      const { result, statements } = await countFewestStatements(service, () => bob.graphql(query, { first }), others);
      expect(result.data.runs.nodes).toHaveLength(first);
      expect(result.data.runs.nodes[0]).toMatchObject({ agent: {}, user: {}, key: {}, chat: {} });
      return statements;
    };
    const five = await cost(5);
    const fifty = await cost(50);
    expect(fifty.length, fifty.join('\n')).toBe(five.length);
    expect(fifty.length, fifty.join('\n')).toBeLessThanOrEqual(12);
  });
});

describe('statistics', () => {
  it('count and add what a plain computation does', async () => {
    const home = await make.organization();
    const boss = await make.person({ organization: home, role: 'ADMIN' });
    const bob = await make.person({ organization: home });
    const { pool } = service.deps.storage.db;
    const rows = Array.from({ length: 200 }, (_, index) => ({
      ...{ id: service.deps.newId('completion'), kind: 'completion', userId: index % 4 === 0 ? boss.userId : bob.userId },
      status: index % 10 === 0 ? 'failed' : 'completed',
      at: new Date(Date.now() - (index % 3) * 86_400_000 - 60_000),
      firstTokenMs: index % 7 === 0 ? null : (index * 37) % 501,
      durationMs: (index * 91) % 1_999,
      cost: index % 5 === 0 ? null : `0.${String(index).padStart(6, '0')}`,
    }));
    for (const row of rows) {
      await pool.query(
        `insert into runs (id, kind, "isStored", "createdAt", "updatedAt", "startedAt", "endedAt", "orgId", "userId", "keyId", "modelId", status,
           "firstTokenMs", "durationMs", "inputTokens", "outputTokens", "cachedTokens", "reasoningTokens", cost, request)
         values ($1, $2, false, $3, $3, $3, $3, $4, $5, 'key', $6, $7, $8, $9, 10, 5, 0, 0, $10, '{}')`,
        [row.id, row.kind, row.at, home.id, row.userId, model, row.status, row.firstTokenMs, row.durationMs, row.cost],
      );
    }
    const plain = (some: typeof rows) => {
      const rank = (values: readonly (number | null)[], share: number) => {
        const known = values.filter((value) => value !== null).toSorted((a, b) => a - b);
        return known[Math.ceil(share * known.length) - 1];
      };
      const micros = some.reduce((sum, { cost: given }) => sum + (given === null ? 0 : Number(given.slice(2))), 0);
      return {
        ...{ runCount: some.length, failedCount: some.filter(({ status }) => status === 'failed').length },
        ...{ inputTokens: some.length * 10, outputTokens: some.length * 5, cost: micros / 1e6 },
        unpricedCount: some.filter((row) => row.cost === null).length,
        firstTokenMs: {
          p50: rank(
            some.map((row) => row.firstTokenMs),
            0.5,
          ),
          p95: rank(
            some.map((row) => row.firstTokenMs),
            0.95,
          ),
        },
        durationMs: {
          p50: rank(
            some.map((row) => row.durationMs),
            0.5,
          ),
          p95: rank(
            some.map((row) => row.durationMs),
            0.95,
          ),
        },
      };
    };
    const members =
      'runCount failedCount inputTokens outputTokens cost unpricedCount firstTokenMs { p50 p95 } durationMs { p50 p95 }';
    const ask = async (person: Person, by: string, filter = {}) => {
      const query = `query ($by: RunGrouping!, $filter: RunFilter) { runStatistics(by: $by, filter: $filter) {
        isComplete total { ${members} } groups { key startsAt user { id } figures { ${members} } } } }`;
      const data = await person.ask(query, { by, filter });
      return data.runStatistics;
    };
    const byUser = await ask(boss, 'USER');
    expect(byUser).toMatchObject({ isComplete: true, total: plain(rows) });
    const of = (userId: string) => rows.filter((row) => row.userId === userId);
    expect(byUser.groups).toEqual([
      { key: bob.userId, startsAt: null, user: { id: bob.userId }, figures: plain(of(bob.userId)) },
      { key: boss.userId, startsAt: null, user: { id: boss.userId }, figures: plain(of(boss.userId)) },
    ]);
    expect((await ask(bob, 'USER')).total).toEqual(plain(of(bob.userId)));
    const days = await ask(boss, 'DAY', { status: 'FAILED' });
    const daysOfRows = Map.groupBy(
      rows.filter(({ status }) => status === 'failed'),
      ({ at }) => `${at.toISOString().slice(0, 10)}T00:00:00.000Z`,
    );
    expect(days.groups.map(({ startsAt, figures: { runCount } }: never) => [startsAt, runCount])).toEqual(
      [...daysOfRows].map(([day, some]) => [day, some.length]).toSorted(),
    );
    const tooLong = await boss.graphql('{ runStatistics(by: DAY, filter: { since: "2020-01-01T00:00:00Z" }) { isComplete } }');
    expect(tooLong.errors?.[0]).toMatchObject({ extensions: { code: 'INVALID_VALUE' } });
  });

  it('have the ratings of answers, which go with their messages', async () => {
    const bob = await make.person({ organization });
    const agent = await make.agent({ owner: bob, modelId: model });
    const chat = await make.chat({ owner: bob, agentId: agent.id });
    const sent = await bob.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi' });
    const counted = async () => {
      const query = `{ runStatistics(by: AGENT) { total { ratedUpCount ratedDownCount } } runs(filter: { feedback: DOWN }) { nodes { ratedDownCount } } }`;
      const { data } = await bob.graphql(query);
      return [data.runStatistics.total.ratedUpCount, data.runStatistics.total.ratedDownCount, data.runs.nodes.length];
    };
    const store = service.deps.storage.conversations.feedback;
    const given = {
      messageId: sent.body.message.id,
      runId: sent.body.runId,
      chatId: chat.id,
      agentId: agent.id,
      orgId: bob.orgId,
      userId: bob.userId,
    };
    const set = (rating: 'UP' | 'DOWN') =>
      store.set({ id: service.deps.newId('feedback'), createdAt: new Date(), ...given, rating, tags: [], comment: null });
    await set('DOWN');
    expect(await counted()).toEqual([0, 1, 1]);
    await set('UP');
    expect(await counted()).toEqual([1, 0, 0]);
    await store.remove(given.messageId);
    expect(await counted()).toEqual([0, 0, 0]);
  });
});

describe('questions without an answer', () => {
  const query = `query ($agentId: ID) { unansweredQuestions(agentId: $agentId) { nodes { question reason reasons passages { title score } run { id kind } } totalCount } }`;

  it('are those whose search found nothing, and those whose answer is rated bad', async () => {
    const bob = await make.person({ organization });
    const { agent } = await knowing(bob, 'The price of the green bicycle is 400 euro', {
      chatLogsVisible: false,
      visibility: 'ORGANIZATION',
    });
    const chat = await make.chat({ owner: bob, agentId: agent.id });
    const ask = (prompt: string) => bob.post(`/api/v1/chats/${chat.id}/messages`, { prompt });
    meanings.down = { status: 500 };
    await ask('Qwertzuiop?');
    const found = await ask('green bicycle');
    const given = {
      messageId: found.body.message.id,
      runId: found.body.runId,
      chatId: chat.id,
      agentId: agent.id,
      orgId: bob.orgId,
      userId: bob.userId,
    };
    const { feedback } = service.deps.storage.conversations;
    await feedback.set({
      id: service.deps.newId('feedback'),
      createdAt: new Date(),
      ...given,
      rating: 'DOWN',
      tags: [],
      comment: null,
    });
    const data = await bob.ask(query, { agentId: agent.id });
    const rated = {
      question: 'green bicycle',
      reason: 'RATED_DOWN',
      passages: [{ score: expect.any(Number) }],
      run: { id: found.body.runId },
    };
    meanings.down = undefined;
    const nothing = {
      question: 'Qwertzuiop?',
      reason: 'NOTHING_FOUND',
      reasons: ['NOTHING_FOUND'],
      passages: [],
      run: { kind: 'CHAT' },
    };
    expect(data.unansweredQuestions).toMatchObject({ nodes: [rated, nothing], totalCount: 2 });
    const other = await make.person({ organization });
    expect((await other.graphql(query, { agentId: agent.id })).data.unansweredQuestions.nodes).toEqual([]);
    const seen = (await admin.graphql(query, { agentId: agent.id })).data.unansweredQuestions.nodes[0];
    expect(seen).toMatchObject({ question: null, reason: 'RATED_DOWN', passages: [{}] });
  });
});
