import { beforeEach, describe, expect, it } from 'vitest';
import { connectedSources } from '../../../support/knowledge/connected.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('plain', { env: { INDEX_CONCURRENCY: '1' } });
const { run, refresh, read } = connectedSources(service);
let ann: Person;
let aiId: string;
beforeEach(async () => {
  ann = await make.person();
  aiId = (await make.agent({ owner: ann })).id;
});

async function payload(data: object = { opening: 'The workshop opens at nine.' }): Promise<string> {
  return (await ann.post(`/api/v1/ais/${aiId}/data-sources/api`, { name: 'Hours', data })).body.id;
}
async function file(name: string, text: string): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob([text]), name);
  return (await ann.post(`/api/v1/ais/${aiId}/data-sources/file`, form)).body.id;
}

const none = {
  addedCount: 0,
  changedCount: 0,
  unchangedCount: 0,
  skippedCount: 0,
  removedCount: 0,
  failedCount: 0,
  heldCount: 0,
};
const whole = { ...none, listedCount: 1, isComplete: true, errorCode: null, errorMessage: null, bound: null };
const query = `query ($id: ID!) { dataSourceRuns(dataSourceId: $id) { totalCount nodes { id trigger isForced status startedAt listedAt endedAt
  listedCount addedCount changedCount unchangedCount skippedCount removedCount heldCount failedCount isComplete bound errorCode errorMessage currentItem } } }`;

/** GraphQL tells the same as REST; none of these runs reaches a bound. */
async function sameOnGraphql(id: string, count: number) {
  const { data } = (await ann.get(`/api/v1/data-sources/${id}/runs`)).body;
  const reply = await ann.graphql(query, { id });
  expect(reply.data.dataSourceRuns).toEqual({ totalCount: count, nodes: data });
}

describe('the history of a source whose content was given', () => {
  it.each([
    ['a payload', () => payload()],
    ['an uploaded file', () => file('hours.md', '# Hours\n\nThe workshop opens at nine.')],
  ])('shows every indexing of %s, over REST and GraphQL', async (_case, make) => {
    const id = await make();
    const first = await run(ann, id, 1);
    expect(first).toMatchObject({ ...whole, trigger: 'ADDED', status: 'COMPLETED', isForced: false, addedCount: 1 });
    expect(Date.parse(first.endedAt)).toBeGreaterThanOrEqual(Date.parse(first.startedAt));
    await refresh(ann, id);
    expect(await run(ann, id, 2)).toMatchObject({ ...whole, trigger: 'REFRESH', status: 'COMPLETED', unchangedCount: 1 });
    await refresh(ann, id, true);
    expect(await run(ann, id, 3)).toMatchObject({ ...whole, isForced: true, status: 'COMPLETED', changedCount: 1 });
    expect((await read(ann, id)).activeRun ?? null).toBeNull();
    await sameOnGraphql(id, 3);
  });

  it('tells why a file could not be indexed, also when it is tried again', async () => {
    const id = await file('broken.pdf', '%PDF-1.7\nnothing of a PDF');
    const failed = {
      ...whole,
      failedCount: 1,
      status: 'FAILED',
      errorCode: expect.any(String),
      errorMessage: expect.any(String),
    };
    const first = await run(ann, id, 1);
    expect(first).toMatchObject({ ...failed, trigger: 'ADDED', addedCount: 1 });
    expect(await read(ann, id)).toMatchObject({ errorCode: first.errorCode, errorMessage: first.errorMessage });
    expect((await ann.post(`/api/v1/data-sources/${id}/retry`)).status).toBe(200);
    expect(await run(ann, id, 2)).toMatchObject({ ...failed, changedCount: 1 });
    await sameOnGraphql(id, 2);
  });

  it('tells why a file without text was left out', async () => {
    const id = await file('empty.md', '   \n');
    expect(await run(ann, id, 1)).toMatchObject({
      ...whole,
      status: 'COMPLETED',
      skippedCount: 1,
      errorCode: 'NO_TEXT',
      errorMessage: expect.any(String),
    });
  });

  it('shows a refresh by period as such, once in a period', async () => {
    const id = await payload();
    await run(ann, id, 1);
    const { pool } = service.deps.storage.db;
    await ann.patch(`/api/v1/data-sources/${id}`, { refreshPeriod: 'DAILY' });
    await pool.query(`update data_sources set "lastSyncedAt" = now() - interval '9 days' where id = $1`, [id]);
    const owner = { orgId: ann.orgId, tenantId: ann.tenantId };
    const enqueue = () =>
      service.deps.jobs.enqueue('knowledge.sync-source', { dataSourceId: id, trigger: 'SCHEDULE' }, { owner, key: id });
    await enqueue();
    expect(await run(ann, id, 2)).toMatchObject({ ...whole, trigger: 'SCHEDULE', unchangedCount: 1 });
    // As another process queues it that looked at the same time.
    const again = { id: service.deps.newId('sourceRun'), trigger: 'SCHEDULE' } as const;
    const queued: unknown[] = [];
    await service.deps.storage.knowledge.indexing.requeueSource(
      id,
      false,
      again,
      async (_tx, items) => void queued.push(...items),
    );
    expect(queued).toEqual([]);
    expect((await ann.get(`/api/v1/data-sources/${id}/runs`)).body.data).toHaveLength(2);
  });

  it('shows the run that is going on, and that it was cancelled', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 6; count += 1) ids.push(await payload({ count, text: 'A long text. '.repeat(20_000) }));
    const id = ids.at(-1) ?? '';
    const { data } = (await ann.get(`/api/v1/data-sources/${id}/runs`)).body;
    expect(data).toMatchObject([{ status: 'INDEXING', endedAt: null, listedCount: 1, addedCount: 1 }]);
    // A refresh of what waits is the same indexing.
    await refresh(ann, id);
    await ann.post(`/api/v1/data-sources/${id}/cancel`);
    expect(await run(ann, id, 1)).toMatchObject({ status: 'CANCELLED' });
    for (const other of ids) await ann.post(`/api/v1/data-sources/${other}/cancel`);
  });

  it('shows the files that are added to a vector store', async () => {
    const upload = async (name: string) => {
      const form = new FormData();
      form.set('purpose', 'assistants');
      form.set('file', new Blob([`# ${name}\n\nText of ${name}.`]), name);
      return (await ann.post('/v1/files', form)).body.id;
    };
    const store = await ann.post('/v1/vector_stores', { name: 'Docs', file_ids: [await upload('a.md'), await upload('b.md')] });
    const { rows } = await service.deps.storage.db.pool.query('select "dataSourceId" as id from vector_stores');
    expect(rows.length).toBe(1);
    const { id } = rows[0];
    expect(await run(ann, id, 1)).toMatchObject({ ...whole, listedCount: 2, addedCount: 2, status: 'COMPLETED' });
    await ann.post(`/v1/vector_stores/${store.body.id}/files`, { file_id: await upload('c.md') });
    expect(await run(ann, id, 2)).toMatchObject({ ...whole, addedCount: 1, trigger: 'ADDED' });
  });
});
