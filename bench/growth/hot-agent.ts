import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { cores, start } from '../completions/processes.ts';
import { callJson, startOnServer } from '../support/service.ts';

/**
 * Short messages a second with 64 at one time: all to one agent, and each to an agent of its own; and the locks that sessions of PostgreSQL wait for
 * meanwhile. One agent should be as fast as many.
 *
 * Run: `DATABASE_URL=postgres://… node bench/growth/hot-agent.ts`. Needs a server on which it makes and drops a database. About 40 seconds.
 */
const concurrency = 64;
const passMs = 10_000;
const lookEveryMs = 20;

const { DATABASE_URL } = process.env;
if (DATABASE_URL === undefined) throw new Error('DATABASE_URL names no PostgreSQL server');
const server = new Client({ connectionString: DATABASE_URL });
await server.connect();
const database = `parley_bench_hot_${process.pid}`;
await server.query(`create database ${database}`);
const folder = await mkdtemp(join(tmpdir(), 'parley-hot-'));
const address = new URL(DATABASE_URL);
address.pathname = database;
const upstream = await start<{ url: string }>('upstream.ts', [], cores.load);
const service = await startOnServer({ folder, databaseUrl: address.href, modelsUrl: upstream.ready.url });
try {
  const newAgent = async () =>
    (
      await callJson(`${service.url}/api/v1/ais`, {
        src: '',
        name: 'Bench',
        description: '',
        instructions: 'Be brief.',
        modelId: 'openai/whole',
      })
    ).id;
  const newChat = async (agentId: string) => (await callJson(`${service.url}/api/v1/ais/${agentId}/chats`, {})).id;
  const hot = await newAgent();
  const oneAgent = await Promise.all(Array.from({ length: concurrency }, () => newChat(hot)));
  const manyAgents = await Promise.all(Array.from({ length: concurrency }, async () => newChat(await newAgent())));
  // Twice, in turns: the first pass of each also prepares statements.
  for (const pass of [1, 2]) {
    await report(`many agents, pass ${pass}`, manyAgents);
    await report(`one agent, pass ${pass}`, oneAgent);
  }
  await wait(2_500);
  const { rows } = await query<{ counted: number; messages: number }>(
    `select (select "messageCount" from agents where id = '${hot}') as counted,
       (select count(*)::int from messages m join chats c on c.id = m."chatId" where c."agentId" = '${hot}' and m.role in ('user', 'assistant')) as messages`,
  );
  console.log(`count of the agent: ${rows[0]?.counted}, its messages: ${rows[0]?.messages}`);
} finally {
  await service.close(1_000);
  await upstream.stop();
  await server.query(`drop database ${database} with (force)`);
  await server.end();
  await rm(folder, { recursive: true, force: true });
}

async function report(what: string, chatIds: readonly string[]): Promise<void> {
  const waits = new Map<string, number>();
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const { rows } = await server.query<{ waits: string }>(
        `select concat_ws(' ', wait_event_type, wait_event, left(regexp_replace(query, '\\s+', ' ', 'g'), 60)) as waits from pg_stat_activity
         where datname = '${database}' and wait_event_type in ('Lock', 'LWLock')`,
      );
      for (const row of rows) waits.set(row.waits, (waits.get(row.waits) ?? 0) + 1);
      await wait(lookEveryMs);
    }
  })();
  const startedMs = performance.now();
  let count = 0;
  await Promise.all(
    chatIds.map(async (chatId) => {
      while (performance.now() - startedMs < passMs) {
        await callJson(`${service.url}/api/v1/chats/${chatId}/messages`, { prompt: 'Hello' });
        count += 1;
      }
    }),
  );
  const seconds = (performance.now() - startedMs) / 1_000;
  isOver = true;
  await watching;
  console.log(`${what}: ${(count / seconds).toFixed(0)} messages a second`);
  const most = [...waits].sort(([, a], [, b]) => b - a).slice(0, 5);
  for (const [name, seen] of most) console.log(`  ${seen} times waiting: ${name}`);
}

async function query<Row extends object>(text: string): Promise<{ readonly rows: readonly Row[] }> {
  const client = new Client({ connectionString: address.href });
  await client.connect();
  try {
    return await client.query<Row>(text);
  } finally {
    await client.end();
  }
}
