import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answersOf, copied, copyOfService } from '../../../support/knowledge/copied.ts';
import { startMeaningServer } from '../../../support/knowledge/embedding-server.ts';
import { addFile, indexed, searchOf } from '../../../support/knowledge/knowledge.ts';
import { startOpenSearch } from '../../../support/knowledge/opensearch/opensearch.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { type TestService, withService } from '../../../support/service.ts';

const meaning = await startMeaningServer();
const standIn = await startOpenSearch();
const env = { OPENAI_BASE_URL: meaning.url, MODEL_RETRIES_MAX: '0', RETRIEVAL_EMBEDDING_TIMEOUT_MS: '60000' };
const byMeaning = { ...env, EMBEDDING_MODEL: 'openai/first' };
const index = { SEARCH_INDEX_URL: standIn.url, SEARCH_INDEX_TIMEOUT_MS: '30000' };
const database = await withService('plain', { env: byMeaning });
const copy = await withService('plain', { env: { ...byMeaning, ...index } });
const hasVectors = copy.service.deps.storage.knowledge.embeddings !== undefined;

afterAll(async () => {
  await meaning.close();
  await standIn.close();
});

const texts = {
  'puncture.txt': 'A puncture repair costs fifteen euros. The puncture is found under water.',
  'chain.txt': 'A chain is mended on Saturdays. The repair of a chain costs nine euros.',
  'airship.txt': 'The airship stands behind the house and is repaired there in the long winter months by two mechanics.',
  'deposit.txt': 'The deposit is one hundred euros, and is paid back.',
};

describe.each([
  ['the database', database],
  ['a copy at an OpenSearch', copy],
] as const)('searching by %s', (_name, { service, make }) => {
  let ann: Person;
  let stranger: Person;
  let agentId: string;
  let ids: Readonly<Record<string, string>>;
  const isCopy = service === copy.service;

  /** Asks once everything is where it is searched, and holds that the copy itself answered. */
  async function search(question: string, sourceIds: readonly string[] = Object.values(ids), who = ann) {
    if (isCopy) await copied(service);
    const before = isCopy ? answersOf(service, 'index') : 0;
    const found = await searchOf(service, who, sourceIds, question);
    const isAsked = isCopy && sourceIds.length > 0;
    if (isAsked) expect(answersOf(service, 'index')).toBe(before + 1);
    return found.passages;
  }
  const first = (passages: readonly { readonly text: string }[]) => passages[0]?.text;

  beforeAll(async () => {
    ann = await make.person();
    stranger = await make.person();
    agentId = (await make.agent({ owner: ann })).id;
    ids = await addAll(service, ann, agentId);
    const other = (await make.agent({ owner: stranger })).id;
    await addAll(service, stranger, other);
    if (hasVectors) await served(service, ann, Object.values(ids));
  });

  it('finds words by their stems, the rarest first', async () => {
    expect(first(await search('repairing punctures'))).toBe(texts['puncture.txt']);
    expect(first(await search('mend the chain'))).toBe(texts['chain.txt']);
  });

  it('finds a word that is misspelled', async () => {
    expect(first(await search('the depossit'))).toBe(texts['deposit.txt']);
  });

  it('finds nothing of another organization, though it has the same words', async () => {
    const passages = await search('puncture repair');
    expect(passages.length).toBeGreaterThan(0);
    expect(passages.filter(({ dataSourceId }) => !Object.values(ids).includes(dataSourceId))).toEqual([]);
    expect(await search('puncture repair', Object.values(ids), stranger)).toEqual([]);
  });

  it('searches the given sources only', async () => {
    const passages = await search('euros', [ids['deposit.txt'] ?? '']);
    expect(passages.map(({ text }) => text)).toEqual([texts['deposit.txt']]);
  });

  it('holds filters of items', async () => {
    const found = async (filters: object) => {
      if (isCopy) await copied(service);
      const body = { dataSourceIds: Object.values(ids), query: 'deposit', filters };
      return (await ann.post('/api/v1/search', body)).body.data.map(({ title }: { title: string }) => title);
    };
    expect(await found({ mimeTypes: ['text/plain'] })).toContain('deposit.txt');
    expect(await found({ mimeTypes: ['application/pdf'] })).toEqual([]);
  });

  it.runIf(hasVectors)('finds by meaning what has no word of the question', async () => {
    const [best] = await search('zeppelin');
    expect(best).toMatchObject({ text: texts['airship.txt'], scores: { lexical: null, vector: expect.any(Number) } });
    expect(best?.scores.vector).toBeGreaterThan(0);
  });

  it('finds what was added a moment ago', async () => {
    const { body } = await addFile(ann, agentId, 'late.txt', 'The marmalade is in the cellar.');
    await indexed(ann, body.id);
    const { passages } = await searchOf(service, ann, [body.id], 'marmalade');
    expect(first(passages)).toBe('The marmalade is in the cellar.');
    expect(first(await search('marmalade', [body.id]))).toBe('The marmalade is in the cellar.');
  });

  it('finds the new generation of a document, and its old one no more', async () => {
    const source = await make.apiDataSource({ owner: ann, agentId, name: 'Hours', data: { monday: 'opens with trombones' } });
    await indexed(ann, source.id);
    const [before] = await search('trombones', [source.id]);
    await ann.post(`/api/v1/data-sources/${source.id}/refresh?forceRefresh=true`);
    await eventually(async () => {
      const { passages } = await searchOf(service, ann, [source.id], 'trombones');
      expect(passages).toMatchObject([{ chunkIds: [expect.not.stringMatching(before?.chunkId ?? 'none')] }]);
    });
    expect(await search('trombones', [source.id])).toHaveLength(1);
    if (isCopy) expect(documentsOf(source.id)).toHaveLength(1);
  });

  it('finds nothing of a document or source that was deleted', async () => {
    const { body } = await addFile(ann, agentId, 'gone.txt', 'The xylophone is out of tune.');
    await indexed(ann, body.id);
    expect(await search('xylophone', [body.id])).toHaveLength(1);
    await ann.delete(`/api/v1/data-sources/${body.id}`);
    expect((await searchOf(service, ann, [body.id], 'xylophone')).passages).toEqual([]);
    // The deletion is a job, and what it deletes is told to the index afterwards.
    if (isCopy) await eventually(() => expect(documentsOf(body.id)).toEqual([]));
  });
});

function documentsOf(sourceId: string) {
  const [only] = standIn.indexes.values();
  return [...(only?.documents.values() ?? [])].filter(({ fields }) => fields.source === sourceId);
}

describe('the copy', () => {
  it('ranks as the database does, with the same scores', async () => {
    const [one, other] = await Promise.all([database, copy].map(withTexts));
    if (one === undefined || other === undefined) throw new Error('two services are compared');
    await copied(copy.service);
    for (const question of [
      'puncture repair',
      'euros',
      'costs of a chain',
      'house in winter',
      'deposits',
      'what is found under water?',
    ]) {
      const [expected, found] = await Promise.all(
        [one, other].map(({ service, who, ids }) => searchOf(service, who, ids, question)),
      );
      const scored = (result: typeof found) =>
        (result?.passages ?? [])
          .flatMap(({ text, scores: { lexical } }) => (lexical === null ? [] : [{ text, score: lexical }]))
          .sort((a, b) => b.score - a.score);
      expect(scored(found).map(({ text }) => text)).toEqual(scored(expected).map(({ text }) => text));
      // The average length is that of all passages in the copy, and that of the searched sources in the database.
      for (const [place, { score }] of scored(found).entries()) {
        const exact = scored(expected)[place]?.score ?? 0;
        expect(Math.abs(score - exact)).toBeLessThan(0.15 * exact + 0.001);
      }
    }
  });

  it('has every passage when it is built anew, of documents with more passages than a request takes and with one', async () => {
    const { service, make } = copy;
    const ann = await make.person();
    const agentId = (await make.agent({ owner: ann })).id;
    const sections = Array.from({ length: 530 }, (_, n) => `# Room ${n}\n\nA lamp stands in room ${n}.`).join('\n\n');
    const files = { 'one.md': 'A lamp in the hall.', 'large.md': sections, 'other.md': 'A lamp in the attic.' };
    const ids: string[] = [];
    for (const [name, text] of Object.entries(files)) {
      const { body } = await addFile(ann, agentId, name, text, 'text/markdown');
      await indexed(ann, body.id);
      ids.push(body.id);
    }
    await copied(service);
    const before = new Set(standIn.indexes.keys());
    await copyOfService(service).rebuild(() => undefined, wait, AbortSignal.timeout(60_000));
    await copied(service);
    expect([...standIn.indexes.keys()].filter((name) => before.has(name))).toEqual([]);
    const rows = await service.deps.storage.db.query<{ id: string }>(
      'SELECT id::text FROM chunks WHERE data_source_id = ANY($1::text[]) ORDER BY chunks.id',
      [ids],
    );
    expect(rows.length).toBeGreaterThan(530);
    const found = ids.flatMap(documentsOf);
    expect(found.map(({ id }) => id).toSorted((a, b) => Number(a) - Number(b))).toEqual(rows.map(({ id }) => id));
    expect(found.filter(({ fields }) => !String(fields.words).includes('english lamp'))).toEqual([]);
  });

  it('asks for nothing that the specification of OpenSearch does not have', () => {
    // The copy gets a field for vectors with the first of them; until then the database answers.
    expect(standIn.refused.filter((refusal) => !refusal.includes('failed to find field [vector_'))).toEqual([]);
    const used = ['indices.create', 'indices.update_aliases', 'bulk', 'msearch', 'delete_by_query'];
    expect(used.filter((operation) => !standIn.served.includes(operation))).toEqual([]);
  });
});

async function withTexts({ service, make }: typeof copy) {
  const who = await make.person();
  const agent = await make.agent({ owner: who });
  return { service, who, ids: Object.values(await addAll(service, who, agent.id)) };
}

async function addAll(_service: TestService, who: Person, agentId: string): Promise<Readonly<Record<string, string>>> {
  const ids: Record<string, string> = {};
  for (const [name, text] of Object.entries(texts)) {
    const { body } = await addFile(who, agentId, name, text);
    await indexed(who, body.id);
    ids[name] = body.id;
  }
  return ids;
}

function served(service: TestService, who: Person, ids: readonly string[]): Promise<void> {
  return eventually(async () => {
    const { retrieval, passages } = await searchOf(service, who, ids, 'anything');
    expect(retrieval).toMatchObject({ mode: 'hybrid', reason: null });
    // By meaning alone: each of them has its vector.
    expect(new Set(passages.map(({ dataSourceId }) => dataSourceId))).toEqual(new Set(ids));
  });
}
