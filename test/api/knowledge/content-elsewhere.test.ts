import { afterAll, expect, it } from 'vitest';
import { createExtractor } from '../../../src/engine/knowledge/extract/extract.ts';
import { indexItem } from '../../../src/engine/knowledge/index/index-item.ts';
import { addFile, itemsOf } from '../../support/knowledge/knowledge.ts';
import { withService } from '../../support/service.ts';

// No worker: the test is the processes that take the item.
const { service, make } = await withService('web', { onLog: () => undefined });
const extractor = createExtractor();
afterAll(() => extractor.close());

it('an item whose bytes another process has is given back, and indexed where they are', async () => {
  const ann = await make.person();
  const { id: agentId } = await make.agent({ owner: ann });
  const { body } = await addFile(ann, agentId, 'birds.txt', 'The heron stands in the shallow water.');
  const [{ id: itemId }] = await itemsOf(ann, body.id);
  const { deps } = service;
  const { rows } = await deps.storage.db.pool.query('select "contentBlobKey" as key from knowledge_items where id = $1', [
    itemId,
  ]);
  // Tests on a server name their folder by BLOB_URL, as an operator does who shares it.
  const settings = { ...deps.settings, BLOB_URL: undefined };
  const context = { ...deps, settings, extractor, connectors: {} as never, owner: 'one' };
  const index = (storage: typeof deps.storage) => indexItem({ ...context, storage }, itemId, AbortSignal.timeout(60_000));
  // Several processes use a server; each has a folder of its own.
  const ofServer = { ...deps.storage, db: Object.assign(Object.create(deps.storage.db), { kind: 'server' }) };
  const folder = deps.storage.blobs;
  const bytes = await Array.fromAsync(await folder.get(rows[0].key));
  await folder.delete(rows[0].key);
  for (let attempt = 1; attempt <= 7; attempt += 1) {
    expect(await index(ofServer)).toMatchObject({ kind: 'waits' });
    expect(await itemsOf(ann, body.id)).toMatchObject([{ indexStatus: 'QUEUED', errorCode: null }]);
  }
  await folder.put(rows[0].key, Buffer.concat(bytes as Buffer[]), 1_000_000);
  expect(await index(ofServer)).toMatchObject({ kind: 'done' });
  expect(await itemsOf(ann, body.id)).toMatchObject([{ indexStatus: 'INDEXED', errorCode: null }]);
  // Where one process has all files, those that are missing are gone.
  await folder.delete(rows[0].key);
  const run = { id: deps.newId('sourceRun'), trigger: 'REFRESH' } as const;
  await deps.storage.indexing.requeueSource(body.id, false, run, async () => undefined);
  const ofOne = { ...deps.storage, db: Object.assign(Object.create(deps.storage.db), { kind: 'embedded' }) };
  expect(await index(ofOne)).toMatchObject({ kind: 'done' });
  expect(await itemsOf(ann, body.id)).toMatchObject([{ indexStatus: 'FAILED', errorCode: 'CONTENT_MISSING' }]);
});
