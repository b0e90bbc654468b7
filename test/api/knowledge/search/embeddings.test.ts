import { readFileSync } from 'node:fs';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startMeaningServer } from '../../../support/knowledge/embedding-server.ts';
import { addFile, indexed, searchOf } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';
import { testServerUrl } from '../../../support/storage/databases.ts';

const meaning = await startMeaningServer();
const env = {
  OPENAI_BASE_URL: meaning.url,
  EMBEDDING_MODEL: 'openai/first',
  MODEL_RETRIES_MAX: '0',
  RETRIEVAL_EMBEDDING_TIMEOUT_MS: '60000',
};
const { service, make } = await withService('plain', { env });
const printed = readFileSync('schema.graphql', 'utf8');
const hasVectors = service.deps.storage.knowledge.embeddings !== undefined;

const ann = await make.person();
const agent = await make.agent({ owner: ann });

beforeEach(() => {
  Object.assign(meaning, { down: undefined, refusedWord: undefined, gate: undefined, dimensions: 64 });
  meaning.faults.length = 0;
});
afterAll(() => meaning.close());

const search = (sourceIds: readonly string[], question: string, who = ann) => searchOf(service, who, sourceIds, question);
const sql = async (text: string, values: unknown[]) => (await service.deps.storage.db.pool.query(text, values)).rows;
const vectorsOf = async (sourceId: string) =>
  (await sql('select count(*)::int as n from chunk_embeddings where data_source_id = $1', [sourceId]))[0].n as number;
const usedTokens = async (who: Person) =>
  (
    await sql(
      `select coalesce(sum("inputTokens"), 0)::int as n from usage_entries where "orgId" = $1 and purpose = 'embedding'`,
      [who.orgId],
    )
  )[0].n as number;

async function added(content: string, of: { who?: Person; agentId?: string } = {}): Promise<string> {
  const { who = ann, agentId = agent.id } = of;
  const { body } = await addFile(who, agentId, 'note.txt', content);
  await indexed(who, body.id);
  return body.id;
}

/** The newest request for the vector of a question; jobs ask for others in between. */
const lastQuestion = (question: string) => meaning.embeddings.findLast(({ input }) => input[0] === question);

/** Waits until the vectors of a source answer. */
function served(sourceId: string, who = ann) {
  return eventually(async () => {
    const { retrieval } = await search([sourceId], 'anything', who);
    expect(retrieval).toMatchObject({ mode: 'hybrid', reason: null });
  });
}

/** What the source says of its missing vectors. */
async function stateOf(sourceId: string) {
  const { data } = await ann.graphql(
    'query ($id: ID!) { dataSource(id: $id) { vectors { missingCount errorCode errorMessage } } }',
    {
      id: sourceId,
    },
  );
  return (data as { dataSource: { vectors: unknown } }).dataSource.vectors;
}

describe.runIf(hasVectors)('with an embedding model', () => {
  it('a synonym is found by meaning alone, with the scores of both ways', async () => {
    const id = await added('The airship stands behind the house.');
    await served(id);
    const { passages, retrieval } = await search([id], 'zeppelin');
    expect(retrieval).toEqual({ mode: 'hybrid', reason: null, isReranked: false, rerankReason: null });
    expect(passages).toMatchObject([{ scores: { lexical: null, vector: expect.any(Number), rerank: null } }]);
    expect((await search([id], 'airship')).passages).toMatchObject([{ scores: { lexical: expect.any(Number) } }]);
  });

  it('a passage that only meaning finds has a place, however many passages have words of the question', async () => {
    const ids: string[] = [];
    for (let number = 1; number <= 12; number += 1) ids.push(await added(`Rule ${number} of the shed.`));
    ids.push(await added('The airship lands at noon.'));
    for (const id of ids) await served(id);
    const { passages } = await search(ids, 'zeppelin rule shed');
    expect(passages).toHaveLength(8);
    expect(passages.filter(({ text }) => text.includes('airship'))).toMatchObject([{ scores: { lexical: null } }]);
    expect(passages.map(({ score }) => score)).toEqual(passages.map(({ score }) => score).toSorted((a, b) => b - a));
  });

  it('holds the filters of a search, and asks with what was said before', async () => {
    const { id: agentId } = await make.agent({ owner: ann });
    const text = await added('The airship stands in the yard.', { agentId });
    await served(text);
    const body = (filters: object) => ({ dataSourceIds: [text], query: 'zeppelin', filters });
    const found = async (filters: object) => (await ann.post('/api/v1/search', body(filters))).body;
    expect(await found({ mimeTypes: ['text/plain'] })).toMatchObject({ retrieval: { mode: 'hybrid' }, data: [{ words: [] }] });
    expect(await found({ mimeTypes: ['application/pdf'] })).toMatchObject({ retrieval: { mode: 'hybrid' }, data: [] });
    const rewrite = [
      { role: 'user', text: 'Tell me about the zeppelin' },
      { role: 'assistant', text: 'It is big.' },
    ];
    const reply = await ann.post('/api/v1/search', { dataSourceIds: [text], query: 'Where is it?', rewrite });
    expect(reply.body).toMatchObject({ data: [{ scores: { vector: expect.any(Number) } }] });
    expect(lastQuestion('Tell me about the zeppelin\nWhere is it?')).toBeDefined();
  });

  it('charges the passages of a source to the agent that alone has it, and those of a shared one to none', async () => {
    const who = await make.person();
    const one = await make.agent({ owner: who });
    const other = await make.agent({ owner: who });
    const alone = await added('A physician visits.', { who, agentId: one.id });
    await served(alone, who);
    const dataTokensOf = async (agentId: string) => {
      const { body } = await who.get('/api/v1/usage');
      return body.aiUsages.find(({ aiId }: { aiId: string }) => aiId === agentId)?.aiDataTokensUsed ?? 0;
    };
    await eventually(async () => expect(await dataTokensOf(one.id)).toBeGreaterThan(0));
    // The agent of the question is charged for it; here only passages are.
    const owners = () => service.deps.storage.knowledge.embeddings?.findSource(alone);
    expect(await owners()).toMatchObject({ agentId: one.id });
    expect((await who.post(`/api/v1/ais/${other.id}/data-sources`, { dataSourceId: alone })).status).toBe(200);
    expect(await owners()).toMatchObject({ agentId: null });
    expect(await dataTokensOf(other.id)).toBe(0);
  });

  it('charges passages and questions as data tokens', async () => {
    const who = await make.person();
    const id = await added('A physician visits.', { who, agentId: (await make.agent({ owner: who })).id });
    await served(id, who);
    const before = await eventually(async () => {
      const used = await usedTokens(who);
      expect(used).toBeGreaterThan(0);
      return used;
    });
    await search([id], 'who is the doctor', who);
    await eventually(async () => expect(await usedTokens(who)).toBeGreaterThan(before));
  });

  it("never finds another organization's passages", async () => {
    const bob = await make.person();
    const id = await added('An airship of gold.');
    await served(id);
    expect((await search([id], 'zeppelin', bob)).passages).toEqual([]);
  });

  it('an item is found by words while its vectors are still made, and says how many are missing', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    meaning.gate = promise;
    const id = await added('The gazebo is closed.');
    expect(await search([id], 'gazebo')).toMatchObject({ passages: [{}], retrieval: { mode: 'lexical', reason: 'not_ready' } });
    expect(await stateOf(id)).toMatchObject({ missingCount: 1, errorCode: null });
    resolve();
    await served(id);
    expect(await stateOf(id)).toMatchObject({ missingCount: 0 });
  });

  it('a refresh makes no vectors for passages that did not change', async () => {
    const id = await added('A ruby passage about nothing.');
    await served(id);
    const askedBefore = meaning.embeddings.length;
    await ann.post(`/api/v1/data-sources/${id}/refresh?forceRefresh=true`);
    await eventually(async () => {
      const rows = await sql(
        `select 1 from knowledge_items i join item_embeddings m on m.item_id = i.id and m.generation = i."liveGeneration"
         where i."dataSourceId" = $1 and i."liveGeneration" > 1`,
        [id],
      );
      expect(rows).toHaveLength(1);
    });
    const asked = meaning.embeddings.slice(askedBefore).flatMap(({ input }) => input);
    expect(asked.filter((text) => text.includes('ruby'))).toEqual([]);
    expect((await search([id], 'ruby')).passages).toHaveLength(1);
  });

  it('429 with Retry-After is waited for, and noted', async () => {
    meaning.faults.push({ status: 429, headers: { 'retry-after': '1' } });
    const id = await added('An emerald passage to buy.');
    await served(id);
    expect((await search([id], 'purchase')).passages).toHaveLength(1);
    expect(await stateOf(id)).toMatchObject({ errorCode: null });
  });

  it('a text that the provider refuses is left without a vector, and the others get theirs', async () => {
    meaning.refusedWord = 'forbidden';
    const id = await added(`# One\n\n${'Something forbidden. '.repeat(150)}\n\n# Two\n\n${'The doctor came. '.repeat(150)}`);
    await served(id);
    expect((await search([id], 'physician')).passages[0]?.text).toContain('doctor');
    expect((await search([id], 'forbidden')).passages[0]).toMatchObject({ scores: { vector: null } });
  });

  it.each([
    ['down', { status: 503 }, 'provider'],
    ['wrong', { status: 401 }, 'provider'],
  ] as const)('a provider that is %s leaves a search by words, with the reason and a count', async (_how, fault, reason) => {
    const id = await added('A lantern shines.');
    await served(id);
    meaning.down = fault;
    expect(await search([id], 'lantern')).toMatchObject({ passages: [{}], retrieval: { mode: 'lexical', reason } });
    expect(await (await fetch(`${service.url}/metrics`)).text()).toMatch(/retrievals_lexical_total\{reason="provider"\} [1-9]/);
  });

  it('a run says why meaning took no part in the word that a search has for it', async () => {
    const who = await make.person();
    const { id: agentId } = await make.agent({ owner: who });
    const id = await added('A lantern shines.', { who, agentId });
    await served(id, who);
    meaning.down = { status: 503 };
    const chat = await make.chat({ owner: who, agentId });
    expect((await who.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'lantern' })).status).toBeLessThan(300);
    const document = '{ runs { nodes { retrieval { mode reason } steps { ... on RetrievalStep { reason } } } } }';
    await eventually(async () => {
      const [run] = (await who.graphql(document)).data.runs.nodes;
      expect(run.retrieval).toEqual({ mode: 'LEXICAL', reason: 'PROVIDER' });
      expect(run.steps).toContainEqual({ reason: 'PROVIDER' });
    });
    expect((await who.get('/api/v1/runs')).body.data[0].retrieval).toMatchObject({ mode: 'lexical', reason: 'provider' });
    expect(printed).toMatch(/type RunRetrieval \{[^}]*reason: LexicalReason\b/);
  });

  it('a deleted source leaves no vector', async () => {
    const id = await added('A short-lived airship.');
    await served(id);
    expect(await vectorsOf(id)).toBe(1);
    expect((await ann.delete(`/api/v1/data-sources/${id}`)).status).toBeLessThan(300);
    await eventually(async () => expect(await vectorsOf(id)).toBe(0));
  });

  it('a used-up limit stops the vectors, says so, and they go on when it is raised', async () => {
    const who = await make.person();
    const { id: agentId } = await make.agent({ owner: who });
    const limit = (tokens: number | null) =>
      service.client().patch(`/api/v1/admin/organizations/${who.orgId}`, { dataUsageTokenLimit: tokens });
    await limit(1);
    const id = await added('The medic is in.', { who, agentId });
    await eventually(async () => {
      const [row] = await sql('select error_code, error_message from source_embeddings where data_source_id = $1', [id]);
      expect(row).toMatchObject({ error_code: 'LIMIT_REACHED', error_message: expect.stringContaining('may use 1 tokens') });
    });
    const vectors = { missingCount: 1, errorCode: 'LIMIT_REACHED', errorMessage: expect.stringContaining('may use 1 tokens') };
    expect((await who.get(`/api/v1/data-sources/${id}`)).body).toMatchObject({ indexStatus: 'INDEXED', vectors });
    const listed = (await who.get(`/api/v1/ais/${agentId}/data-sources`)).body.data;
    expect(listed).toMatchObject([{ id, vectors }]);
    expect((await search([id], 'medic', who)).passages).toHaveLength(1);
    // Nor is one more document, of many times the limit, sent to the provider.
    const asked = meaning.embeddings.length;
    const long = await added('Another remedy stands here. '.repeat(600), { who, agentId });
    await eventually(async () => {
      const [row] = await sql('select error_code from source_embeddings where data_source_id = $1', [long]);
      expect(row).toEqual({ error_code: 'LIMIT_REACHED' });
    });
    expect(meaning.embeddings.slice(asked).filter(({ input }) => input.join().includes('remedy'))).toEqual([]);
    expect(await usedTokens(who)).toBe(0);
    await limit(null);
    await served(id, who);
  });
});

describe.runIf(hasVectors)('another embedding model', () => {
  it('builds its vectors behind those that serve, and replaces them when they are complete', async () => {
    const id = await added('The airship of the director.');
    await served(id);
    const { promise, resolve } = Promise.withResolvers<void>();
    await service.restart({ EMBEDDING_MODEL: 'openai/second' });
    meaning.embeddings.length = 0;
    meaning.dimensions = 48;
    // The vectors of the new model wait; questions are still asked of the first one, with its dimensions.
    meaning.gate = promise;
    await eventually(() => expect(meaning.embeddings.some(({ model }) => model === 'second')).toBe(true));
    meaning.gate = undefined;
    meaning.dimensions = 64;
    expect(await search([id], 'zeppelin')).toMatchObject({ passages: [{}], retrieval: { mode: 'hybrid' } });
    expect(lastQuestion('zeppelin')).toMatchObject({ model: 'first' });
    meaning.dimensions = 48;
    resolve();
    await eventually(async () => {
      const rows = await sql(
        `select s.model from source_embeddings e join embedding_spaces s on s.id = e.serving_space where data_source_id = $1`,
        [id],
      );
      expect(rows).toEqual([{ model: 'openai/second' }]);
    });
    expect(await search([id], 'zeppelin')).toMatchObject({ passages: [{}], retrieval: { mode: 'hybrid' } });
    expect(lastQuestion('zeppelin')).toMatchObject({ model: 'second' });
    await eventually(async () => expect(await vectorsOf(id)).toBe(1));
  });
});

describe.runIf(testServerUrl !== undefined && !hasVectors)('a server without the extension', () => {
  it('searches by words and says so in the result and in /readyz', async () => {
    const id = await added('The heron stands in the water.');
    expect(await search([id], 'heron')).toMatchObject({ passages: [{}], retrieval: { mode: 'lexical', reason: 'no_extension' } });
    const ready = (await (await fetch(`${service.url}/readyz`)).json()) as { status: string; degraded?: string };
    expect(ready.status).toBe('ready');
    expect(ready.degraded).toContain('the database server has no extension "vector"');
  });
});
