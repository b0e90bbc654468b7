import { afterAll, expect, it } from 'vitest';
import { Connectors } from '../../../../src/engine/knowledge/connectors/registry.ts';
import { createExtractor } from '../../../../src/engine/knowledge/extract/extract.ts';
import { indexItem } from '../../../../src/engine/knowledge/index/index-item.ts';
import { addFile, itemsOf } from '../../../support/knowledge/knowledge.ts';
import { withService } from '../../../support/service.ts';

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
  const context = { ...deps, extractor, connectors: new Connectors(new Map()), owner: 'one' };
  const index = (storage: typeof deps.storage, BLOB_URL?: string) =>
    indexItem({ ...context, storage, settings: { ...deps.settings, BLOB_URL } }, itemId, AbortSignal.timeout(60_000));
  // Several processes use a server; each has a folder of its own.
  const ofServer = { ...deps.storage, db: Object.assign(Object.create(deps.storage.db), { kind: 'server' }) };
  const folder = deps.storage.blobs;
  const bytes = await Array.fromAsync(await folder.get(rows[0].key));
  await folder.delete(rows[0].key);
  // With BLOB_URL an operator may name a folder that is no shared one.
  for (const BLOB_URL of [undefined, 'file:///elsewhere', undefined, 'file:///elsewhere', undefined, undefined, undefined]) {
    expect(await index(ofServer, BLOB_URL)).toMatchObject({ kind: 'waits' });
    expect(await itemsOf(ann, body.id)).toMatchObject([{ indexStatus: 'QUEUED', errorCode: null }]);
  }
  await folder.put(rows[0].key, Buffer.concat(bytes as Buffer[]), 1_000_000);
  expect(await index(ofServer)).toMatchObject({ kind: 'done' });
  expect(await itemsOf(ann, body.id)).toMatchObject([{ indexStatus: 'INDEXED', errorCode: null }]);
  // Where one process has all files, those that are missing are gone.
  await folder.delete(rows[0].key);
  const run = { id: deps.newId('sourceRun'), trigger: 'REFRESH' } as const;
  await deps.storage.knowledge.indexing.requeueSource(body.id, false, run, async () => undefined);
  const ofOne = { ...deps.storage, db: Object.assign(Object.create(deps.storage.db), { kind: 'embedded' }) };
  expect(await index(ofOne)).toMatchObject({ kind: 'done' });
  expect(await itemsOf(ann, body.id)).toMatchObject([{ indexStatus: 'FAILED', errorCode: 'CONTENT_MISSING' }]);
});
