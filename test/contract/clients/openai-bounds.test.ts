import OpenAI, { toFile } from 'openai';
import { describe, expect, it } from 'vitest';
import { expireFiles } from '../../../src/domain/conversations/files/files.ts';
import { expireVectorStores } from '../../../src/domain/knowledge/vector-stores/detach.ts';
import { withService } from '../../support/service.ts';

/** Expiry, limits and access of what stock clients keep, with the openai package. Nothing is indexed: jobs run only where a test runs them. */
const limits = { UPLOAD_MAX_BYTES: 2_000, CHAT_FILE_MAX_BYTES: 1_000, VECTOR_STORE_FILES_MAX: 3 };
const env = Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, String(value)]));
const { service, make } = await withService('web', { env });
const of = (key: string) => new OpenAI({ baseURL: `${service.url}/v1`, apiKey: key, maxRetries: 0 });
const ann = await make.person();
const client = of(ann.key);

const soon = () => AbortSignal.timeout(60_000);
const sql = (text: string, ...values: unknown[]) => service.deps.storage.db.pool.query(text, values);
const text = (content = 'Good.') => toFile(Buffer.from(content), 'note.txt', { type: 'text/plain' });
const upload = async (members: Partial<OpenAI.FileCreateParams> = {}) =>
  client.files.create({ file: await text(), purpose: 'assistants', ...members });
const idsOf = async <Row extends { readonly id: string }>(page: PromiseLike<{ readonly data: readonly Row[] }>) =>
  (await page).data.map(({ id }) => id);

it('attributes of a file have texts of at most 512 characters', async () => {
  const { id } = await upload();
  const store = await client.vectorStores.create({});
  const attach = (length: number) =>
    client.vectorStores.files.create(store.id, { file_id: id, attributes: { team: 'x'.repeat(length) } });
  await expect(attach(513)).rejects.toMatchObject({ status: 400, param: 'attributes.team' });
  expect((await attach(512)).attributes?.team).toHaveLength(512);
});

describe('a file that expires', () => {
  const expires_after = { anchor: 'created_at' as const, seconds: 3_600 };

  it('is there until then, and says when', async () => {
    const file = await upload({ expires_after });
    expect(file.expires_at).toBe(file.created_at + 3_600);
    await expireFiles(service.deps, soon());
    expect(await client.files.retrieve(file.id)).toEqual(file);
    expect((await upload()).expires_at ?? null).toBeNull();
  });

  it('is gone from then on: for reading, for lists, for responses and for stores', async () => {
    const file = await upload({ expires_after });
    const lasting = await upload();
    const store = await client.vectorStores.create({ file_ids: [file.id, lasting.id] });
    const batch = await client.vectorStores.fileBatches.create(store.id, { file_ids: [file.id, lasting.id] });
    const { rows } = await sql(`update files set "expiresAt" = now() where id = $1 returning "blobKey"`, file.id);
    await expect(client.files.retrieve(file.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(client.files.content(file.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(client.files.delete(file.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    expect(await idsOf(client.files.list())).not.toContain(file.id);
    const content = [{ type: 'input_file' as const, file_id: file.id }];
    await expect(client.responses.create({ input: [{ role: 'user', content }] })).rejects.toMatchObject({ status: 400 });
    await expect(client.vectorStores.create({ file_ids: [file.id] })).rejects.toMatchObject({
      status: 400,
      param: 'file_ids[0]',
    });
    await expireFiles(service.deps, soon());
    await expect(service.deps.storage.blobs.read(rows[0].blobKey)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await idsOf(client.vectorStores.files.list(store.id))).toEqual([lasting.id]);
    const left = await client.vectorStores.fileBatches.retrieve(batch.id, { vector_store_id: store.id });
    expect(left.file_counts.total).toBe(1);
    expect(await client.files.retrieve(lasting.id)).toMatchObject({ id: lasting.id });
  });

  it('expires in an hour at the earliest and in 30 days at the latest', async () => {
    for (const seconds of [3_599, 2_592_001]) {
      const refused = upload({ expires_after: { anchor: 'created_at', seconds } });
      await expect(refused).rejects.toMatchObject({ status: 400, message: expect.stringContaining('from 3600 to 2592000') });
    }
    await expect(upload({ expires_after: { anchor: 'other' as 'created_at', seconds: 3_600 } })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('created_at'),
    });
    const longest = await upload({ expires_after: { anchor: 'created_at', seconds: 2_592_000 } });
    expect(longest.expires_at).toBe(longest.created_at + 2_592_000);
  });
});

describe('a vector store that expires', () => {
  const expires_after = { anchor: 'last_active_at' as const, days: 1 };
  const dayS = 86_400;

  it('loses its files and keeps its row, until its expiry is changed', async () => {
    const file = await upload();
    const store = await client.vectorStores.create({ file_ids: [file.id], expires_after });
    expect(store).toMatchObject({ status: 'in_progress', expires_after, file_counts: { total: 1 } });
    expect(store.expires_at).toBe(store.created_at + dayS);
    await expireVectorStores(service.deps, soon());
    expect((await client.vectorStores.retrieve(store.id)).file_counts.total).toBe(1);
    await sql(`update vector_stores set "expiresAt" = now() where "dataSourceId" = $1`, store.id);
    expect((await client.vectorStores.retrieve(store.id)).status).toBe('expired');
    expect((await client.vectorStores.search(store.id, { query: 'Good' })).data).toEqual([]);
    await expect(client.vectorStores.files.create(store.id, { file_id: file.id })).rejects.toMatchObject({ status: 409 });
    await expect(client.vectorStores.fileBatches.create(store.id, { file_ids: [file.id] })).rejects.toMatchObject({
      status: 409,
    });
    await expireVectorStores(service.deps, soon());
    expect(await client.vectorStores.retrieve(store.id)).toMatchObject({ status: 'expired', file_counts: { total: 0 } });
    expect(await client.files.retrieve(file.id)).toMatchObject({ id: file.id });
    const revived = await client.vectorStores.update(store.id, { expires_after: null });
    expect(revived).toMatchObject({ status: 'completed' });
    expect(revived.expires_at ?? null).toBeNull();
    expect(await client.vectorStores.files.create(store.id, { file_id: file.id })).toMatchObject({ id: file.id });
  });

  it('lives on while it is searched and changed', async () => {
    const store = await client.vectorStores.create({ expires_after });
    const age = () =>
      sql(
        `update vector_stores set "lastActiveAt" = now() - interval '23 hours', "expiresAt" = now() + interval '1 hour' where "dataSourceId" = $1`,
        store.id,
      );
    const uses: readonly (() => PromiseLike<unknown>)[] = [
      () => client.vectorStores.search(store.id, { query: 'Good' }),
      () => client.vectorStores.update(store.id, { name: 'Used' }),
      async () => client.vectorStores.files.create(store.id, { file_id: (await upload()).id }),
      async () => client.vectorStores.fileBatches.create(store.id, { file_ids: [(await upload()).id] }),
    ];
    for (const use of uses) {
      await age();
      await use();
      const { last_active_at: last, expires_at: expires } = await client.vectorStores.retrieve(store.id);
      expect(last).toBeGreaterThan(Date.now() / 1000 - 3_600);
      expect(expires).toBe((last ?? 0) + dayS);
    }
    await age();
    await client.vectorStores.retrieve(store.id);
    const { expires_at: expires } = await client.vectorStores.retrieve(store.id);
    expect(expires).toBeLessThan(Date.now() / 1000 + 2 * 3_600);
  });
});

describe('a limit', () => {
  it('of the size of a file is exact, and that of its purpose', async () => {
    const { UPLOAD_MAX_BYTES, CHAT_FILE_MAX_BYTES } = limits;
    const sized = async (bytes: number, purpose: 'assistants' | 'user_data') =>
      client.files.create({ file: await text('x'.repeat(bytes)), purpose });
    expect(await sized(UPLOAD_MAX_BYTES, 'assistants')).toMatchObject({ bytes: UPLOAD_MAX_BYTES });
    expect(await sized(CHAT_FILE_MAX_BYTES, 'user_data')).toMatchObject({ bytes: CHAT_FILE_MAX_BYTES });
    await expect(sized(UPLOAD_MAX_BYTES + 1, 'assistants')).rejects.toMatchObject({ status: 413 });
    await expect(sized(CHAT_FILE_MAX_BYTES + 1, 'user_data')).rejects.toMatchObject({ status: 413 });
    await expect(sized(0, 'user_data')).rejects.toMatchObject({ status: 400, param: 'file' });
  });

  it('of the files of a store holds for single files, for batches, and for both at once', async () => {
    const { id } = await client.vectorStores.create({});
    const made = [];
    for (let count = 0; count <= limits.VECTOR_STORE_FILES_MAX; count += 1) made.push((await upload()).id);
    const [first = '', ...others] = made;
    await expect(client.vectorStores.fileBatches.create(id, { file_ids: made })).rejects.toMatchObject({ status: 409 });
    expect(await idsOf(client.vectorStores.files.list(id))).toEqual([]);
    await client.vectorStores.fileBatches.create(id, { file_ids: others });
    await expect(client.vectorStores.files.create(id, { file_id: first })).rejects.toMatchObject({ status: 409 });
    await expect(client.vectorStores.fileBatches.create(id, { file_ids: [first] })).rejects.toMatchObject({ status: 409 });
    // Files that are attached already need no further place.
    const again = await client.vectorStores.fileBatches.create(id, { file_ids: others });
    expect(again.file_counts.total).toBe(limits.VECTOR_STORE_FILES_MAX);
    const other = await client.vectorStores.create({});
    const asked = await Promise.allSettled([
      ...made.map((file_id) => client.vectorStores.files.create(other.id, { file_id })),
      client.vectorStores.fileBatches.create(other.id, { file_ids: made.slice(1) }),
    ]);
    for (const end of asked) if (end.status === 'rejected') expect(end.reason).toMatchObject({ status: 409 });
    const held = (await client.vectorStores.retrieve(other.id)).file_counts.total;
    expect(held).toBe(limits.VECTOR_STORE_FILES_MAX);
  });

  it('of the bytes that one request copies is checked before they are copied', async () => {
    const { UPLOAD_MAX_BYTES } = limits;
    const { id } = await client.vectorStores.create({});
    const large = await Promise.all(
      Array.from({ length: 21 }, async () =>
        client.files.create({ file: await text('x'.repeat(UPLOAD_MAX_BYTES)), purpose: 'assistants' }),
      ),
    );
    const file_ids = large.map((file) => file.id);
    const refused = client.vectorStores.fileBatches.create(id, { file_ids });
    await expect(refused).rejects.toMatchObject({
      status: 413,
      message: expect.stringContaining(`${20 * UPLOAD_MAX_BYTES} bytes`),
    });
  });

  it.each<[string, OpenAI.VectorStoreCreateParams, string]>([
    ['a long name', { name: 'x'.repeat(201) }, 'name'],
    ['a long description', { description: 'x'.repeat(2_001) }, 'description'],
    ['101 files', { file_ids: Array.from({ length: 101 }, (_, n) => `file_${n}`) }, 'file_ids'],
    [
      '17 members of metadata',
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`m${n}`, 'x'])) },
      'metadata',
    ],
    ['no days', { expires_after: { anchor: 'last_active_at', days: 0 } }, 'expires_after.days'],
    ['366 days', { expires_after: { anchor: 'last_active_at', days: 366 } }, 'expires_after.days'],
    ['another anchor', { expires_after: { anchor: 'created_at' as 'last_active_at', days: 1 } }, 'expires_after.anchor'],
  ])('of a store refuses %s', async (_case, body, param) => {
    await expect(client.vectorStores.create(body)).rejects.toMatchObject({ status: 400, param });
  });

  it.each<[string, Partial<OpenAI.VectorStoreSearchParams>, string]>([
    ['no query', { query: '' }, 'query'],
    ['a long query', { query: 'x'.repeat(8_001) }, 'query'],
    ['eleven queries', { query: Array.from({ length: 11 }, () => 'x') }, 'query'],
    ['no results', { max_num_results: 0 }, 'max_num_results'],
    ['51 results', { max_num_results: 51 }, 'max_num_results'],
    ['a threshold above 1', { ranking_options: { score_threshold: 1.1 } }, 'ranking_options.score_threshold'],
    ['a rewritten query', { rewrite_query: true }, 'rewrite_query'],
    ['an unknown comparison', { filters: { type: 'like' as 'eq', key: 'a', value: 1 } }, 'filters.type'],
    ['no filters to join', { filters: { type: 'and', filters: [] } }, 'filters.filters'],
    [
      '51 filters to join',
      { filters: { type: 'or', filters: Array.from({ length: 51 }, () => ({ type: 'eq' as const, key: 'a', value: 1 })) } },
      'filters.filters',
    ],
    ['an object as value', { filters: { type: 'eq', key: 'a', value: {} as string } }, 'filters.value'],
  ])('of a search refuses %s', async (_case, members, param) => {
    const { id } = await client.vectorStores.create({});
    await expect(client.vectorStores.search(id, { query: 'x', ...members })).rejects.toMatchObject({ status: 400, param });
  });

  it('of a filter is 500 comparisons, however they are joined', async () => {
    const { id } = await client.vectorStores.create({});
    const compare = { type: 'eq' as const, key: 'a', value: 1 };
    const many = (count: number) => ({ type: 'or' as const, filters: Array.from({ length: count }, () => compare) });
    const joined = (count: number) => ({ type: 'and' as const, filters: Array.from({ length: count }, () => many(50)) as never });
    expect(await client.vectorStores.search(id, { query: 'x', filters: joined(10) })).toMatchObject({ data: [] });
    const refused = client.vectorStores.search(id, { query: 'x', filters: joined(11) });
    await expect(refused).rejects.toMatchObject({ status: 400, param: 'filters' });
  });

  it('of a page is from 1 on, and says up to what', async () => {
    const store = await client.vectorStores.create({ file_ids: [(await upload()).id] });
    const vector_store_id = store.id;
    const batch = await client.vectorStores.fileBatches.create(store.id, { file_ids: [(await upload()).id] });
    const { id: conversation } = await client.conversations.create({ items: [{ role: 'user', content: 'Hi', type: 'message' }] });
    const lists: readonly (readonly [string, number, (limit: number) => PromiseLike<unknown>])[] = [
      ['files', 10_000, (limit) => client.files.list({ limit })],
      ['stores', 100, (limit) => client.vectorStores.list({ limit })],
      ['files of a store', 100, (limit) => client.vectorStores.files.list(store.id, { limit })],
      ['files of a batch', 100, (limit) => client.vectorStores.fileBatches.listFiles(batch.id, { vector_store_id, limit })],
      ['items', 100, (limit) => client.conversations.items.list(conversation, { limit })],
    ];
    for (const [name, most, list] of lists) {
      await expect(list(0), name).rejects.toMatchObject({ status: 400, param: 'limit' });
      await expect(list(most + 1), name).rejects.toMatchObject({
        status: 400,
        param: 'limit',
        message: expect.stringContaining(`${most}`),
      });
      expect(await list(most), name).toMatchObject({ data: expect.any(Array) });
    }
    await expect(client.files.list({ after: 'file_none' })).rejects.toMatchObject({ status: 400, param: 'after' });
  });
});

describe('cancelling a batch', () => {
  it('stops the files that wait, and leaves the others', async () => {
    const [done, waiting, other] = [await upload(), await upload(), await upload()];
    const store = await client.vectorStores.create({ file_ids: [other.id] });
    const vector_store_id = store.id;
    const batch = await client.vectorStores.fileBatches.create(store.id, { file_ids: [done.id, waiting.id] });
    expect(batch).toMatchObject({ status: 'in_progress', file_counts: { in_progress: 2, total: 2 } });
    const itemOf = async (id: string) => (await service.deps.storage.knowledge.vectorStores.findFile(store.id, id))?.itemId ?? '';
    await sql(`update knowledge_items set "indexStatus" = 'INDEXED', "liveGeneration" = 1 where id = $1`, await itemOf(done.id));
    const cancelled = await client.vectorStores.fileBatches.cancel(batch.id, { vector_store_id });
    expect(cancelled).toMatchObject({
      status: 'cancelled',
      file_counts: { completed: 1, cancelled: 1, in_progress: 0, total: 2 },
    });
    expect((await client.vectorStores.files.retrieve(waiting.id, { vector_store_id })).status).toBe('cancelled');
    expect((await client.vectorStores.files.retrieve(other.id, { vector_store_id })).status).toBe('in_progress');
    expect(await client.vectorStores.fileBatches.cancel(batch.id, { vector_store_id })).toEqual(cancelled);
    // Whoever takes the job of a cancelled file does not index it.
    const taken = await service.deps.storage.knowledge.indexing.take(await itemOf(waiting.id), 'worker', 60_000);
    expect(taken).toMatchObject({ isBusy: false });
  });

  it('takes the lease from who indexes', async () => {
    const {
      leases,
      knowledge: { indexing, vectorStores },
    } = service.deps.storage;
    const file = await upload();
    const store = await client.vectorStores.create({});
    const vector_store_id = store.id;
    const batch = await client.vectorStores.fileBatches.create(store.id, { file_ids: [file.id] });
    const itemId = (await vectorStores.findFile(store.id, file.id))?.itemId ?? '';
    const lease = await indexing.take(itemId, 'worker', 60_000);
    if (lease === undefined || !('fence' in lease)) throw new Error('the item is not queued');
    await client.vectorStores.fileBatches.cancel(batch.id, { vector_store_id });
    await expect(leases.renew('item', lease, 60_000)).rejects.toThrow(/lease/);
    expect((await client.vectorStores.files.retrieve(file.id, { vector_store_id })).status).toBe('cancelled');
  });

  it('leaves one that is over as it is', async () => {
    const file = await upload();
    const store = await client.vectorStores.create({});
    const vector_store_id = store.id;
    const batch = await client.vectorStores.fileBatches.create(store.id, { file_ids: [file.id] });
    await sql(`update knowledge_items set "indexStatus" = 'INDEXED', "liveGeneration" = 1 where "dataSourceId" = $1`, store.id);
    expect(await client.vectorStores.fileBatches.cancel(batch.id, { vector_store_id })).toMatchObject({ status: 'completed' });
  });
});

describe('deleting', () => {
  it('a file takes it out of all stores; a store leaves its files', async () => {
    const file = await upload();
    const stores = [
      await client.vectorStores.create({ file_ids: [file.id] }),
      await client.vectorStores.create({ file_ids: [file.id] }),
    ];
    const [one = '', other = ''] = stores.map(({ id }) => id);
    const batch = await client.vectorStores.fileBatches.create(other, { file_ids: [file.id] });
    expect(await client.vectorStores.delete(one)).toEqual({ id: one, object: 'vector_store.deleted', deleted: true });
    expect(await client.files.retrieve(file.id)).toMatchObject({ id: file.id });
    await expect(client.vectorStores.retrieve(one)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(client.vectorStores.fileBatches.retrieve(batch.id, { vector_store_id: one })).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: 'file', deleted: true });
    expect(await client.vectorStores.retrieve(other)).toMatchObject({ file_counts: { total: 0 } });
    const left = await client.vectorStores.fileBatches.listFiles(batch.id, { vector_store_id: other });
    expect(left.data).toEqual([]);
    await expect(client.vectorStores.files.content(file.id, { vector_store_id: other })).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    );
  });

  it('a file out of a store leaves the file, and it can be attached anew', async () => {
    const file = await upload();
    const store = await client.vectorStores.create({ file_ids: [file.id] });
    const vector_store_id = store.id;
    expect(await client.vectorStores.files.delete(file.id, { vector_store_id })).toMatchObject({ id: file.id, deleted: true });
    await expect(client.vectorStores.files.retrieve(file.id, { vector_store_id })).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    expect(await client.files.retrieve(file.id)).toMatchObject({ id: file.id });
    expect(await client.vectorStores.files.create(store.id, { file_id: file.id })).toMatchObject({ id: file.id });
  });
});

describe('people of another organization', () => {
  it('find nothing: all of it is missing, and their lists are empty', async () => {
    const bob = of((await make.person({ role: 'ADMIN' })).key);
    const file = await upload();
    const store = await client.vectorStores.create({ file_ids: [file.id] });
    const vector_store_id = store.id;
    const batch = await client.vectorStores.fileBatches.create(store.id, { file_ids: [file.id] });
    const conversation = await client.conversations.create({ items: [{ role: 'user', content: 'Hi', type: 'message' }] });
    const [item] = (await client.conversations.items.list(conversation.id)).data as { readonly id: string }[];
    const place = { conversation_id: conversation.id };
    const missing: Readonly<Record<string, () => PromiseLike<unknown>>> = {
      'files.retrieve': () => bob.files.retrieve(file.id),
      'files.content': () => bob.files.content(file.id),
      'files.delete': () => bob.files.delete(file.id),
      'vectorStores.retrieve': () => bob.vectorStores.retrieve(store.id),
      'vectorStores.update': () => bob.vectorStores.update(store.id, { name: 'x' }),
      'vectorStores.search': () => bob.vectorStores.search(store.id, { query: 'x' }),
      'vectorStores.delete': () => bob.vectorStores.delete(store.id),
      'vectorStores.files.create': () => bob.vectorStores.files.create(store.id, { file_id: file.id }),
      'vectorStores.files.list': () => bob.vectorStores.files.list(store.id),
      'vectorStores.files.retrieve': () => bob.vectorStores.files.retrieve(file.id, { vector_store_id }),
      'vectorStores.files.update': () => bob.vectorStores.files.update(file.id, { vector_store_id, attributes: {} }),
      'vectorStores.files.content': () => bob.vectorStores.files.content(file.id, { vector_store_id }),
      'vectorStores.files.delete': () => bob.vectorStores.files.delete(file.id, { vector_store_id }),
      'fileBatches.create': () => bob.vectorStores.fileBatches.create(store.id, { file_ids: [file.id] }),
      'fileBatches.retrieve': () => bob.vectorStores.fileBatches.retrieve(batch.id, { vector_store_id }),
      'fileBatches.listFiles': () => bob.vectorStores.fileBatches.listFiles(batch.id, { vector_store_id }),
      'fileBatches.cancel': () => bob.vectorStores.fileBatches.cancel(batch.id, { vector_store_id }),
      'conversations.retrieve': () => bob.conversations.retrieve(conversation.id),
      'conversations.update': () => bob.conversations.update(conversation.id, { metadata: {} }),
      'conversations.delete': () => bob.conversations.delete(conversation.id),
      'items.create': () => bob.conversations.items.create(conversation.id, { items: [{ role: 'user', content: 'x' }] }),
      'items.list': () => bob.conversations.items.list(conversation.id),
      'items.retrieve': () => bob.conversations.items.retrieve(item?.id ?? '', place),
      'items.delete': () => bob.conversations.items.delete(item?.id ?? '', place),
      'responses.create': () => bob.responses.create({ input: 'Hi', conversation: conversation.id }),
      'inputTokens.count': () => bob.responses.inputTokens.count({ input: 'Hi', conversation: conversation.id }),
    };
    for (const [name, call] of Object.entries(missing)) await expect(call(), name).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    expect((await bob.files.list()).data).toEqual([]);
    expect((await bob.vectorStores.list()).data).toEqual([]);
    await expect(bob.vectorStores.create({ file_ids: [file.id] })).rejects.toMatchObject({ status: 400, param: 'file_ids[0]' });
    const own = await bob.vectorStores.create({});
    await expect(bob.vectorStores.files.create(own.id, { file_id: file.id })).rejects.toMatchObject({
      status: 400,
      param: 'file_id',
    });
    // A batch of a store is none of another store, for its owner too.
    const second = await client.vectorStores.create({});
    const elsewhere = client.vectorStores.fileBatches.retrieve(batch.id, { vector_store_id: second.id });
    await expect(elsewhere).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    expect(await client.vectorStores.retrieve(store.id)).toMatchObject({ name: '', file_counts: { total: 1 } });
  });
});
