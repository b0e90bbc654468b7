import { describe, expect, it } from 'vitest';
import { itemsOf, longText } from '../../../support/knowledge/knowledge.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';
import { someOwner } from '../../../support/sharing/pools.ts';

const { service, make } = await withService('plain', { onLog: () => undefined });

const ann = await make.person();

const sql = (text: string, values: unknown[] = []) => service.deps.storage.db.pool.query(text, values);

async function attached(contents: readonly string[]) {
  const { id } = (await ann.post('/api/v1/vector_stores', { name: 'Notes' })).body;
  const fileIds: string[] = [];
  for (const [index, content] of contents.entries()) {
    const form = new FormData();
    form.set('purpose', 'assistants');
    form.set('file', new File([content], `${index}.md`));
    fileIds.push((await ann.post('/api/v1/files', form)).body.id);
  }
  const path = `/api/v1/vector_stores/${id}/file_batches`;
  const batchId = (await ann.post(path, { file_ids: fileIds })).body.id;
  const counts = async () => (await ann.get(`${path}/${batchId}`)).body.file_counts;
  return { id: id as string, batchPath: `${path}/${batchId}`, counts };
}

async function completed(contents: readonly string[]) {
  const store = await attached(contents);
  await eventually(async () => expect(await store.counts()).toMatchObject({ in_progress: 0 }));
  return store;
}

const note = (number: number) => `# Note ${number}\n\nThe heron number ${number} stands in the shallow water.`;
const notes = (count: number) => Array.from({ length: count }, (_, number) => note(number));

/** Sets all items of a source to the state after their worker died in the given attempt, and queues a job of all of them. */
async function abandon(sourceId: string, attempt: number): Promise<void> {
  const { rows } = await sql(
    `update knowledge_items set "indexStatus" = 'FETCHING', "liveGeneration" = null, "leaseOwner" = 'a dead process', "leaseUntil" = now() - interval '1 second',
       attempt = $2 where "dataSourceId" = $1 returning id`,
    [sourceId, attempt],
  );
  await service.deps.jobs.enqueue('knowledge.index-items', { itemIds: rows.map(({ id }) => id) }, { owner: someOwner });
}

describe('small files of one batch', () => {
  it('are stored together, each as it would be alone', async () => {
    const { id, counts } = await completed(notes(16));
    expect(await counts()).toEqual({ in_progress: 0, completed: 16, failed: 0, cancelled: 0, total: 16 });
    const { rows } = await sql(
      `select count(distinct i.xmin::text)::int as transactions, sum(i."documentCount")::int as counted,
         (select count(*)::int from chunks where data_source_id = $1) as chunks,
         (select sum(chunks)::int from lexeme_statistics where data_source_id = $1) as ranked,
         (select count(*)::int from chunks c join knowledge_items o on o.id = c.item_id join chunk_texts t on t.chunk_id = c.id
           where c.data_source_id = $1 and c.generation = o."liveGeneration" and t.text like '%number ' || replace(o.filename, '.md', ' stands') || '%') as own,
         (select df from lexeme_frequencies where data_source_id = $1 and term = 'heron') as herons,
         bool_and(i."leaseOwner" is null and i.attempt = 0 and i."indexedAt" is not null) as ended
       from knowledge_items i where i."dataSourceId" = $1`,
      [id],
    );
    expect(rows).toEqual([
      { transactions: expect.any(Number), counted: 16, chunks: 16, ranked: 16, own: 16, herons: 16, ended: true },
    ]);
    // Four at a time at least, also while callers ask.
    expect(rows[0].transactions).toBeLessThanOrEqual(5);
    const { rows: used } = await sql(
      `select count(*)::int as entries, sum("inputTokens")::int = (select sum("tokenCount")::int from knowledge_items where "dataSourceId" = $1) as "isWhole"
       from usage_entries where purpose = 'indexing' and "userId" = $2`,
      [id, ann.userId],
    );
    expect(used).toEqual([{ entries: 16, isWhole: true }]);
  });

  it('fail alone, with their own reason', async () => {
    const { id, counts } = await completed([...notes(3), ' ', '%PDF-1.7 broken', ...notes(2)]);
    expect(await counts()).toMatchObject({ completed: 5, failed: 2 });
    const items = await itemsOf(ann, id);
    const reasons = items.filter(({ indexStatus }: { indexStatus: string }) => indexStatus !== 'INDEXED');
    expect(reasons.map(({ errorCode }: { errorCode: string }) => errorCode).sort()).toEqual(['CORRUPT', 'NO_TEXT']);
  });

  it('are stored where the database refuses one of them', async () => {
    await sql(`create function refuse_cormorants() returns trigger language plpgsql as $$
      begin if new.text like '%cormorant%' then raise 'no cormorants'; end if; return new; end $$`);
    await sql('create trigger refuse before insert on chunk_texts for each row execute function refuse_cormorants()');
    const store = await attached([...notes(3), 'The cormorant dries its wings.', ...notes(2)]);
    try {
      await eventually(async () => expect(await store.counts()).toMatchObject({ completed: 5, in_progress: 1 }));
    } finally {
      await sql('drop function refuse_cormorants cascade');
    }
    await eventually(async () => expect(await store.counts()).toMatchObject({ completed: 6 }));
  });

  it('are stored beside one that is more than a transaction stores', async () => {
    const { id } = await completed([note(1), longText(19), note(2)]);
    const { rows } = await sql(
      `select count(*)::int as chunks, (select sum("documentCount")::int from knowledge_items where "dataSourceId" = $1) as counted
       from chunks where data_source_id = $1`,
      [id],
    );
    expect(rows[0].chunks).toBe(rows[0].counted);
    expect(rows[0].chunks).toBeGreaterThan(2);
  });

  it('stay unread when they are cancelled, or the store is deleted', async () => {
    const store = await attached(notes(40));
    await ann.post(`${store.batchPath}/cancel`);
    await eventually(async () => expect(await store.counts()).toMatchObject({ in_progress: 0, failed: 0 }));
    const { completed: kept, cancelled } = await store.counts();
    expect(kept + cancelled).toBe(40);
    const { rows } = await sql('select count(*)::int as chunks from chunks where data_source_id = $1', [store.id]);
    expect(rows).toEqual([{ chunks: kept }]);
    const other = await attached(notes(20));
    await ann.delete(`/api/v1/vector_stores/${other.id}`);
    await eventually(async () => {
      for (const table of ['data_sources where id', 'knowledge_items where "dataSourceId"', 'chunks where data_source_id']) {
        expect((await sql(`select 1 from ${table} = $1 limit 1`, [other.id])).rowCount, table).toBe(0);
      }
    });
  });
});

describe('documents of one push', () => {
  it('are stored together, each with who may open it', async () => {
    const agent = await make.agent({ owner: ann });
    const { body: source } = await ann.post(`/api/v1/ais/${agent.id}/data-sources/api`, {
      name: 'Pushed',
      access: 'MIRRORED',
      data: {},
    });
    const items = Array.from({ length: 12 }, (_, number) => ({
      uniqueId: `note-${number}`,
      name: `Note ${number}`,
      text: note(number),
      acl: [number % 2 === 0 ? `user:${ann.email}` : 'anyone_in_organization'],
    }));
    expect((await ann.put(`/api/v1/data-sources/${source.id}/items`, { items })).status).toBe(200);
    await eventually(async () => {
      const { rows } = await sql(
        `select count(*)::int as items, count(distinct i.xmin::text)::int <= 4 as together, bool_and(c.access_rule_id = i."accessRuleId") as "isNoted"
         from knowledge_items i left join chunks c on c.item_id = i.id and c.generation = i."liveGeneration"
         where i."dataSourceId" = $1 and i."uniqueId" like 'note-%' and i."indexStatus" = 'INDEXED'`,
        [source.id],
      );
      expect(rows).toEqual([{ items: 12, together: true, isNoted: true }]);
    });
  });
});

describe('a worker that died with several items', () => {
  it('leaves them to another one, which indexes each alone', async () => {
    const { id, counts } = await completed(notes(4));
    await abandon(id, 1);
    await eventually(async () => expect(await counts()).toMatchObject({ completed: 4 }));
    const { rows } = await sql(
      `select count(distinct xmin::text)::int as transactions, bool_and("leaseOwner" is null and attempt = 0) as ended
       from knowledge_items where "dataSourceId" = $1`,
      [id],
    );
    expect(rows).toEqual([{ transactions: 4, ended: true }]);
  });

  it('for the second time leaves those FAILED that it had begun, with a reason', async () => {
    const { id, counts } = await completed(notes(2));
    await abandon(id, 2);
    await eventually(async () => expect(await counts()).toMatchObject({ failed: 2 }));
    expect(JSON.stringify(await itemsOf(ann, id))).toMatch(/ended 2 times/);
  });
});
