import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { type Installation, startInstallation } from '../../test/support/processes/installation.ts';

/**
 * `node bench/growth/soak.ts [--minutes 30] [--clients 8]`: three instances behind HAProxy, with PostgreSQL, Redis and a file store, under a steady load of
 * completions, chats, followed responses, documents and lists. Every ten seconds it counts resident memory, descriptors, connections and waiting
 * jobs; at the end it compares the last quarter with the second one, and prints what was refused. Exits with status 1 when something grew by more
 * than a fifth, or an answer was wrong.
 */
const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '30' }, clients: { type: 'string', default: '8' } },
});
const minutes = Number(values.minutes);
const sampleMs = 10_000;
const growthMax = 1.2;
const model = 'openai/test-model';

interface Sample {
  readonly residentMb: number;
  readonly descriptors: number;
  readonly connections: number;
  readonly waitingJobs: number;
  readonly notificationQueue: number;
}

const installation = await startInstallation();
const tables = new Client({ connectionString: installation.postgres.url });
await tables.connect();
const stop = new AbortController();
const counts = new Map<string, number>();
try {
  installation.upstream.otherwise({ text: ['One ', 'two ', 'three.'], chunkDelayMs: 20 });
  const agent = await installation.ann.post('/api/v1/ais', {
    ...{ src: 'x', name: 'Ada', description: 'Knows', instructions: 'Be brief.', modelId: model },
  });
  const work = Array.from({ length: Number(values.clients) }, (_, index) => load(installation, agent.body.id, index));
  const samples: Sample[] = [];
  for (const until = performance.now() + minutes * 60_000; performance.now() < until; ) {
    await wait(sampleMs);
    samples.push(await sample(installation));
    // The records of the stand-in are not part of what is measured.
    installation.upstream.reset();
    installation.upstream.otherwise({ text: ['One ', 'two ', 'three.'], chunkDelayMs: 20 });
  }
  stop.abort();
  await Promise.all(work);
  report(samples);
} finally {
  await tables.end();
  await installation.close();
}

async function load({ ann }: Installation, agentId: string, index: number): Promise<void> {
  const messages = [{ role: 'user', content: 'Hi' }];
  const acts: readonly (readonly [name: string, act: () => Promise<number>])[] = [
    ['completion', async () => (await ann.post('/api/v1/chat/completions', { model, messages })).status],
    [
      'stream',
      async () =>
        (await ann.stream('/api/v1/chat/completions', { model, messages, stream: true })).at(-1)?.data === '[DONE]' ? 200 : 0,
    ],
    [
      'chat',
      async () => {
        const { body } = await ann.post(`/api/v1/ais/${agentId}/chats`);
        await ann.post(`/api/v1/chats/${body.id}/messages`, { prompt: 'Hi' });
        return (await ann.post(`/api/v1/chats/${body.id}/messages`, { prompt: 'And now?' })).status;
      },
    ],
    [
      'followed response',
      async () => {
        const { body } = await ann.post('/api/v2/responses', { model, input: 'Hi', background: true });
        const frames = await Array.fromAsync(ann.sse('GET', `/api/v2/responses/${body.id}?stream=true`));
        return frames.at(-1)?.event === 'done' ? 200 : 0;
      },
    ],
    [
      'document',
      async () => {
        const form = new FormData();
        form.set(
          'file',
          new File([`# Notes\n\n${'The answer is forty-two. '.repeat(50)}`], 'notes.md', { type: 'text/markdown' }),
        );
        const { body } = await ann.post(`/api/v1/ais/${agentId}/chats`);
        return (await ann.post(`/api/v1/chats/${body.id}/files`, form)).status;
      },
    ],
    [
      'list',
      async () =>
        (await ann.graphql('{ chats(first: 20) { nodes { id name } } agents(first: 20) { nodes { id name } } }')).status,
    ],
  ];
  for (let turn = index; !stop.signal.aborted; turn += 1) {
    const [name, act] = acts[turn % acts.length] ?? ['', async () => 0];
    const status = await act().catch(() => 0);
    const key = `${name} ${status === 200 ? 'answered' : `refused (${status})`}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    await wait(50);
  }
}

async function sample({ instances }: Installation): Promise<Sample> {
  const ids = instances.map(({ process }) => process.pid);
  const resident = (id: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  const { rows } = await tables.query<{ connections: number; waiting: number; queue: number }>(
    `select (select count(*)::int from pg_stat_activity where application_name like 'parley%') as connections,
       (select count(*)::int from pgboss.job where state < 'active' and start_after <= now()) as waiting, pg_notification_queue_usage() as queue`,
  );
  return {
    residentMb: Math.max(...ids.map(resident)),
    descriptors: Math.max(...ids.map((id) => readdirSync(`/proc/${id}/fd`).length)),
    connections: rows[0]?.connections ?? 0,
    waitingJobs: rows[0]?.waiting ?? 0,
    notificationQueue: rows[0]?.queue ?? 0,
  };
}

function report(samples: readonly Sample[]): void {
  const quarter = (n: number) => samples.slice(Math.floor((samples.length * n) / 4), Math.floor((samples.length * (n + 1)) / 4));
  const mean = (part: readonly Sample[], name: keyof Sample) =>
    part.reduce((sum, one) => sum + one[name], 0) / Math.max(1, part.length);
  console.log(
    `${minutes} minutes, ${values.clients} clients, ${samples.length} samples\n\twhole\tsecond quarter\tlast quarter\tmost`,
  );
  for (const name of ['residentMb', 'descriptors', 'connections', 'waitingJobs', 'notificationQueue'] as const) {
    const [second, last] = [mean(quarter(1), name), mean(quarter(3), name)];
    const grew = last > second * growthMax && last > second + 5;
    if (grew) process.exitCode = 1;
    const most = Math.max(...samples.map((one) => one[name]));
    console.log(
      [name, mean(samples, name).toFixed(1), second.toFixed(1), last.toFixed(1), most.toFixed(1), grew ? 'GREW' : ''].join('\t'),
    );
  }
  for (const [name, count] of [...counts].toSorted()) console.log(`${count}\t${name}`);
  if ([...counts.keys()].some((name) => name.includes('refused'))) process.exitCode = 1;
}
