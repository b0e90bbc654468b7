import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { TestClient } from '../../../support/client.ts';
import { addFile, indexed, itemsOf, longText } from '../../../support/knowledge/knowledge.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { killProcesses, startProcess } from '../../../support/processes/process.ts';
import { startService } from '../../../support/service.ts';
import { copyOf, type Place } from '../../../support/storage/databases.ts';

const adminKey = 'pk-test-administrator-key-of-40-characters';

describe('a process killed in the middle of indexing', () => {
  let place: Place;
  beforeEach(async () => {
    place = await copyOf(inject('template'));
  });
  afterEach(async () => {
    await killProcesses();
    await place.remove();
  });

  it('leaves work that completes after the restart by itself, without orphans', async () => {
    const env = { ...place.env, PARLEY_ADMIN_KEY: adminKey, INDEX_LEASE_MS: '3000' };
    const temporaryFolder = join(place.env.DATA_DIR ?? '', 'temporary');
    await mkdir(temporaryFolder);
    const temporaryFiles = async () => (await readdir(temporaryFolder, { recursive: true })).join('\n');
    const first = startProcess({ ...env, TMPDIR: temporaryFolder });
    const url = await first.url();
    const before = new TestClient(() => url, adminKey);
    const { body: agent } = await before.post('/api/v1/ais', { src: '', name: 'Ada', description: '', instructions: '' });
    const { body: source } = await addFile(before, agent.id, 'large.txt', longText(3_000));
    await eventually(async () => {
      const [item] = await itemsOf(before, source.id);
      // It was indexed before the test looked: index it once more.
      if (item.indexStatus === 'INDEXED') await before.post(`/api/v1/data-sources/${source.id}/refresh?forceRefresh=true`);
      expect(item.indexStatus).toBe('INDEXING');
      expect(Number(item.indexPercentage)).toBeGreaterThan(30);
    });
    expect(await temporaryFiles()).toMatch(/parley-item-.*content/);
    await first.kill('SIGKILL');
    // Documents are nobody's to read once their process is gone.
    await eventually(async () => expect(await temporaryFiles()).not.toContain('parley-process-'));

    const service = await startService({ env });
    const after = service.client();
    expect(await indexed(after, source.id)).toMatchObject({ indexStatus: 'INDEXED', indexPercentage: '100' });
    const [item] = await itemsOf(after, source.id);
    expect(item.documentCount).toBeGreaterThan(500);
    const { rows } = await service.deps.storage.db.pool.query(
      `select (select count(*)::int from chunks where item_id = $1) as chunks, (select count(*)::int from chunk_texts) as texts,
         (select sum(chunks)::int from lexeme_statistics) as counted`,
      [item.id],
    );
    const { documentCount } = item;
    expect(rows).toEqual([{ chunks: documentCount, texts: documentCount, counted: documentCount }]);
    await service.close();
  });

  it('leaves small files that were indexed together to the next one, each counted once', async () => {
    const files = 300;
    const env = { ...place.env, PARLEY_ADMIN_KEY: adminKey };
    const first = startProcess(env);
    const url = await first.url();
    const before = new TestClient(() => url, adminKey);
    const { id } = (await before.post('/api/v1/vector_stores', { name: 'Notes' })).body;
    const fileIds: string[] = [];
    for (let number = 0; number < files; number += 1) {
      const form = new FormData();
      form.set('purpose', 'assistants');
      form.set('file', new File([`# Note ${number}\n\nThe heron number ${number} stands in the water.`], `${number}.md`));
      fileIds.push((await before.post('/api/v1/files', form)).body.id);
    }
    const path = `/api/v1/vector_stores/${id}/file_batches`;
    const batchId = (await before.post(path, { file_ids: fileIds })).body.id;
    await eventually(async () => {
      const { completed } = (await before.get(`${path}/${batchId}`)).body.file_counts;
      expect(completed).toBeGreaterThan(0);
    });
    await first.kill('SIGKILL');

    const service = await startService({ env });
    const { rows: left } = await service.deps.storage.db.pool.query(
      `select count(*)::int as count from knowledge_items where "dataSourceId" = $1 and "indexStatus" <> 'INDEXED'`,
      [id],
    );
    const after = service.client();
    await eventually(async () => {
      expect((await after.get(`${path}/${batchId}`)).body.file_counts).toMatchObject({ completed: files });
    });
    const { rows } = await service.deps.storage.db.pool.query(
      `select (select count(*)::int from chunks where data_source_id = $1) as chunks, (select count(*)::int from chunk_texts) as texts,
         (select sum(chunks)::int from lexeme_statistics where data_source_id = $1) as counted,
         (select df from lexeme_frequencies where data_source_id = $1 and term = 'heron') as herons,
         (select count(*)::int from usage_entries where purpose = 'indexing') as entries`,
      [id],
    );
    expect(rows).toEqual([{ chunks: files, texts: files, counted: files, herons: files, entries: files }]);
    // The process was killed before its end.
    expect(left[0].count).toBeGreaterThan(0);
    await service.close();
  });
});
