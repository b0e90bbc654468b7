import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { loadSettings } from '../../../src/settings.ts';
import { checkSearchIndex } from '../../../src/start/checks/checks.ts';
import { names, toVersion } from '../../../src/storage/knowledge/search-index/opensearch/schema.ts';
import { answersOf, copied, copyOfService } from '../../support/knowledge/copied.ts';
import { addFile, indexed, searchOf } from '../../support/knowledge/knowledge.ts';
import { startOpenSearch } from '../../support/knowledge/opensearch/opensearch.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { startService, withService } from '../../support/service.ts';

const standIn = await startOpenSearch();
const env = { SEARCH_INDEX_URL: standIn.url, SEARCH_INDEX_TIMEOUT_MS: '500', SEARCH_INDEX_COMPARE_EVERY_MS: '200' };
const { service, make } = await withService('plain', { env });

const ann = await make.person();
const agentId = (await make.agent({ owner: ann })).id;
const added = [];
for (let number = 1; number <= 10; number += 1) added.push(await add(`Rule ${number} of the shed: no ladders.`));
const sourceIds = added;
await copied(service);

beforeEach(() => {
  standIn.fault = undefined;
  standIn.distort = undefined;
  standIn.failing.clear();
});
afterAll(() => standIn.close());

async function add(text: string, who = ann, agent = agentId): Promise<string> {
  const { body } = await addFile(who, agent, 'note.txt', text);
  await indexed(who, body.id);
  return body.id;
}
const search = async (question: string, ids = sourceIds) => (await searchOf(service, ann, ids, question)).passages;
const textsOf = async (question: string, ids = sourceIds) => (await search(question, ids)).map(({ text }) => text).sort();
const readyz = async () => (await service.nobody.get('/readyz')).body;

/** Waits until the index itself answers a search. */
function answering(): Promise<void> {
  return eventually(async () => {
    const before = answersOf(service, 'index');
    await search('ladders');
    expect(answersOf(service, 'index')).toBe(before + 1);
  });
}

describe('an OpenSearch that fails', () => {
  it.each([['down'], ['hang'], [503], [401]] as const)(
    '%s: the database answers the same, and the index answers again without a restart',
    async (fault) => {
      await answering();
      const expected = await textsOf('ladders');
      standIn.fault = fault;
      const before = answersOf(service, 'failing');
      expect(await textsOf('ladders')).toEqual(expected);
      expect(answersOf(service, 'failing')).toBe(before + 1);
      expect(await readyz()).toMatchObject({
        status: 'ready',
        degraded: expect.stringContaining('The database answers searches'),
      });
      standIn.fault = undefined;
      await answering();
      expect((await readyz()).degraded).toBeUndefined();
    },
  );

  it('does not delay indexing: what it has not got yet is found beside it', async () => {
    await answering();
    standIn.failing.add('bulk');
    const id = await add('A marmalade stands in the cellar.');
    const before = answersOf(service, 'index');
    expect(await textsOf('marmalade ladders', [id, ...sourceIds])).toContain('A marmalade stands in the cellar.');
    expect(answersOf(service, 'index')).toBe(before + 1);
    expect((await service.deps.storage.knowledge.searchIndex.changes.lag()).items).toBe(1);
    standIn.failing.clear();
    await copied(service);
    expect(await textsOf('marmalade', [id])).toEqual(['A marmalade stands in the cellar.']);
  });
});

describe('an index that is not true', () => {
  it('hits that are gone make no page short', async () => {
    await answering();
    const expected = await textsOf('ladders');
    const stale = Array.from({ length: 80 }, (_, index) => ({
      _id: `${900_000 + index}`,
      _score: 99,
      _source: { item: 'ki_gone', generation: 1 },
    }));
    const sizes: number[] = [];
    standIn.distort = (operation, answer) => {
      if (operation !== 'msearch') return answer;
      const { responses } = answer as { responses: { hits: { hits: object[] } }[] };
      sizes.push(...responses.map(({ hits }) => hits.hits.length));
      return { responses: responses.map((response) => ({ ...response, hits: { hits: [...stale, ...response.hits.hits] } })) };
    };
    expect(await textsOf('ladders')).toEqual(expected);
    expect(sizes.length).toBe(2);
  });

  it('shows nothing of another organization, whatever it claims', async () => {
    const stranger = await make.person();
    const secret = await add('The secret ladders of a stranger.', stranger, (await make.agent({ owner: stranger })).id);
    await copied(service);
    const index = standIn.indexes.values().toArray()[0];
    const documents = [...(index?.documents.values() ?? [])];
    const theirs = documents.filter(({ fields }) => fields.source === secret);
    const mine = documents.find(({ fields }) => sourceIds.includes(String(fields.source)));
    expect(theirs).toHaveLength(1);
    standIn.distort = (operation, answer) => {
      if (operation !== 'msearch') return answer;
      const { item, generation } = mine?.fields ?? {};
      const hits = theirs.map(({ id }) => ({ _id: id, _score: 99, _source: { item, generation } }));
      return { responses: [{ timed_out: false, _shards: { failed: 0 }, hits: { hits } }] };
    };
    expect(await search('ladders')).toEqual([]);
    expect(await search('ladders', [secret])).toEqual([]);
  });

  it('is corrected: passages that it lost come back, and those of items that are gone leave it', async () => {
    const index = standIn.indexes.values().toArray()[0];
    const [lost] = index?.documents.values() ?? [];
    if (index === undefined || lost === undefined) throw new Error('there is an index with documents');
    index.documents.delete(lost.id);
    const orphan = { ...lost.fields, item: 'ki_00000000000000000000000000' };
    index.put('999999', 1, orphan);
    index.refresh();
    await eventually(() => {
      expect(index.documents.has(lost.id)).toBe(true);
      expect(index.documents.has('999999')).toBe(false);
    });
  });

  it('is built anew when it is gone', async () => {
    const expected = await textsOf('ladders');
    for (const name of standIn.indexes.keys()) standIn.lose(name);
    expect(await textsOf('ladders')).toEqual(expected);
    const id = await add('A new index is filled.');
    await copied(service);
    await answering();
    expect(standIn.indexes.size).toBe(1);
    expect(await textsOf('ladders')).toEqual(expected);
    expect(await textsOf('index', [id])).toHaveLength(1);
  });
});

describe('building anew', () => {
  it('swaps a complete index in, and deletes the one before', async () => {
    await copied(service);
    const [before] = standIn.indexes.keys();
    const progress: number[] = [];
    const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 50));
    await copyOfService(service).rebuild((done) => void progress.push(done), pause, AbortSignal.timeout(60_000));
    await eventually(() => expect([...standIn.indexes.keys()]).not.toContain(before));
    await copied(service);
    await answering();
    expect(standIn.indexes.size).toBe(1);
  });

  it('goes on where a killed process stopped', async () => {
    const { states } = service.deps.storage.knowledge.searchIndex;
    const { openSearch } = copyOfService(service);
    const name = names.index(openSearch.prefix, toVersion(false), 'begun');
    const lease = await eventually(async () => {
      const taken = await states.take('a process that is killed', 1_000);
      if (taken === undefined) throw new Error('another process has the lease');
      return taken;
    });
    await openSearch.create(name, toVersion(false), 1);
    await states.begin(lease, name, toVersion(false));
    await states.advance(lease, { cursor: 'ki_', items: 0, passages: 0 });
    await eventually(async () =>
      expect(await states.read()).toMatchObject({ serving: name, building: null, itemsDone: expect.any(Number) }),
    );
    await copied(service);
    expect([...standIn.indexes.keys()]).toEqual([name]);
    expect(await search('ladders')).toHaveLength(8);
  });

  it('begins when the setting was taken away and is back: nothing of the time between is missing', async () => {
    await service.restart({ SEARCH_INDEX_URL: '' });
    expect(await service.deps.storage.knowledge.searchIndex.states.read()).toBeUndefined();
    const id = await add('A document about marzipan.');
    await service.restart({ SEARCH_INDEX_URL: standIn.url });
    await copied(service);
    await answering();
    expect(await textsOf('marzipan', [id])).toHaveLength(1);
    const before = answersOf(service, 'index');
    expect(await search('ladders')).toHaveLength(8);
    expect(answersOf(service, 'index')).toBe(before + 1);
  });
});

describe('a bad SEARCH_INDEX_URL', () => {
  const check = (more: Readonly<Record<string, string>> = {}) =>
    checkSearchIndex(loadSettings({ SEARCH_INDEX_URL: standIn.url, ...more }));
  const info = standIn.info;
  beforeEach(() => Object.assign(standIn, { info, plugins: ['opensearch-knn'] }));

  it('a good one is good', async () => {
    expect(await check()).toMatchObject([{ level: 'good' }]);
    expect(await check({ EMBEDDING_MODEL: 'openai/first', OPENAI_API_KEY: 'x' })).toMatchObject([{ level: 'good' }]);
  });

  it.each([
    ['a wrong password', () => check({ SEARCH_INDEX_URL: standIn.wrongUrl }), 'the user or the password is wrong'],
    [
      'something else',
      () => check(Object.assign(standIn, { info: { hello: 'world' } }) && {}),
      'what answers there is no OpenSearch',
    ],
    [
      'an old one',
      () => check(Object.assign(standIn, { info: { version: { distribution: 'opensearch', number: '1.3.2' } } }) && {}),
      '2.4 is the oldest',
    ],
    [
      'one without k-NN where vectors are wanted',
      () => check({ EMBEDDING_MODEL: Object.assign(standIn, { plugins: [] }) && 'openai/first', OPENAI_API_KEY: 'x' }),
      'it has no plugin opensearch-knn',
    ],
  ])('is named by doctor: %s', async (_name, findings, message) => {
    expect(await findings()).toMatchObject([{ level: 'wrong', message: expect.stringContaining(message) }]);
  });

  it('is only a warning where nothing answers', async () => {
    expect(await check({ SEARCH_INDEX_URL: 'http://127.0.0.1:9/parley' })).toMatchObject([{ level: 'warning' }]);
  });

  it('refuses the start where it can never be used, and none where nothing answers', async () => {
    await service.restart({ SEARCH_INDEX_URL: 'http://127.0.0.1:9/parley' });
    expect(await search('ladders')).toHaveLength(8);
    expect((await readyz()).degraded).toContain('The database answers searches');
    await expect(startService({ env: { SEARCH_INDEX_URL: standIn.wrongUrl } })).rejects.toThrow(
      /SEARCH_INDEX_URL cannot be used: it answered 401/,
    );
  });
});
