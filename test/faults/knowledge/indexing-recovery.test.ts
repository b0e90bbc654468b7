import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DomainError } from '../../../src/entities/ground/errors.ts';
import { addFile, indexed, itemsOf, longText, searchOf } from '../../support/knowledge/knowledge.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { withService } from '../../support/service.ts';
import { someOwner } from '../../support/sharing/pools.ts';
import { testServerUrl } from '../../support/storage/databases.ts';

const { service, make } = await withService('plain', { onLog: () => undefined });

const ann = await make.person();
const agent = await make.agent({ owner: ann });

const sql = (text: string, values: unknown[]) => service.deps.storage.db.pool.query(text, values);
const added = async (content = 'The heron stands in the shallow water.') =>
  (await addFile(ann, agent.id, 'birds.txt', content)).body.id as string;
const itemOf = async (sourceId: string) => (await itemsOf(ann, sourceId))[0];
const blobsFolder = () => join(service.deps.settings.DATA_DIR, 'blobs');

/** Sets the item to the state after its worker died in the given attempt, and queues its job, as pg-boss does when it misses the heartbeats. */
async function abandon(sourceId: string, attempt: number): Promise<void> {
  await sql(
    `update knowledge_items set "indexStatus" = 'INDEXING', "leaseOwner" = 'a dead process', "leaseUntil" = now() - interval '1 second',
       attempt = $2 where "dataSourceId" = $1`,
    [sourceId, attempt],
  );
  await retryJob((await itemOf(sourceId)).id);
}

const retryJob = (itemId: string) => service.deps.jobs.enqueue('knowledge.index-item', { itemId }, { owner: someOwner });

describe('a worker that died', () => {
  it('loses its item to the queue when the lease is over, and another one finishes', async () => {
    const sourceId = await added();
    await indexed(ann, sourceId);
    await abandon(sourceId, 1);
    await eventually(async () => expect((await itemOf(sourceId)).indexStatus).toBe('INDEXED'));
    const { rows } = await sql('select "leaseOwner", attempt from knowledge_items where "dataSourceId" = $1', [sourceId]);
    expect(rows).toEqual([{ leaseOwner: null, attempt: 0 }]);
  });

  it('for the second time leaves the item FAILED with a reason, and a refresh tries anew', async () => {
    const sourceId = await added();
    await indexed(ann, sourceId);
    await abandon(sourceId, 2);
    const item = await eventually(async () => {
      const found = await itemOf(sourceId);
      expect(found.indexStatus).toBe('FAILED');
      return found;
    });
    expect(JSON.stringify(item)).toMatch(/ended 2 times/);
    expect((await ann.post(`/api/v1/data-sources/${sourceId}/refresh?forceRefresh=true`)).status).toBe(200);
    await eventually(async () => expect((await itemOf(sourceId)).indexStatus).toBe('INDEXED'));
  });
});

describe('a worker that is killed right after it completed an item', () => {
  it('leaves the item queued when another run was requested meanwhile', async () => {
    const sourceId = await added();
    await indexed(ann, sourceId);
    const { indexing } = service.deps.storage.knowledge;
    const { rows } = await sql(
      `update knowledge_items set "indexStatus" = 'QUEUED', "updatedAt" = now() where "dataSourceId" = $1 returning id`,
      [sourceId],
    );
    const itemId = rows[0].id as string;
    const lease = await indexing.take(itemId, 'a job of this test', 60_000);
    if (lease === undefined || !('fence' in lease)) throw new Error('the item is not queued');
    const run = { id: 'srun_test', trigger: 'REFRESH' } as const;
    await indexing.requeueSource(sourceId, true, run, async (_tx, items) => expect(items).toEqual([]));
    expect(await indexing.completeUnchanged(lease)).toMatchObject({ isRunWanted: true });
    const { rows: left } = await sql('select "indexStatus" as status, "isForced" from knowledge_items where id = $1', [itemId]);
    expect(left).toEqual([{ status: 'QUEUED', isForced: true }]);
    // The job of the killed worker is tried again.
    await retryJob(itemId);
    await eventually(async () => expect((await itemOf(sourceId)).indexStatus).toBe('INDEXED'));
  });
});

describe('a failure that may pass', () => {
  it('is tried five times, then fails with a reason that a person can act on', async () => {
    const sourceId = await added();
    await indexed(ann, sourceId);
    const { rows } = await sql('select "contentBlobKey" as key from knowledge_items where "dataSourceId" = $1', [sourceId]);
    const path = join(blobsFolder(), rows[0].key);
    const { blobs } = service.deps.storage;
    // A folder in place of the content can be opened and not read: neither missing nor readable.
    await blobs.delete(rows[0].key);
    mkdirSync(path);
    await sql(`update knowledge_items set attempt = 3, "isForced" = true, "indexStatus" = 'QUEUED' where "dataSourceId" = $1`, [
      sourceId,
    ]);
    const { rows: items } = await sql('select id from knowledge_items where "dataSourceId" = $1', [sourceId]);
    const itemId = items[0].id as string;
    await retryJob(itemId);
    // The fourth attempt returns to the queue for 2⁴ s, the fifth is the last.
    await eventually(async () => {
      const { rows: tried } = await sql(`select attempt, "indexStatus" as status from knowledge_items where id = $1`, [itemId]);
      expect(tried).toEqual([{ attempt: 4, status: 'QUEUED' }]);
    });
    await retryJob(itemId);
    const failed = await eventually(async () => {
      const found = await itemOf(sourceId);
      expect(found.indexStatus).toBe('FAILED');
      return found;
    });
    expect(JSON.stringify(failed)).toContain('refresh the source to try again');
    // The earlier generation still answers.
    expect((await searchOf(service, ann, [sourceId], 'heron')).passages).toHaveLength(1);
  });
});

describe('a refresh period', () => {
  const due = async () => (await service.deps.storage.knowledge.indexing.findDue()).map(({ id }) => id);

  it('makes a source due once it is over, and not before', async () => {
    const sourceId = await added();
    await indexed(ann, sourceId);
    expect((await ann.patch(`/api/v1/data-sources/${sourceId}`, { refreshPeriod: 'DAILY' })).status).toBe(200);
    const checked = (hours: number) =>
      sql(
        `with source as (update data_sources set "lastSyncedAt" = now() - $2::int * interval '1 hour' where id = $1)
         update knowledge_items set "lastCheckedAt" = now() - $2::int * interval '1 hour' where "dataSourceId" = $1`,
        [sourceId, hours],
      );
    await checked(20);
    expect(await due()).not.toContain(sourceId);
    await eventually(async () => {
      // Once more when the service took it in between: it looks for due sources itself.
      await checked(28);
      expect(await due()).toContain(sourceId);
    });
    await sql(`update data_sources set "createdAt" = now() - interval '1 year' where id = $1`, [sourceId]);
    // The upkeep of sources runs at the start of a process.
    await service.restart();
    await eventually(async () => {
      const { rows } = await sql(
        `select "lastCheckedAt" > now() - interval '1 hour' as "isFresh" from knowledge_items where "dataSourceId" = $1`,
        [sourceId],
      );
      expect(rows).toEqual([{ isFresh: true }]);
    });
    expect(await due()).not.toContain(sourceId);
  });
});

describe('a source that is deleted while it is indexed', () => {
  it('is gone at once and leaves no row and no bytes behind', async () => {
    const sourceId = await added(longText(400));
    await eventually(async () => {
      const { indexStatus } = await itemOf(sourceId);
      // It was indexed before the test looked: index it once more.
      if (indexStatus === 'INDEXED') await ann.post(`/api/v1/data-sources/${sourceId}/refresh?forceRefresh=true`);
      expect(indexStatus).toMatch(/PARSING|INDEXING/);
    });
    const { rows } = await sql('select id, "contentBlobKey" as key from knowledge_items where "dataSourceId" = $1', [sourceId]);
    expect((await ann.delete(`/api/v1/data-sources/${sourceId}`)).status).toBeLessThan(300);
    expect((await ann.get(`/api/v1/data-sources/${sourceId}`)).status).toBe(404);
    await eventually(async () => {
      for (const table of ['data_sources where id', 'knowledge_items where "dataSourceId"', 'chunks where data_source_id']) {
        expect((await sql(`select 1 from ${table} = $1 limit 1`, [sourceId])).rowCount, table).toBe(0);
      }
    });
    await eventually(() => expect(service.deps.storage.blobs.read(rows[0].key)).rejects.toThrow(DomainError));
  });
});

describe('blobs without a row', () => {
  it('are deleted when they are older than an hour, or than the start of an embedded database; what has a row stays', async () => {
    const sourceId = await added();
    await indexed(ann, sourceId);
    const { rows } = await sql('select "contentBlobKey" as key from knowledge_items where "dataSourceId" = $1', [sourceId]);
    const kept = rows[0].key as string;
    const { blobs } = service.deps.storage;
    const [orphan, young, file, other] = ['knowledge/ki_gone', 'knowledge/ki_young', 'chat-files/gone', 'unknown-kind/x'].map(
      (rest) => `${ann.orgId}/${rest}`,
    );
    const all = [orphan, young, file, other] as string[];
    for (const key of all) await blobs.put(key, Buffer.from('x'), 1);
    const unfinished = join(blobsFolder(), '.incoming', 'broken-off');
    writeFileSync(unfinished, 'x');
    const past = new Date(Date.now() - 2 * 3_600_000);
    for (const key of [kept, orphan, file, other] as string[]) utimesSync(join(blobsFolder(), key), past, past);
    utimesSync(unfinished, past, past);
    await service.restart();
    await eventually(async () => {
      const left = await Promise.all(
        all.map((key) =>
          service.deps.storage.blobs.read(key).then(
            () => key,
            () => undefined,
          ),
        ),
      );
      // Only one process ever writes to an embedded database: at its start, a blob without a row will never get one.
      expect(left).toEqual([undefined, testServerUrl === undefined ? undefined : young, undefined, other]);
    });
    expect(String(await service.deps.storage.blobs.read(kept))).toContain('heron');
    await eventually(() => expect(readdirSync(join(blobsFolder(), '.incoming'))).toEqual([]));
  });
});
