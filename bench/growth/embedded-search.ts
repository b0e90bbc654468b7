import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../src/http/log/logging.ts';
import { loadSettings } from '../../src/settings.ts';
import { startService } from '../../src/start/service.ts';

/**
 * How long others wait while one person searches 250,000 messages on the embedded database, for a word that nothing contains: another list of chats is asked
 * for, again and again, before and during the search. Takes about a minute.
 *
 * `node bench/growth/embedded-search.ts`
 */
const adminKey = 'pk-bench-administrator-key-of-40-characters';
const messages = 250_000;
const messagesOfChat = 50;
const folder = await mkdtemp(join(tmpdir(), 'parley-search-'));
const settings = loadSettings({ PORT: '0', DATA_DIR: folder, PARLEY_ADMIN_KEY: adminKey, DEMO: 'off', LOG_LEVEL: 'error' });
const service = await startService(settings, createLogger({ ...settings, LOG_LEVEL: 'silent' }), (error) => {
  throw error;
});
try {
  const { pool } = service.deps.storage.db;
  const { rows } = await pool.query('select "orgId", "userId" from memberships limit 1');
  for (let from = 1; from <= messages; from += 25_000) {
    await pool.query(
      `insert into chats (id, "updatedAt", "orgId", "userId", name)
       select 'chat_' || lpad(i::text, 26, '0'), now() - interval '1 minute' * i, $1, $2, 'Chat ' || i
       from generate_series(($3::int - 1) / ${messagesOfChat} + 1, ($3::int + 24999) / ${messagesOfChat}) i`,
      [rows[0].orgId, rows[0].userId, from],
    );
    await pool.query(
      `insert into messages (id, "updatedAt", "chatId", ordinal, role, content)
       select 'msg_' || i, now(), 'chat_' || lpad(((i - 1) / ${messagesOfChat} + 1)::text, 26, '0'), (i - 1) % ${messagesOfChat}, 'user',
         repeat('What ' || md5(i::text) || ' says. ', 8) from generate_series($1::int, $1::int + 24999) i`,
      [from],
    );
  }
  await pool.query('analyze chats; analyze messages');
  const alone = await waits(sleep(2_000));
  const search = searchAll();
  const beside = await waits(search.then(() => undefined));
  const { pages, tookMs } = await search;
  console.log(`search of ${messages} messages: ${pages} pages, ${tookMs.toFixed(0)} ms`);
  console.log(
    `others before: p50 ${at(alone, 0.5)} ms, worst ${at(alone, 1)} ms; during the search: p50 ${at(beside, 0.5)} ms, worst ${at(beside, 1)} ms`,
  );
} finally {
  await service.close(1_000);
  await rm(folder, { recursive: true, force: true });
}

/** Follows the cursor to the end. */
async function searchAll() {
  const started = performance.now();
  let cursor: string | null = '';
  let pages = 0;
  for (; cursor !== null; pages += 1) {
    const place: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { nextCursor } = await get<{ nextCursor: string | null }>(`/api/v1/chats?search=zebrafinch${place}`);
    cursor = nextCursor;
  }
  return { pages, tookMs: performance.now() - started };
}

/** How long each of many small requests takes, one after the other, until `end`. */
async function waits(end: Promise<void>): Promise<readonly number[]> {
  let isOver = false;
  void end.finally(() => {
    isOver = true;
  });
  const times: number[] = [];
  while (!isOver) {
    const started = performance.now();
    await get('/api/v1/chats?limit=5');
    times.push(performance.now() - started);
  }
  return times.toSorted((one, other) => one - other);
}

async function get<T>(path: string): Promise<T> {
  const reply = await fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${adminKey}` } });
  if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`);
  return (await reply.json()) as T;
}

function at(times: readonly number[], part: number): string {
  return (times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0).toFixed(0);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
