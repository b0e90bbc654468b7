import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { makeId } from '../src/entities/ground/ids.ts';
import { createLogger } from '../src/http/log/logging.ts';
import { loadSettings } from '../src/settings.ts';
import { startService } from '../src/start/service.ts';
import { seededRandom } from '../test/support/property/random.ts';
import type { Row } from './completions/completions.ts';
import { start } from './completions/processes.ts';
import { chunkOf, passageText, questionOf } from './retrieval.ts';

const itemChunks = 1_000;
const questionCount = 100;
const adminKey = 'pk-bench-administrator-key-of-40-characters';
/** Release floor: the most that knowledge may add to a completion. */
const addedMsMax = 45;

/**
 * Measures what knowledge adds to a completion: the same agent with and without 100,000 passages, called in turns; p50 of the whole call over REST.
 * Passages are written directly into the tables; measured are the search, the longer prompt, and the run around them.
 */
export async function benchAgentKnowledge(chunksMax = 100_000): Promise<readonly Row[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const upstream = await start<{ readonly url: string }>('upstream.ts', [], 1);
  const settings = loadSettings({
    PORT: '0',
    DATA_DIR: dataDir,
    OPENAI_BASE_URL: `${upstream.ready.url}/v1`,
    PARLEY_ADMIN_KEY: adminKey,
    DEMO: 'off',
    LOG_LEVEL: 'error',
  });
  const service = await startService(settings, createLogger(settings), (error) => {
    throw error;
  });
  const call = async (path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
    const reply = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    const json = (await reply.json()) as { readonly id: string };
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${JSON.stringify(json)}`);
    return json;
  };
  const newAgent = (name: string) =>
    call('/api/v1/ais', { name, description: '', instructions: 'Be brief.', src: '', modelId: 'openai/whole' });
  try {
    await service.deps.models.list();
    const plain = await newAgent('Without knowledge');
    const knowing = await newAgent('With knowledge');
    const source = await call(`/api/v1/ais/${knowing.id}/data-sources/api`, { name: 'Measured', data: { a: 'seed' } });
    const questions = await seed(service.deps.storage, source.id, chunksMax);
    const ask = async (model: string, content: string) => {
      const startMs = performance.now();
      await call('/api/v1/chat/completions', { model, messages: [{ role: 'user', content }] });
      return performance.now() - startMs;
    };
    const times: Record<'without' | 'with', number[]> = { without: [], with: [] };
    for (const [index, question] of [...questions, ...questions].entries()) {
      const without = await ask(plain.id, question);
      const withKnowledge = await ask(knowing.id, question);
      // The first round warms up both agents.
      if (index < questions.length) continue;
      times.without.push(without);
      times.with.push(withKnowledge);
    }
    const [without, added] = [median(times.without), median(times.with) - median(times.without)];
    return [
      {
        name: `completion, agent over ${chunksMax.toLocaleString('en')} passages`,
        unit: 'ms',
        raw: without,
        ours: without + added,
        floor: { ratioMax: (without + addedMsMax) / without },
        note: `added p50 ${added.toFixed(1)} ms; floor ${addedMsMax}, goal 5`,
      },
    ];
  } finally {
    await service.close(1_000);
    await upstream.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/**
 * Adds so many passages to a source, live at once: a tenth of them as indexing writes them, the rest copied by SQL, so that the frequencies of words
 * stay the same. @returns questions, each with words of one passage.
 */
async function seed(
  { db, knowledge: { chunks } }: Awaited<ReturnType<typeof startService>>['deps']['storage'],
  dataSourceId: string,
  chunksMax: number,
): Promise<readonly string[]> {
  const random = seededRandom(7);
  const questions: string[] = [];
  // Wait until the source's first passage is indexed: indexing uses the index that is dropped below.
  for (;;) {
    const { rows } = await db.pool.query(
      `SELECT 1 FROM knowledge_items WHERE "dataSourceId" = $1 AND "indexStatus" = 'INDEXED'`,
      [dataSourceId],
    );
    if (rows.length > 0) break;
    await wait(50);
  }
  const { rows } = await db.pool.query<{ definition: string }>(
    "SELECT indexdef AS definition FROM pg_indexes WHERE indexname = 'chunks_term_keys_idx'",
  );
  await db.pool.query('DROP INDEX chunks_term_keys_idx');
  for (let from = 0; from < chunksMax / copies; from += itemChunks) {
    const texts = Array.from({ length: itemChunks }, () => passageText(random));
    await db.transaction(async (client) => {
      const itemId = makeId('knowledgeItem', Date.now());
      await client.query(
        `INSERT INTO knowledge_items ("id", "updatedAt", "orgId", "dataSourceId", "name", "uniqueId", "type", "indexStatus", "liveGeneration", "lastGeneration")
         SELECT $1, now(), "orgId", id, $3, $1, 'FILE', 'INDEXED', 1, 1 FROM data_sources WHERE id = $2`,
        [itemId, dataSourceId, `Document ${from / itemChunks}`],
      );
      await chunks.add(client, { dataSourceId, itemId, generation: 1, config: 'english' }, texts.map(chunkOf));
      await client.query(copySql, [itemId, copies - 1, itemChunks]);
    });
    for (let index = 0; questions.length < questionCount && index < questionCount / 10; index += 1)
      questions.push(questionOf(texts[index] ?? '', random));
  }
  await db.pool.query('UPDATE lexeme_frequencies SET df = df * $2 WHERE data_source_id = $1', [dataSourceId, copies]);
  await db.pool.query(
    'UPDATE lexeme_statistics SET chunks = chunks * $2, sum_length = sum_length * $2 WHERE data_source_id = $1',
    [dataSourceId, copies],
  );
  for (const { definition } of rows) await db.pool.query(definition);
  await chunks.refreshStatistics();
  return questions;
}

const copies = 10;
const copySql = `
WITH copy AS MATERIALIZED (
  SELECT nextval(pg_get_serial_sequence('chunks', 'id')) AS new_id, n, c.* FROM chunks c CROSS JOIN generate_series(1, $2::int) AS n WHERE item_id = $1
), texts AS (
  INSERT INTO chunk_texts (chunk_id, heading_path, text, gap_before, config, token_count, content_hash, page, char_start, char_end)
  SELECT new_id, heading_path, text, gap_before, config, token_count, content_hash || '-' || n, page, char_start, char_end
  FROM copy JOIN chunk_texts t ON t.chunk_id = copy.id
)
INSERT INTO chunks (id, data_source_id, item_id, generation, ordinal, length, term_keys, term_counts)
SELECT new_id, data_source_id, item_id, generation, ordinal + n * $3::int, length, term_keys, term_counts FROM copy`;

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

if (import.meta.main) console.log(await benchAgentKnowledge(Number(process.argv[2] ?? 100_000)));
