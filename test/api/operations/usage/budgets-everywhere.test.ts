import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startImageServer } from '../../../fixtures/upstreams/images.ts';
import { startMeaningServer } from '../../../support/knowledge/embedding-server.ts';
import { addFile, indexed, searchOf } from '../../../support/knowledge/knowledge.ts';
import { makeFor, type Organization, type Person } from '../../../support/make.ts';
import { keepWithinDay } from '../../../support/processes/days.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { scriptedUpstream, startService, withService } from '../../../support/service.ts';

/** A budget in money holds on each way on which the service asks a model, and counts what each of them costs. */
const meaning = await startMeaningServer();
const images = await startImageServer();
const folder = mkdtempSync(join(tmpdir(), 'parley-budgets-'));
const file = join(folder, 'models.json');
writeFileSync(
  file,
  JSON.stringify({
    providers: [
      { id: 'vectors', baseUrl: meaning.url },
      { id: 'lab', baseUrl: (await scriptedUpstream()).url, models: [{ name: 'unpriced' }] },
    ],
    prices: {
      'openai/test-model': { inputPerMillionTokens: 1_000, outputPerMillionTokens: 2_000 },
      'vectors/priced': { inputPerMillionTokens: 1_000 },
      'ollama/priced': { perImage: 0.5 },
      'rerank/judge': { perThousandSearches: 100 },
    },
  }),
);
afterAll(async () => {
  await Promise.all([meaning.close(), images.close()]);
  rmSync(folder, { recursive: true });
});

const { service, make, upstream } = await withService('model', {
  env: {
    MODELS_FILE: file,
    USAGE_LEASE_MS: '3000',
    EMBEDDING_MODEL: 'vectors/priced',
    OLLAMA_BASE_URL: images.url,
    IMAGE_MODEL: 'ollama/priced,ollama/unpriced',
    RERANK_URL: meaning.rerankUrl,
    RERANK_MODEL: 'judge',
    QUERY_REWRITE_MODEL: 'openai/rewriter',
    RETRIEVAL_PASSAGES_MAX: '1',
    CHAT_TITLES: 'model',
  },
});
const hasVectors = service.deps.storage.knowledge.embeddings !== undefined;
const modelId = 'openai/test-model';
const unpriced = 'lab/unpriced';
/** What a call of the script costs. */
const callCost = 10 * 0.001 + 5 * 0.002;
let organization: Organization;
let ann: Person;
let admin: Person;

beforeEach(keepWithinDay);
beforeEach(async () => {
  upstream.otherwise({ text: 'Hello', usage: { prompt_tokens: 10, completion_tokens: 5 } });
  images.reset();
  organization = await make.organization();
  ann = await make.person({ organization });
  admin = await make.person({ organization, role: 'ADMIN' });
});

async function budget(limit: number, more: object = {}): Promise<string> {
  const input = { subject: 'ORGANIZATION', period: 'DAY', unit: 'MONEY', limit, ...more };
  const { status, body } = await admin.put('/api/v1/admin/budgets', input);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.id;
}
const used = (id: string, amount: number) =>
  eventually(async () => expect((await admin.get(`/api/v1/admin/budgets/${id}`)).body.used).toBeCloseTo(amount, 6));
const createdAgent = async (members: object = {}) => (await make.agent({ owner: ann, modelId, ...members })).id;
/** Without titles of chats, which are asked for behind an answer. */
const askedOf = (name: string) =>
  upstream.requests.filter(({ body }) => body?.model === name && !JSON.stringify(body).includes('Write a title')).length;
const call = async (document: string, variables: object) => {
  return ann.ask(document, { ...variables });
};

async function experiment(agentId: string, more: object): Promise<void> {
  const { createDataset } = await call('mutation ($id: ID!) { createDataset(agentId: $id, input: { name: "D" }) { id } }', {
    id: agentId,
  });
  const add = 'mutation ($id: ID!, $cases: [DatasetCaseInput!]!) { addDatasetCases(datasetId: $id, cases: $cases) { id } }';
  await call(add, { id: createDataset.id, cases: [{ question: 'When?', expected: 'Now', mustContain: ['Hello'] }] });
  const run = 'mutation ($id: ID!, $input: ExperimentInput!) { runExperiment(agentId: $id, input: $input) { id } }';
  const input = { versions: ['draft'], datasetId: createDataset.id, tokensMax: 1_000_000, ...more };
  const { runExperiment } = await call(run, { id: agentId, input });
  await eventually(async () => {
    const state = await call('query ($id: ID!) { experiment(id: $id) { status summary { variants { caseCount } } } }', {
      id: runExperiment.id,
    });
    expect(state.experiment.summary).not.toBeNull();
  }, 20_000);
}

/** Each asks the model `unpriced`, or another one without a price. @returns how often that was asked so far. */
const ways: Readonly<Record<string, () => Promise<() => number>>> = {
  'a step of a flow': async () => {
    const agentId = await createdAgent();
    const steps = [{ type: 'model', modelId: unpriced, prompt: 'Hi' }];
    const versions = [{ version: 1, active: true, data: { steps } }];
    expect((await ann.post(`/api/v1/ais/${agentId}/flows`, { name: 'Main', versions })).status).toBe(200);
    await ann.post('/api/v2/responses', { model: agentId, input: 'Hi' });
    return () => askedOf('unpriced');
  },
  'a subagent': async () => {
    const agentId = await createdAgent({ name: 'Desk', modelId: unpriced });
    const question = { id: 'call_1', name: 'ask_Desk', arguments: '{"question":"When?"}' };
    upstream.next({ toolCalls: [question], usage: { prompt_tokens: 10, completion_tokens: 5 } });
    await ann.post('/api/v2/responses', { model: modelId, input: 'Hi', tools: [{ type: 'subagent', agents: [agentId] }] });
    return () => askedOf('unpriced');
  },
  'a tool of the MCP server': async () => {
    await createdAgent({ name: 'Helper', modelId: unpriced });
    const params = { name: 'ask_helper', arguments: { question: 'When?' } };
    await fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ann.key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-06-18',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    }).then((reply) => reply.text());
    return () => askedOf('unpriced');
  },
  'an experiment': async () => {
    await experiment(await createdAgent(), { models: [unpriced] });
    return () => askedOf('unpriced');
  },
  'a judge': async () => {
    await experiment(await createdAgent(), { scorers: [{ kind: 'JUDGE', modelId: unpriced }] });
    return () => askedOf('unpriced');
  },
  'a question that is rewritten': async () => {
    const agentId = await createdAgent();
    await indexed(ann, (await addFile(ann, agentId, 'pool.md', 'The pool costs six euros.', 'text/markdown')).body.id);
    const messages = [
      { role: 'user', content: 'Is there a pool?' },
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: 'And how much does it cost?' },
    ];
    await ann.post('/api/v1/chat/completions', { model: agentId, messages });
    return () => askedOf('rewriter');
  },
  'the model of a guard': async () => {
    const agentId = await createdAgent();
    const set = 'mutation ($id: ID!, $input: GuardInput!) { setAgentGuard(agentId: $id, input: $input) { modelId } }';
    await call(set, { id: agentId, input: { modelId: unpriced } });
    await ann.post('/api/v2/responses', { model: agentId, input: 'I am Ann Example.' });
    return () => askedOf('unpriced');
  },
  'an image': async () => {
    const drawing = { id: 'call_1', name: 'generate_image', arguments: '{"prompt":"A red cat"}' };
    upstream.next({ toolCalls: [drawing], usage: { prompt_tokens: 10, completion_tokens: 5 } });
    const tools = [{ type: 'image_generation', model: 'ollama/unpriced' }];
    await ann.post('/api/v2/responses', { model: modelId, input: 'Draw', tools });
    return () => images.asked.length;
  },
};

describe.each(Object.entries(ways))('under a budget in money: %s', (_name, go) => {
  it('asks no model without a price, unless the budget allows it', async () => {
    await budget(1_000);
    expect((await go())()).toBe(0);
    await budget(1_000, { allowsUnpricedModels: true });
    const countAsked = await go();
    await eventually(() => expect(countAsked()).toBeGreaterThan(0));
  });
});

describe('a budget in money counts', () => {
  it('images by their price, and refuses one that it cannot pay', async () => {
    const id = await budget(10);
    const draw = async () => {
      const drawing = { id: 'call_1', name: 'generate_image', arguments: '{"prompt":"A red cat"}' };
      const usage = { prompt_tokens: 10, completion_tokens: 5 };
      upstream.next({ toolCalls: [drawing], usage });
      await ann.post('/api/v2/responses', { model: modelId, input: 'Draw', tools: [{ type: 'image_generation' }] });
    };
    await draw();
    expect(images.asked).toHaveLength(1);
    await used(id, 0.5 + 2 * callCost);
    await budget(0.5 + 2 * callCost + 0.49);
    await draw();
    expect(images.asked).toHaveLength(1);
  });

  it('embeddings by their price', async () => {
    const id = await budget(10);
    const { body } = await ann.post('/api/v1/embeddings', { model: 'vectors/priced', input: ['The airship of the director'] });
    await used(id, body.usage.total_tokens * 0.001);
    await budget(body.usage.total_tokens * 0.001 + 0.000_5);
    const before = meaning.embeddings.length;
    expect(await ann.post('/api/v1/embeddings', { model: 'vectors/priced', input: ['The airship'] })).toMatchObject({
      ...{ status: 429, body: { error: { code: 'insufficient_quota' } } },
    });
    expect(meaning.embeddings).toHaveLength(before);
  });

  it('searches of the reranker by their price, and goes on without it', async () => {
    const agentId = await createdAgent();
    const sourceIds: string[] = [];
    for (const text of ['Lamps, lamps and lamps shine.', 'A lamp shines exactly here, among other things.']) {
      const { body } = await addFile(ann, agentId, 'lamp.txt', text);
      await indexed(ann, body.id);
      sourceIds.push(body.id);
    }
    // Vectors of the question cost as well: the first search says how much.
    const id = await budget(10, { subject: 'USER', subjectId: ann.userId });
    const { retrieval } = await searchOf(service, ann, sourceIds, 'lamps');
    expect(retrieval).toMatchObject({ isReranked: true });
    await eventually(async () => expect((await admin.get(`/api/v1/admin/budgets/${id}`)).body.used).toBeGreaterThanOrEqual(0.1));
    await budget(0.15, { subject: 'USER', subjectId: ann.userId });
    const before = meaning.reranks.length;
    const next = await searchOf(service, ann, sourceIds, 'lamps');
    expect(next.retrieval).toMatchObject({ isReranked: false, rerankReason: 'quota' });
    expect(next.passages).toHaveLength(2);
    expect(meaning.reranks).toHaveLength(before);
  });

  it('titles of chats', async () => {
    const id = await budget(10);
    const { body: chat } = await ann.post(`/api/v1/ais/${await createdAgent()}/chats`);
    await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'When does it open?' });
    await used(id, 2 * callCost);
  });
});

describe.runIf(hasVectors)('vectors that a budget stopped', () => {
  const vectorsOf = async (id: string) => (await ann.get(`/api/v1/data-sources/${id}`)).body.vectors;
  const added = async () => {
    const { body } = await addFile(ann, await createdAgent(), 'note.txt', `The airship of ${crypto.randomUUID()}.`);
    await indexed(ann, body.id);
    return body.id as string;
  };
  const stopped = async (id: string, errorCode: string, words: string) =>
    eventually(async () =>
      expect(await vectorsOf(id)).toEqual({ missingCount: 1, errorCode, errorMessage: expect.stringContaining(words) }),
    );
  const whole = (id: string) =>
    eventually(async () => expect(await vectorsOf(id)).toEqual({ missingCount: 0, errorCode: null, errorMessage: null }));

  it.each(['MONEY', 'TOKENS'])('go on by themselves when the limit is raised: %s', async (unit) => {
    const budgetId = await budget(0, { unit });
    const id = await added();
    await stopped(id, 'BUDGET_REACHED', `The budget ${budgetId} of the organization for a day allows 0`);
    await budget(1_000, { unit });
    await whole(id);
  });

  it('go on by themselves when it begins again', async () => {
    // These clocks are never on the same day.
    const setZone = async (timeZone: string) =>
      expect((await admin.put('/api/v1/admin/time-zone', { timeZone })).status).toBe(200);
    await setZone('Pacific/Kiritimati');
    const budgetId = await budget(1);
    const day = (await admin.get(`/api/v1/admin/budgets/${budgetId}`)).body.startsAt;
    upstream.next({ text: 'x', usage: { prompt_tokens: 1_000, completion_tokens: 0 } });
    const messages = [{ role: 'user', content: 'Hi' }];
    expect((await ann.post('/api/v1/chat/completions', { model: modelId, messages, max_tokens: 16 })).status).toBe(200);
    await used(budgetId, 1);
    const id = await added();
    await stopped(id, 'BUDGET_REACHED', 'are used; it begins again at');
    await setZone('Pacific/Pago_Pago');
    await whole(id);
    expect((await admin.get(`/api/v1/admin/budgets/${budgetId}`)).body.startsAt).not.toBe(day);
  });

  it('go on when the budget is deleted, and other budgets hold for those that they count', async () => {
    const budgetId = await budget(0, { subject: 'USER', subjectId: ann.userId });
    const id = await added();
    await stopped(id, 'BUDGET_REACHED', `of the person ${ann.userId}`);
    expect((await admin.delete(`/api/v1/admin/budgets/${budgetId}`)).status).toBe(200);
    await whole(id);
  });
});

describe('under a budget in money, where the models of searches have no price', () => {
  const env = {
    MODELS_FILE: file,
    EMBEDDING_MODEL: 'vectors/unpriced',
    RERANK_URL: meaning.rerankUrl,
    RERANK_MODEL: 'unpriced',
    USAGE_LEASE_MS: '3000',
  };
  it('neither vectors nor the reranker are asked for, unless the budget allows it', async () => {
    const other = await startService({ env });
    try {
      const own = makeFor(other);
      const place = await own.organization();
      const [person, boss] = [
        await own.person({ organization: place }),
        await own.person({ organization: place, role: 'ADMIN' }),
      ];
      const set = async (allowsUnpricedModels: boolean) => {
        const input = { subject: 'ORGANIZATION', period: 'DAY', unit: 'MONEY', limit: 1_000, allowsUnpricedModels };
        expect((await boss.put('/api/v1/admin/budgets', input)).status).toBe(200);
      };
      await set(false);
      const before = [meaning.embeddings.length, meaning.reranks.length];
      const agentId = (await own.agent({ owner: person })).id;
      const ids: string[] = [];
      for (const text of ['Lamps shine.', 'A lamp shines here, among other things.']) {
        const { body } = await addFile(person, agentId, 'lamp.txt', text);
        await indexed(person, body.id);
        ids.push(body.id);
      }
      const vectors = async () => (await person.get(`/api/v1/data-sources/${ids[0]}`)).body.vectors;
      const question = { model: 'vectors/unpriced', input: ['Hi'] };
      const refused = await person.post('/api/v1/embeddings', question);
      expect(refused).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
      expect(refused.body.error.message).toContain('The model vectors/unpriced has no price');
      expect((await searchOf(other, person, ids, 'lamps')).retrieval).toMatchObject({ isReranked: false, rerankReason: 'quota' });
      if (hasVectors) {
        const errorMessage = expect.stringContaining('has no price');
        await eventually(async () => expect(await vectors()).toMatchObject({ errorCode: 'MODEL_WITHOUT_PRICE', errorMessage }));
      }
      expect([meaning.embeddings.length, meaning.reranks.length]).toEqual(before);
      await set(true);
      await eventually(async () => expect((await person.post('/api/v1/embeddings', question)).status).toBe(200));
      expect((await searchOf(other, person, ids, 'lamps')).retrieval).toMatchObject({ isReranked: true });
      if (hasVectors) await eventually(async () => expect(await vectors()).toMatchObject({ missingCount: 0, errorCode: null }));
    } finally {
      await other.close();
    }
  });
});
