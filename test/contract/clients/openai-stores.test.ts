import OpenAI, { toFile } from 'openai';
import OpenAI6 from 'openai-6';
import { describe, expect, it } from 'vitest';
import { sampled } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';

/** Vector stores with the openai package: batches of files, the text of files, attributes. */
const { service, make } = await withService('plain');
const ann = await make.person();

const poll = { pollIntervalMs: 100 };
const text = (content: string, name = 'note.txt') => toFile(Buffer.from(content), name, { type: 'text/plain' });

describe.each(
  sampled([
    ['openai 6', '/v1', OpenAI6 as unknown as typeof OpenAI],
    ['openai 7', '/api/v1', OpenAI],
  ] as const),
)('%s at %s', (_name, base, Client) => {
  const client = () => new Client({ baseURL: `${service.url}${base}`, apiKey: ann.key, maxRetries: 0 });
  const upload = async (content: string) =>
    (await client().files.create({ file: await text(content), purpose: 'assistants' })).id;

  it('attaches a batch of files and lists them', async () => {
    const { vectorStores } = client();
    const store = await vectorStores.create({ name: 'Office' });
    const fileIds = [await upload('The office opens at nine.'), await upload('The canteen serves lentil soup.')];
    const created = await vectorStores.fileBatches.create(store.id, { file_ids: fileIds, attributes: { year: 2026 } });
    expect(created).toMatchObject({ object: 'vector_store.files_batch', vector_store_id: store.id, file_counts: { total: 2 } });
    const batch = await vectorStores.fileBatches.poll(store.id, created.id, poll);
    expect(batch).toMatchObject({
      id: created.id,
      status: 'completed',
      file_counts: { in_progress: 0, completed: 2, failed: 0, cancelled: 0, total: 2 },
    });
    const page = await vectorStores.fileBatches.listFiles(batch.id, { vector_store_id: store.id, limit: 1, order: 'asc' });
    const listed = await Array.fromAsync(page);
    expect(listed.map(({ id }) => id)).toEqual(fileIds);
    expect(listed).toMatchObject([{ attributes: { year: 2026 }, status: 'completed' }, { attributes: { year: 2026 } }]);
    const failed = await vectorStores.fileBatches.listFiles(batch.id, { vector_store_id: store.id, filter: 'failed' });
    expect(failed.data).toEqual([]);
    expect((await vectorStores.search(store.id, { query: 'When does the office open?' })).data[0]?.file_id).toBe(fileIds[0]);
  });

  it('gives files of a batch attributes of their own, and keeps those that are attached', async () => {
    const { vectorStores } = client();
    const known = await upload('Known.');
    const store = await vectorStores.create({ file_ids: [known] });
    const added = await upload('Added.');
    const batch = await vectorStores.fileBatches.createAndPoll(
      store.id,
      {
        files: [
          { file_id: known, attributes: { team: 'desk' } },
          { file_id: added, attributes: { team: 'sales', open: true }, chunking_strategy: { type: 'auto' } },
        ],
      },
      poll,
    );
    expect(batch).toMatchObject({ status: 'completed', file_counts: { completed: 2, total: 2 } });
    expect((await vectorStores.retrieve(store.id)).file_counts.total).toBe(2);
    const attributesOf = async (id: string) => (await vectorStores.files.retrieve(id, { vector_store_id: store.id })).attributes;
    expect(await attributesOf(known)).toEqual({ team: 'desk' });
    expect(await attributesOf(added)).toEqual({ team: 'sales', open: true });
    const changed = await vectorStores.files.update(added, { vector_store_id: store.id, attributes: { team: 'desk' } });
    expect(changed.attributes).toEqual({ team: 'desk' });
  });

  it('pages backwards from a file or a store', async () => {
    const { vectorStores } = client();
    const contents = ['One.', 'Two.', 'Three.', 'Four.', 'Five.'];
    const ids: string[] = [];
    for (const content of contents) ids.push(await upload(content));
    const store = await vectorStores.create({ file_ids: ids });
    const list = async (query: OpenAI.VectorStores.FileListParams) => {
      const { data, has_more } = await vectorStores.files.list(store.id, query);
      return [data.map(({ id }) => ids.indexOf(id)), has_more];
    };
    expect(await list({ order: 'asc', limit: 2, before: ids[4] as string })).toEqual([[2, 3], true]);
    expect(await list({ order: 'asc', limit: 2, before: ids[2] as string })).toEqual([[0, 1], false]);
    expect(await list({ order: 'desc', limit: 2, before: ids[0] as string })).toEqual([[2, 1], true]);
    expect(await list({ order: 'asc', limit: 2, after: ids[0] as string, before: ids[4] as string })).toEqual([[1, 2], true]);
    const later = [await vectorStores.create({}), await vectorStores.create({}), await vectorStores.create({})];
    const stores = await vectorStores.list({ order: 'asc', limit: 2, before: later[2]?.id as string });
    expect(stores.data.map(({ id }) => id)).toEqual([later[0]?.id, later[1]?.id]);
  });

  it('indexes a file anew that failed or was cancelled and is attached again', async () => {
    const { vectorStores } = client();
    const [first, second] = [await upload('The office opens at nine.'), await upload('The canteen serves soup.')];
    const store = await vectorStores.create({ file_ids: [first, second] });
    const ended = (id: string) => vectorStores.files.poll(store.id, id, poll);
    await Promise.all([ended(first), ended(second)]);
    const set = (id: string, status: string) =>
      service.deps.storage.db.pool.query(
        `update knowledge_items set "indexStatus" = $2, "liveGeneration" = null, "errorCode" = 'INTERNAL' where "uniqueId" = $1`,
        [id, status],
      );
    await set(first, 'CANCELLED');
    await set(second, 'FAILED');
    expect((await vectorStores.files.retrieve(second, { vector_store_id: store.id })).status).toBe('failed');
    await vectorStores.files.create(store.id, { file_id: first });
    expect(await ended(first)).toMatchObject({ status: 'completed', last_error: null });
    const batch = await vectorStores.fileBatches.createAndPoll(store.id, { file_ids: [first, second] }, poll);
    expect(batch).toMatchObject({ status: 'completed', file_counts: { completed: 2, failed: 0, total: 2 } });
    expect((await vectorStores.search(store.id, { query: 'soup' })).data[0]?.file_id).toBe(second);
  });

  it('uploads and attaches in one go', async () => {
    const { vectorStores } = client();
    const store = await vectorStores.create({});
    const files = await Promise.all(['One.', 'Two.', 'Three.'].map((content) => text(content)));
    const batch = await vectorStores.fileBatches.uploadAndPoll(store.id, { files }, poll);
    expect(batch).toMatchObject({ status: 'completed', file_counts: { completed: 3, total: 3 } });
  });

  it('counts files that cannot be read, and takes deleted ones out of the batch', async () => {
    const { files, vectorStores } = client();
    const store = await vectorStores.create({});
    const broken = await files.create({
      file: await toFile(Buffer.from('%PDF-1.7 broken'), 'broken.pdf', { type: 'application/pdf' }),
      purpose: 'assistants',
    });
    const good = await upload('Good.');
    const mixed = await vectorStores.fileBatches.createAndPoll(store.id, { file_ids: [broken.id, good] }, poll);
    expect(mixed).toMatchObject({ status: 'completed', file_counts: { completed: 1, failed: 1, total: 2 } });
    const failed = await vectorStores.fileBatches.listFiles(mixed.id, { vector_store_id: store.id, filter: 'failed' });
    expect(failed.data).toMatchObject([{ id: broken.id, status: 'failed', last_error: { message: expect.stringMatching(/./) } }]);
    await files.delete(good);
    const left = await vectorStores.fileBatches.retrieve(mixed.id, { vector_store_id: store.id });
    expect(left).toMatchObject({ status: 'failed', file_counts: { completed: 0, failed: 1, total: 1 } });
    await client().delete(`/vector_stores/${store.id}/files/${broken.id}`);
    const empty = await vectorStores.fileBatches.retrieve(mixed.id, { vector_store_id: store.id });
    expect(empty.file_counts.total).toBe(0);
  });

  it('shows the text that was read from a file', async () => {
    const { vectorStores } = client();
    const paragraphs = Array.from({ length: 200 }, (_, index) => `Paragraph ${index} says that the office opens at nine.`);
    const fileId = await upload(paragraphs.join('\n\n'));
    const store = await vectorStores.create({});
    await vectorStores.files.createAndPoll(store.id, { file_id: fileId }, poll);
    const parts = await Array.fromAsync(vectorStores.files.content(fileId, { vector_store_id: store.id }));
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.every(({ type }) => type === 'text')).toBe(true);
    expect(parts.map((part) => part.text).join('')).toBe(paragraphs.join('\n\n'));
  });

  it('filters by attributes of any file, however many others fit the question better', async () => {
    const { vectorStores } = client();
    const store = await vectorStores.create({});
    const wanted = await upload('A long remark about other things, and one word of the office.');
    // More passages than a search looks at: each paragraph is one, and of a file a search shows three at most.
    const paragraph = (index: number) => `The office, office ${index}. `.repeat(50);
    const threeOf = (file: number) => [0, 1, 2].map((part) => paragraph(file * 3 + part)).join('\n\n');
    const others = await Promise.all(Array.from({ length: 36 }, (_, index) => upload(threeOf(index))));
    const files = [...others, wanted].map((file_id) => ({
      file_id,
      attributes: { kind: file_id === wanted ? 'remark' : 'noise', year: file_id === wanted ? 2026 : 1999 },
    }));
    await vectorStores.fileBatches.createAndPoll(store.id, { files }, poll);
    const search = async (filters: OpenAI.VectorStoreSearchParams['filters'] | undefined) => {
      const { data } = await vectorStores.search(store.id, { query: 'office', max_num_results: 50, ...(filters && { filters }) });
      return [...new Set(data.map(({ file_id }) => file_id))];
    };
    expect(await search(undefined)).not.toContain(wanted);
    expect(await search({ type: 'eq', key: 'kind', value: 'remark' })).toEqual([wanted]);
    expect(await search({ type: 'gte', key: 'year', value: 2000 })).toEqual([wanted]);
    expect(await search({ type: 'nin', key: 'kind', value: ['noise'] } as never)).toEqual([wanted]);
    expect(await search({ type: 'in', key: 'kind', value: ['remark', 'other'] } as never)).toEqual([wanted]);
    expect(await search({ type: 'gt', key: 'kind', value: 'q' })).toEqual([wanted]);
    expect(await search({ type: 'ne', key: 'year', value: 1999 })).toEqual([wanted]);
    expect(await search({ type: 'gt', key: 'year', value: '1' })).toEqual([]);
    expect(
      await search({
        type: 'and',
        filters: [
          { type: 'lt', key: 'year', value: 2000 },
          { type: 'eq', key: 'kind', value: 'remark' },
        ],
      }),
    ).toEqual([]);
    expect(await search({ type: 'eq', key: 'none', value: 1 })).toEqual([]);
  });
});

describe('a batch of files', () => {
  it('is refused as a whole, naming the member', async () => {
    const { vectorStores, files } = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: ann.key, maxRetries: 0 });
    const store = await vectorStores.create({});
    const file = await files.create({ file: await text('Good.'), purpose: 'assistants' });
    const missing = 'file_01h00000000000000000000000';
    const refused: readonly (readonly [OpenAI.VectorStores.FileBatchCreateParams, string])[] = [
      [{}, 'file_ids'],
      [{ file_ids: [] }, 'file_ids'],
      [{ file_ids: [file.id], files: [{ file_id: file.id }] }, 'files'],
      [{ file_ids: [file.id, missing] }, 'file_ids[1]'],
      [{ files: [{ file_id: file.id }, { file_id: missing }] }, 'files[1].file_id'],
      [{ files: [{ file_id: file.id, attributes: { name: 'x'.repeat(513) } }] }, 'files[0].attributes.name'],
      [
        {
          files: [
            {
              file_id: file.id,
              chunking_strategy: { type: 'static', static: { max_chunk_size_tokens: 800, chunk_overlap_tokens: 0 } },
            },
          ],
        },
        'files[0].chunking_strategy',
      ],
      [{ file_ids: Array.from({ length: 2_001 }, () => missing) }, 'file_ids'],
    ];
    for (const [body, param] of refused) {
      await expect(vectorStores.fileBatches.create(store.id, body), param).rejects.toMatchObject({ status: 400, param });
    }
    expect((await vectorStores.files.list(store.id)).data).toEqual([]);
  });
});
