import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { UsageLimits } from '../../../../src/engine/usage/limits.ts';
import { makeId } from '../../../../src/entities/ground/ids.ts';
import { UsageBatch, type UsageRow } from '../../../../src/storage/ground/ledger/ledger.ts';
import { readMigrations } from '../../../../src/storage/ground/migrations/migrate.ts';
import { type TokenRequest, UsageLimitStore } from '../../../../src/storage/operations/usage/limits.ts';
import { addFile, indexed } from '../../../support/knowledge/knowledge.ts';
import type { Organization, Person } from '../../../support/make.ts';
import { keepWithinDay } from '../../../support/processes/days.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { silent } from '../../../support/runs/runs.ts';
import { withService } from '../../../support/service.ts';
import { countFewestStatements } from '../../../support/storage/statements.ts';
import { heldAnswer } from '../../../support/upstream.ts';

const { service, make, upstream } = await withService('model', {});
let organization: Organization;
let ann: Person;
let admin: Person;

beforeEach(keepWithinDay);
beforeEach(async () => {
  upstream.otherwise({ text: 'Hello', usage: { prompt_tokens: 10, completion_tokens: 5 } });
  organization = await make.organization();
  ann = await make.person({ organization });
  admin = await make.person({ organization, role: 'ADMIN' });
});

const ask = (who: Person, more: object = {}) =>
  who.post('/api/v1/chat/completions', { model: 'openai/test-model', messages: [{ role: 'user', content: 'Hi' }], ...more });
const usageOf = async (who: Person, query = '') => (await who.get(`/api/v1/usage${query}`)).body;
const used = (who: Person, tokens: number) =>
  eventually(async () => expect((await usageOf(who)).orgUsage.apiTokensUsed).toBe(tokens));
/** A call of a run, and its row in the ledger, as limits see them. */
const callOf = (who: Person) => ({ charge: { ...who, agentId: null }, kind: 'api', modelId: 'openai/test-model' }) as const;
const toRow = ({ orgId, userId, keyId }: Person, inputTokens: number): UsageRow => ({
  ...{ id: makeId('usageEntry', Date.now()), createdAt: new Date(), orgId, userId, keyId, agentId: null, runId: null },
  ...{ purpose: 'run', modelId: 'openai/test-model', inputTokens, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 },
});
const limit = (members: object, orgId = organization.id) =>
  service.client().patch(`/api/v1/admin/organizations/${orgId}`, members);

describe('GET /api/v1/usage', () => {
  it('is zero, without limits, before anything was used', async () => {
    expect(await ann.get('/api/v1/usage')).toMatchObject({
      status: 200,
      body: {
        orgUsage: {
          orgId: organization.id,
          dataTokensUsed: 0,
          dataUsageTokenLimit: null,
          apiTokensUsed: 0,
          apiUsageTokenLimit: null,
        },
        aiUsages: [],
      },
    });
  });

  it('is the sum of the ledger: runs by agent, and in the totals runs of a bare model too', async () => {
    const one = await make.agent({ owner: ann });
    const two = await make.agent({ owner: ann });
    await Promise.all([ask(ann, { model: one.id }), ask(ann, { model: one.id }), ask(ann, { model: two.id }), ask(ann)]);
    await eventually(async () =>
      expect(await usageOf(admin)).toEqual({
        orgUsage: {
          orgId: organization.id,
          dataTokensUsed: 0,
          dataUsageTokenLimit: null,
          apiTokensUsed: 60,
          apiUsageTokenLimit: null,
        },
        aiUsages: [
          { aiId: one.id, aiDataTokensUsed: 0, aiApiTokensUsed: 30 },
          { aiId: two.id, aiDataTokensUsed: 0, aiApiTokensUsed: 15 },
        ],
      }),
    );
    const { rows } = await service.deps.storage.db.pool.query(
      'select sum("inputTokens" + "outputTokens")::int as sum from usage_entries where "orgId" = $1',
      [organization.id],
    );
    expect(rows).toEqual([{ sum: 60 }]);
  });

  it('counts chats, and embedding and indexing as data tokens', async () => {
    const agent = await make.agent({ owner: ann });
    const chat = await make.chat({ owner: ann, agentId: agent.id });
    await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi' });
    await service.deps.storage.operations.usage.add(
      UsageBatch.of([
        {
          ...{ id: service.deps.newId('usageEntry'), createdAt: new Date(), orgId: organization.id, userId: ann.userId },
          ...{ keyId: null, agentId: agent.id, runId: null, purpose: 'indexing', modelId: 'openai/embed' },
          ...{ inputTokens: 7, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 },
        },
      ]),
      'nobody',
    );
    await eventually(async () =>
      expect(await usageOf(admin)).toMatchObject({
        orgUsage: { dataTokensUsed: 7, apiTokensUsed: 15 },
        aiUsages: [{ aiId: agent.id, aiDataTokensUsed: 7, aiApiTokensUsed: 15 }],
      }),
    );
  });

  it('counts what is indexed in days, in the sums of people and models, and against the limit', async () => {
    const agent = await make.agent({ owner: ann });
    const { body: source } = await addFile(ann, agent.id, 'notes.md', '# Notes\n\nThe answer is forty-two.', 'text/markdown');
    await indexed(ann, source.id);
    const { dataTokensUsed } = (await usageOf(admin)).orgUsage;
    expect(dataTokensUsed).toBeGreaterThan(0);
    const tables = await service.deps.storage.operations.usage.counted(organization.id);
    expect(tables.data).toBe(dataTokensUsed);
    const { data } = await admin.graphql(
      '{ usage { models { nodes { modelId dataTokensUsed } } } usageDays(first: 100) { nodes { dataTokensUsed } } }',
    );
    expect(data.usageDays.nodes.at(-1)).toEqual({ dataTokensUsed });
    expect(data.usage.models.nodes).toEqual([{ modelId: 'parley/index', dataTokensUsed }]);
  });

  it('shows others of the organization the totals, and the agents that they may use', async () => {
    const hidden = await make.agent({ owner: ann, visibility: 'PRIVATE' });
    const open = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
    await Promise.all([ask(ann, { model: hidden.id }), ask(ann, { model: open.id })]);
    await used(ann, 30);
    const bob = await make.person({ organization });
    expect(await usageOf(bob)).toMatchObject({
      orgUsage: { apiTokensUsed: 30 },
      aiUsages: [{ aiId: open.id, aiDataTokensUsed: 0, aiApiTokensUsed: 15 }],
    });
    const stranger = await make.person();
    expect(await usageOf(stranger)).toMatchObject({ orgUsage: { apiTokensUsed: 0 }, aiUsages: [] });
  });

  it('takes a period, of whole days or not', async () => {
    const iso = (ms: number) => encodeURIComponent(new Date(ms).toISOString());
    const day = 86_400_000;
    const today = Math.floor(Date.now() / day) * day;
    await ask(ann);
    await used(ann, 15);
    expect((await usageOf(ann, `?from=${iso(today)}`)).orgUsage.apiTokensUsed).toBe(15);
    expect((await usageOf(ann, `?to=${iso(today)}`)).orgUsage.apiTokensUsed).toBe(0);
    expect((await usageOf(ann, `?from=${iso(Date.now() - 60_000)}`)).orgUsage.apiTokensUsed).toBe(15);
    expect((await usageOf(ann, `?from=${iso(Date.now() + 60_000)}`)).orgUsage.apiTokensUsed).toBe(0);
    expect(await ann.get(`/api/v1/usage?from=${iso(today)}&to=${iso(today)}`)).toMatchObject({
      status: 400,
      body: { error: { param: 'to' } },
    });
  });

  it('of any period is the sum of the calls in it', async () => {
    const { id: agentId } = await make.agent({ owner: ann });
    const day = 86_400_000;
    const tokens = { inputTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
    // Calls of 15 months, a week apart, some a millisecond before midnight or noon.
    const calls = Array.from({ length: 60 }, (_, number) => ({
      createdAt: new Date(Date.UTC(2025, 0, 1) + number * 7.5 * day - (number % 2)),
      person: number % 3 === 0 ? ann : admin,
      outputTokens: 2 ** (number % 30),
    }));
    const rows = calls.map(({ createdAt, person, outputTokens }) => ({
      ...{
        id: makeId('usageEntry', createdAt.getTime()),
        createdAt,
        orgId: organization.id,
        userId: person.userId,
        keyId: person.keyId,
      },
      ...{ agentId, runId: null, purpose: 'run' as const, modelId: 'openai/test-model', ...tokens, outputTokens },
      cost: outputTokens * 3,
    }));
    await service.deps.storage.operations.usage.add(UsageBatch.of(rows.slice(0, 40)), 'test');
    await service.deps.storage.operations.usage.add(UsageBatch.of(rows.slice(30)), 'test');
    const times = [0, 0.5, 1, 14, 31, 40, 59, 90, 100.25, 120, 200, 364, 365, 420, 449.5, 470].map(
      (days) => new Date(Date.UTC(2025, 0, 1) + days * day),
    );
    const query = `query ($from: DateTime, $to: DateTime) { usage(from: $from, to: $to) { apiTokensUsed cost
      agents(first: 9) { nodes { apiTokensUsed cost } } users { nodes { userId apiTokensUsed cost } }
      keys { nodes { keyId apiTokensUsed cost } } models { nodes { cost } } } }`;
    const costOf = (tokens: number) => (tokens * 3) / 1_000_000_000;
    for (const from of [undefined, ...times]) {
      for (const to of [undefined, ...times].filter((time) => time === undefined || from === undefined || time > from)) {
        const sumOf = (inPeriod: readonly { readonly outputTokens: number }[]) =>
          inPeriod.reduce((sum, call) => sum + call.outputTokens, 0);
        const inPeriod = calls.filter(
          ({ createdAt }) => (from === undefined || createdAt >= from) && (to === undefined || createdAt < to),
        );
        const people = [ann, admin]
          .map((person) => ({ person, sum: sumOf(inPeriod.filter((call) => call.person === person)) }))
          .filter(({ sum }) => sum > 0)
          .sort((one, other) => other.sum - one.sum);
        const total = sumOf(inPeriod);
        const { data } = await admin.graphql(query, { from, to });
        expect(data?.usage, `${from?.toISOString()} to ${to?.toISOString()}`).toEqual({
          ...{ apiTokensUsed: total, cost: costOf(total) },
          agents: { nodes: total === 0 ? [] : [{ apiTokensUsed: total, cost: costOf(total) }] },
          users: { nodes: people.map(({ person, sum }) => ({ userId: person.userId, apiTokensUsed: sum, cost: costOf(sum) })) },
          keys: { nodes: people.map(({ person, sum }) => ({ keyId: person.keyId, apiTokensUsed: sum, cost: costOf(sum) })) },
          models: { nodes: total === 0 ? [] : [{ cost: costOf(total) }] },
        });
      }
    }
    const { rows: months } = await service.deps.storage.db.pool.query(
      `select dimension, count(distinct month)::int as months, sum("apiTokens")::bigint::text as tokens from usage_months where "orgId" = $1 group by 1 order by 1`,
      [organization.id],
    );
    const summed = { months: 15, tokens: String(calls.reduce((sum, call) => sum + call.outputTokens, 0)) };
    expect(months).toEqual(['agent', 'key', 'user'].map((dimension) => ({ dimension, ...summed })));
    // A database of before the costs were in the sums gets them from the calls.
    const sums = async () => {
      const [days, ofThings, ofMonths] = await Promise.all(
        ['usage_days', 'usage_sums', 'usage_months'].map((table) =>
          service.deps.storage.db.pool.query(`select * from ${table} where "orgId" = $1`, [organization.id]),
        ),
      );
      return [days, ofThings, ofMonths].map((table) => new Set(table?.rows.map((row) => JSON.stringify(row))));
    };
    const before = await sums();
    for (const table of ['usage_days', 'usage_sums']) await service.deps.storage.db.pool.query(`update ${table} set cost = 0`);
    for (const rows of await sums()) {
      expect(rows.size).toBeGreaterThan(40);
      expect([...rows].filter((row) => !row.includes('"cost":"0"'))).toEqual([]);
    }
    const migration = readMigrations().find(({ name }) => name === '300_usage_costs')?.sql ?? '';
    await service.deps.storage.db.pool.query(migration.slice(migration.indexOf('-- What calls of before cost.')));
    expect(await sums()).toEqual(before);
  });

  it('survives a restart', async () => {
    await ask(ann);
    await service.restart();
    expect((await usageOf(ann)).orgUsage.apiTokensUsed).toBe(15);
    expect((await ann.get('/api/v1/usage/daily')).body.data.at(-1).apiTokensUsed).toBe(15);
  });
});

describe('GET /api/v1/usage/daily', () => {
  it('has every day, oldest first, today last', async () => {
    const agent = await make.agent({ owner: ann });
    await Promise.all([ask(ann), ask(ann, { model: agent.id })]);
    await used(ann, 30);
    const { data } = (await ann.get('/api/v1/usage/daily')).body;
    expect(data).toHaveLength(30);
    expect(data.at(-1)).toEqual({ day: new Date().toISOString().slice(0, 10), dataTokensUsed: 0, apiTokensUsed: 30 });
    expect(data.slice(0, -1).every((day: { apiTokensUsed: number }) => day.apiTokensUsed === 0)).toBe(true);
    const ofAgent = (await ann.get(`/api/v1/usage/daily?aiId=${agent.id}`)).body.data;
    expect(ofAgent.at(-1).apiTokensUsed).toBe(15);
  });

  it.each([
    ['more than 366 days', '?from=2020-01-01T00:00:00Z', 400, 'from'],
    ['a first day that is not there yet', '?from=2100-01-01T00:00:00Z', 400, 'from'],
    ['an agent of nobody', '?aiId=ai_0', 404, 'aiId'],
    ['an agent and a user', '?aiId=ai_0&userId=usr_0', 400, 'userId'],
  ])('refuses %s', async (_case, query, status, param) => {
    expect(await ann.get(`/api/v1/usage/daily${query}`)).toMatchObject({ status, body: { error: { param } } });
  });
});

describe('usage', () => {
  it('by day is that of one user too: of oneself, and for administrators of anybody', async () => {
    await Promise.all([ask(ann), ask(admin)]);
    await used(admin, 30);
    const query = 'query ($userId: ID) { usageDays(userId: $userId, first: 100) { nodes { apiTokensUsed cost } } }';
    for (const who of [ann, admin]) {
      const { data } = await who.graphql(query, { userId: ann.userId });
      expect(data.usageDays.nodes.at(-1)).toEqual({ apiTokensUsed: 15, cost: 0 });
      expect(data.usageDays.nodes).toHaveLength(30);
    }
    const other = await ann.get(`/api/v1/usage/daily?userId=${admin.userId}`);
    expect(other).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
  });

  it('is one report by agent, user, key, model and day, with the things themselves', async () => {
    const agent = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
    const bob = await make.person({ organization });
    await Promise.all([ask(ann, { model: agent.id }), ask(ann), ask(bob)]);
    await used(admin, 45);
    const query = `{ usage {
      apiTokensUsed organization { id }
      agents { nodes { apiTokensUsed agent { id } } }
      users { totalCount nodes { apiTokensUsed user { id } } }
      keys(first: 1) { nodes { apiTokensUsed key { id } } pageInfo { hasNextPage endCursor } }
      models { nodes { modelId apiTokensUsed } }
      days(last: 1) { nodes { day apiTokensUsed } }
    } }`;
    const data = await admin.ask(query);
    expect(data.usage).toEqual({
      apiTokensUsed: 45,
      organization: { id: organization.id },
      agents: { nodes: [{ apiTokensUsed: 15, agent: { id: agent.id } }] },
      users: {
        totalCount: 2,
        nodes: [
          { apiTokensUsed: 30, user: { id: ann.userId } },
          { apiTokensUsed: 15, user: { id: bob.userId } },
        ],
      },
      keys: {
        nodes: [{ apiTokensUsed: 30, key: { id: ann.keyId } }],
        pageInfo: { hasNextPage: true, endCursor: expect.any(String) },
      },
      models: { nodes: [{ modelId: 'openai/test-model', apiTokensUsed: 45 }] },
      days: { nodes: [{ day: new Date().toISOString().slice(0, 10), apiTokensUsed: 45 }] },
    });
    const after = data.usage.keys.pageInfo.endCursor;
    const rest = await admin.graphql('query ($after: String) { usage { keys(after: $after) { nodes { keyId } } } }', { after });
    expect(rest.data.usage.keys.nodes).toEqual([{ keyId: bob.keyId }]);
    const before = await admin.graphql('query ($at: String) { usage { keys(last: 5, before: $at) { nodes { keyId } } } }', {
      at: after,
    });
    expect(before.data.usage.keys.nodes).toEqual([]);
  });

  it('names what cost something without tokens, as pictures do', async () => {
    const agent = await make.agent({ owner: ann });
    const picture = { ...toRow(ann, 0), agentId: agent.id, modelId: 'openai/pictures', cost: 250_000_000 };
    await service.deps.storage.operations.usage.add(UsageBatch.of([picture]), 'test');
    const query = `query ($from: DateTime) { usage(from: $from) { cost agents { nodes { cost agent { id } } }
      users { nodes { cost userId } } keys { nodes { cost keyId } } models { totalCount nodes { cost modelId } } } }`;
    for (const variables of [{}, { from: new Date(Date.now() - 3_600_000).toISOString() }]) {
      expect((await admin.graphql(query, variables)).data.usage).toEqual({
        cost: 0.25,
        agents: { nodes: [{ cost: 0.25, agent: { id: agent.id } }] },
        users: { nodes: [{ cost: 0.25, userId: ann.userId }] },
        keys: { nodes: [{ cost: 0.25, keyId: ann.keyId }] },
        models: { totalCount: 1, nodes: [{ cost: 0.25, modelId: 'openai/pictures' }] },
      });
    }
    const { data } = await admin.graphql('query ($id: ID!) { agent(id: $id) { usage { cost } } }', { id: agent.id });
    expect(data.agent.usage.cost).toBe(0.25);
  });

  it('looks for the agents that a person may use among more than a statement takes values', async () => {
    const home = await make.organization();
    const owner = await make.person({ organization: home });
    const agent = await make.agent({ owner });
    // Gone agents have used more.
    await service.deps.storage.db.pool.query(
      `insert into usage_days ("orgId", day, "agentId", "apiTokens") select $1, current_date, case when i = 1 then $2 else 'ai_' || i end, i from generate_series(1, 36000) i`,
      [home.id, agent.id],
    );
    const data = await owner.ask('{ usage { agents(first: 5) { nodes { agentId apiTokensUsed } } } }');
    expect(data.usage.agents.nodes).toEqual([{ agentId: agent.id, apiTokensUsed: 1 }]);
  });

  it('shows a member its own use and keys, and the same sums for a part of a day', async () => {
    const bob = await make.person({ organization });
    await Promise.all([ask(ann), ask(bob)]);
    await used(admin, 30);
    const from = new Date(Date.now() - 3_600_000).toISOString();
    const query = `query ($from: DateTime) { usage(from: $from) {
      users { nodes { userId apiTokensUsed } } keys { nodes { keyId apiTokensUsed } } models { nodes { apiTokensUsed } } } }`;
    for (const variables of [{}, { from }]) {
      expect((await bob.graphql(query, variables)).data.usage).toEqual({
        users: { nodes: [{ userId: bob.userId, apiTokensUsed: 15 }] },
        keys: { nodes: [{ keyId: bob.keyId, apiTokensUsed: 15 }] },
        models: { nodes: [{ apiTokensUsed: 30 }] },
      });
    }
  });

  it('of agents, users and keys of a list costs one statement for each', async () => {
    const agents = await Promise.all(Array.from({ length: 4 }, () => make.agent({ owner: ann })));
    await Promise.all(agents.map(({ id }) => ask(ann, { model: id })));
    await used(ann, 60);
    const query = '{ agents(first: 50) { nodes { id usage { apiTokensUsed } } } }';
    await ann.graphql(query);
    const { result, statements } = await countFewestStatements(service, () => ann.graphql(query));
    expect(result.data.agents.nodes.map(({ usage }: { usage: object }) => usage)).toEqual(
      agents.map(() => ({ apiTokensUsed: 15 })),
    );
    expect(statements.length, statements.join('\n')).toBeLessThanOrEqual(5);
    const { data } = await ann.graphql('{ viewer { user { usage { apiTokensUsed } } key { usage { apiTokensUsed } } } }');
    expect(data.viewer).toEqual({ user: { usage: { apiTokensUsed: 60 } }, key: { usage: { apiTokensUsed: 60 } } });
  });
});

describe('the subscription usageChanged', () => {
  it('shows the report at once and after a change', async () => {
    const reports = ann.subscribe('subscription { usageChanged { kind id node { apiTokensUsed apiUsageTokenLimit } } }');
    const next = async () => {
      const { node, ...change } = (await reports.next()).value.data.usageChanged;
      expect(change).toEqual({ kind: 'UPDATED', id: ann.orgId });
      return node;
    };
    expect(await next()).toEqual({ apiTokensUsed: 0, apiUsageTokenLimit: null });
    await ask(ann);
    expect(await next()).toEqual({ apiTokensUsed: 15, apiUsageTokenLimit: null });
    await limit({ apiUsageTokenLimit: 5_000_000_000 });
    expect(await next()).toEqual({ apiTokensUsed: 15, apiUsageTokenLimit: 5_000_000_000 });
    await reports.return(undefined);
  });

  it('shows what indexing used', async () => {
    const { id } = await make.agent({ owner: ann });
    const reports = ann.subscribe('subscription { usageChanged { node { dataTokensUsed } } }');
    const next = async () => (await reports.next()).value.data.usageChanged.node.dataTokensUsed as number;
    expect(await next()).toBe(0);
    await addFile(ann, id, 'hours.md', 'The workshop opens at nine.');
    // A change of somebody else may come first, which tells the same.
    let used = 0;
    while (used === 0) used = await next();
    expect(used).toBeGreaterThan(0);
    await reports.return(undefined);
  });
});

describe('a limit of an organization', () => {
  const refusal = { status: 429, body: { error: { type: 'insufficient_quota', code: 'insufficient_quota' } } };

  it('refuses what exceeds it with 429 before anything is sent upstream, on every path', async () => {
    const agent = await make.agent({ owner: ann });
    const chat = await make.chat({ owner: ann, agentId: agent.id });
    await limit({ apiUsageTokenLimit: 0 });
    const refused = await ask(ann);
    expect(refused).toMatchObject(refusal);
    expect([refused.headers.get('retry-after'), refused.headers.get('x-should-retry')]).toEqual(['3600', 'false']);
    expect(await ask(ann, { stream: true })).toMatchObject(refusal);
    expect(await ask(ann, { model: agent.id })).toMatchObject(refusal);
    expect(await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi' })).toMatchObject(refusal);
    const messages = [{ role: 'user', content: 'Hi' }];
    expect(await ann.post('/api/v1/messages', { model: agent.id, max_tokens: 9, messages })).toMatchObject({
      ...{ status: 429, body: { type: 'error', error: { type: 'rate_limit_error' } } },
    });
    const run = { threadId: 't', runId: 'r', messages };
    expect(await ann.post(`/api/v1/ag-ui/${agent.id}`, run)).toMatchObject(refusal);
    const mutation = 'mutation ($chatId: ID!) { sendMessage(chatId: $chatId, input: { prompt: { text: "Hi" } }) { id } }';
    expect((await ann.graphql(mutation, { chatId: chat.id })).errors).toMatchObject([
      { extensions: { code: 'INSUFFICIENT_QUOTA' } },
    ]);
    expect(upstream.requests).toEqual([]);
    expect((await ann.get(`/api/v1/chats/${chat.id}`)).body.messages).toEqual([]);
  });

  it('admits calls until it is used up, one after the other, and not beyond', async () => {
    await limit({ apiUsageTokenLimit: 200 });
    const statuses: number[] = [];
    for (let call = 0; call < 20; call += 1) statuses.push((await ask(ann, { max_tokens: 5 })).status);
    const good = statuses.filter((status) => status === 200).length;
    // Each call costs 15 and is admitted while 15 and the estimate of the prompt are left.
    expect(good).toBeGreaterThanOrEqual(11);
    expect(good * 15).toBeLessThanOrEqual(200);
    expect(statuses.slice(good).every((status) => status === 429)).toBe(true);
    await used(ann, good * 15);
  });

  it('is not exceeded by calls at one time', async () => {
    await limit({ apiUsageTokenLimit: 300 });
    upstream.otherwise({ text: 'Hello', usage: { prompt_tokens: 10, completion_tokens: 5 }, headDelayMs: 50 });
    const replies = await Promise.all(Array.from({ length: 60 }, () => ask(ann, { max_tokens: 10 })));
    const good = replies.filter(({ status }) => status === 200).length;
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 429]));
    expect(good).toBeGreaterThanOrEqual(10);
    expect(good * 15).toBeLessThanOrEqual(300);
    expect(upstream.requests.length).toBe(good);
    await used(ann, good * 15);
  });

  it('cuts the answer that would exceed it to what is left', async () => {
    await limit({ apiUsageTokenLimit: 100 });
    expect((await ask(ann)).status).toBe(200);
    const asked = upstream.requests[0]?.body ?? {};
    const most = Number(asked.max_tokens ?? asked.max_completion_tokens);
    expect(most).toBeGreaterThan(16);
    expect(most).toBeLessThan(100);
  });

  it('of another organization, or for indexing, does not affect a run', async () => {
    await limit({ dataUsageTokenLimit: 0 });
    await limit({ apiUsageTokenLimit: 0 }, (await make.organization()).id);
    expect((await ask(ann)).status).toBe(200);
  });

  it('that is lowered lets what runs finish, and that is lifted lets everybody in again', async () => {
    await limit({ apiUsageTokenLimit: 1_000_000 });
    const { script, goOn } = heldAnswer({ text: ['Hel', 'lo'] });
    upstream.next(script);
    const running = ask(ann, { stream: true });
    await upstream.until(({ requests }) => requests.length === 1);
    await limit({ apiUsageTokenLimit: 0 });
    expect(await ask(ann)).toMatchObject(refusal);
    goOn();
    expect((await running).body).toContain('[DONE]');
    await limit({ apiUsageTokenLimit: null });
    expect((await ask(ann)).status).toBe(200);
  });

  it('gives back what a call held and did not use, also when it failed', async () => {
    await limit({ apiUsageTokenLimit: 150 });
    upstream.next({ status: 500, body: '{}' });
    expect((await ask(ann, { max_tokens: 100 })).status).toBe(502);
    await eventually(async () => expect((await ask(ann, { max_tokens: 100 })).status).toBe(200));
  });

  it('reserved by a process that died is free again after its lease', async () => {
    const {
      db,
      signals,
      operations: { usageLimits: store },
    } = service.deps.storage;
    const release = () => Promise.reject(new Error('the connection broke'));
    const { models } = service.deps;
    const parts = { models, currency: 'USD', logger: silent, leaseMs: 300, blockTokens: 100, now: () => new Date() };
    const limits = new UsageLimits({ ...parts, store: Object.assign(new UsageLimitStore(db, signals), { release }) });
    await limit({ apiUsageTokenLimit: 1_000 });
    const hold = await limits.reserve(callOf(ann), () => ({ input: 10, outputMax: 10 }));
    hold.release();
    const whole = {
      owner: 'another',
      orgId: ann.orgId,
      kind: 'api',
      tokensMin: 1_000,
      want: () => 1_000,
      leaseMs: 1_000,
    } as const;
    expect(await store.reserve(whole)).toMatchObject({ kind: 'refused' });
    await eventually(async () => expect(await store.reserve(whole)).toMatchObject({ kind: 'granted' }));
    await limits.stop();
  });

  it('is not held twice by a process whose reservation was told later than its lease is long', async () => {
    const {
      db,
      signals,
      operations: { usageLimits: store },
    } = service.deps.storage;
    const leaseMs = 300;
    let isLate = true;
    const { models } = service.deps;
    const parts = { models, currency: 'USD', logger: silent, leaseMs, blockTokens: 20, now: () => new Date() };
    const limits = new UsageLimits({
      ...parts,
      store: Object.assign(new UsageLimitStore(db, signals), {
        async reserve(request: TokenRequest) {
          if (!isLate) return store.reserve(request);
          isLate = false;
          await setTimeout(3 * leaseMs);
          // Its lease begins now, and this process counts from when it asked.
          return store.reserve({ ...request, leaseMs: 60_000 });
        },
      }),
    });
    await limit({ apiUsageTokenLimit: 1_000 });
    const hold = await limits.reserve(callOf(ann), () => ({ input: 10, outputMax: 10 }));
    const { usageReservation } = service.deps.storage.db.prisma;
    expect(await usageReservation.findMany({ where: { owner: limits.owner } })).toMatchObject([{ tokens: 20n }]);
    hold.release();
    await eventually(async () => {
      const [row] = await usageReservation.findMany({ where: { owner: limits.owner } });
      expect(row?.tokens).toBe(0n);
    });
    await limits.stop();
  });

  it('does not count twice what a call cost beyond what it held, while the ledger is about to tell', async () => {
    const {
      db,
      signals,
      operations: { usageLimits: store },
    } = service.deps.storage;
    const cost = 500;
    const { models } = service.deps;
    const parts = { models, currency: 'USD', logger: silent, leaseMs: 60_000, blockTokens: 100, now: () => new Date() };
    const refused: unknown[] = [];
    const row = toRow(ann, cost);
    const limits = new UsageLimits({
      ...parts,
      store: Object.assign(new UsageLimitStore(db, signals), {
        async reserve(request: TokenRequest) {
          const grant = await store.reserve(request);
          if (grant.kind === 'refused') {
            refused.push(grant);
            setImmediate(() => limits.written(new Set([row.orgId]), () => [row]));
          }
          return grant;
        },
      }),
    });
    await limit({ apiUsageTokenLimit: 1_000 });
    const need = () => ({ input: 10, outputMax: 10 });
    (await limits.reserve(callOf(ann), need)).release();
    limits.noted(row);
    const counter = { orgId: ann.orgId, kind: 'api' };
    await service.deps.storage.db.prisma.usageCounter.upsert({
      where: { orgId_kind: counter },
      create: { ...counter, used: cost },
      update: { used: cost },
    });
    const hold = await limits.reserve(callOf(ann), need);
    expect(hold.outputMax).toBeUndefined();
    expect(refused).toHaveLength(1);
    hold.release();
    await limits.stop();
  });

  it('costs a completion with everything cached no statement, with or without a limit', async () => {
    const statementsOf = async () => {
      await ask(ann);
      const { statements } = await countFewestStatements(service, () => ask(ann));
      return statements.filter((text) => !/usage_entries|lastUsedAt|pgboss|select 1/i.test(text));
    };
    // A background job may run statements in between; a statement of the completion itself would be there every time.
    await eventually(async () => expect(await statementsOf()).toEqual([]));
    await limit({ apiUsageTokenLimit: 100_000_000 });
    await eventually(async () => expect(await statementsOf()).toEqual([]));
  });
});
