import { afterAll, expect, inject, it } from 'vitest';
import { TestClient } from '../../support/client.ts';
import { startMeaningServer } from '../../support/knowledge/embedding-server.ts';
import { addFile, indexed, longText } from '../../support/knowledge/knowledge.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import { startService } from '../../support/service.ts';
import { copyOf, testServerUrl } from '../../support/storage/databases.ts';

const meaning = await startMeaningServer();
const place = await copyOf(inject('template'));
const key = 'chosen-by-the-operator-40-characters-long';
const env = {
  ...place.env,
  ...{ PARLEY_ADMIN_KEY: key, OPENAI_BASE_URL: meaning.url, EMBEDDING_MODEL: 'openai/first', EMBEDDING_BATCH_TEXTS_MAX: '4' },
  ...{ LOG_LEVEL: 'warn', DEMO: 'off' },
};

afterAll(async () => {
  await killProcesses();
  await meaning.close();
  await place.remove();
});

it.skipIf(testServerUrl !== undefined)(
  'a process killed while it makes vectors: the next one makes those that are missing',
  async () => {
    const parley = startProcess(env);
    const url = await parley.url();
    const ann = new TestClient(() => url, key);
    const { body: agent } = await ann.post('/api/v1/ais', {
      src: 'x',
      name: 'Ada',
      description: 'Knows',
      instructions: 'Answer.',
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    const { body: source } = await addFile(ann, agent.id, 'long.txt', longText(40));
    await indexed(ann, source.id);
    await eventually(() => expect(meaning.embeddings.length).toBeGreaterThan(0));
    // The vectors of two batches at least are stored when a third one is asked for.
    await eventually(() => expect(meaning.embeddings.length).toBeGreaterThan(2));
    meaning.gate = promise;
    await parley.kill('SIGKILL');
    const before = meaning.embeddings.slice(0, -1).flatMap(({ input }) => input);
    meaning.gate = undefined;
    resolve();
    const from = meaning.embeddings.length;
    const service = await startService({ env });
    try {
      const pool = service.deps.storage.db.pool;
      await eventually(async () => {
        const { rows } = await pool.query('select serving_space from source_embeddings where data_source_id = $1', [source.id]);
        expect(rows).toMatchObject([{ serving_space: expect.any(Number) }]);
      });
      const { rows } = await pool.query(
        `select count(*)::int as passages, count(e.chunk_id)::int as vectors from chunks c left join chunk_embeddings e on e.chunk_id = c.id`,
      );
      expect(rows[0].vectors).toBe(rows[0].passages);
      // One batch at most is made twice.
      const again = meaning.embeddings
        .slice(from)
        .flatMap(({ input }) => input)
        .filter((text) => before.includes(text));
      expect(again.length).toBeLessThanOrEqual(4);
    } finally {
      await service.close();
    }
  },
);
