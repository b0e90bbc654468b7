import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Row } from './completions/completions.ts';
import { send } from './completions/load.ts';
import { cores, start, untilIdle } from './completions/processes.ts';

const readers = 100;
const promisedMB = 100;
const watchedMs = 10_000;
/** Streams to their end before the readers, so that the growth is theirs and not that of V8, which compiles what it has not run yet. */
const warmUpStreams = 400;
const warmUpConnections = 20;

interface Way {
  readonly name: string;
  readonly path: string;
  body(model: string): object;
}

const prompt = 'Hi';
const ways: readonly Way[] = [
  {
    name: 'completions',
    path: '/api/v1/chat/completions',
    body: (model) => ({ model, stream: true, messages: [{ role: 'user', content: prompt }] }),
  },
  { name: 'responses', path: '/api/v1/responses', body: (model) => ({ model, stream: true, store: false, input: prompt }) },
  {
    name: 'GraphQL subscription',
    path: '/graphql',
    body: (model) => ({
      query: 'subscription ($input: CompletionInput!) { completionEvents(input: $input) { ... on TextDelta { delta } } }',
      variables: { input: { model, messages: [{ user: { text: prompt } }] } },
    }),
  },
];

/**
 * Readers that request an endless answer, read its head and then nothing more, while the provider sends as fast as it is read. Their cost is the
 * growth of the whole process at its peak, from when it is idle after other streams; the baseline is the promised figure.
 */
export async function benchStalledReaders(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const way of ways) rows.push(await benchWay(way));
  return rows;
}

async function benchWay(way: Way): Promise<Row> {
  const upstream = await start<{ url: string }>('upstream.ts', [], cores.load);
  const service = await start<Service>('service.ts', [upstream.ready.url], cores.service);
  const sockets: Socket[] = [];
  try {
    const residentMB = async () => (await service.ask<{ rssBytes: number }>('cpu')).rssBytes / 1024 / 1024;
    await warmUp(way, service.ready);
    await untilIdle(service);
    const before = await residentMB();
    const opening = Array.from({ length: readers }, async () => {
      const socket = await stalledReader(way, service.ready);
      sockets.push(socket);
    });
    const samples: number[] = [];
    for (const endMs = performance.now() + watchedMs; performance.now() < endMs; await wait(50)) samples.push(await residentMB());
    await Promise.all(opening);
    return {
      name: `${readers} stalled readers, ${way.name}, memory at its peak : promised`,
      raw: promisedMB,
      ours: Math.max(...samples) - before,
      unit: 'MB',
      floor: { ratioMax: 1 },
    };
  } finally {
    for (const socket of sockets) socket.destroy();
    await Promise.all([upstream, service].map((child) => child.stop()));
  }
}

interface Service {
  readonly url: string;
  readonly adminKey: string;
}

function headersOf({ adminKey }: Service): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json', accept: 'text/event-stream' };
}

async function warmUp(way: Way, service: Service): Promise<void> {
  const pool = new Pool(service.url, { connections: warmUpConnections });
  const body = JSON.stringify(way.body('openai/burst-2000'));
  const target = { name: way.name, url: service.url, path: way.path, headers: headersOf(service), body };
  await Promise.all(Array.from({ length: warmUpStreams }, () => send(pool, target)));
  await pool.close();
}

async function stalledReader(way: Way, service: Service): Promise<Socket> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  const body = JSON.stringify(way.body('openai/endless'));
  const headers = Object.entries({ host: 'parley', ...headersOf(service), 'content-length': body.length });
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`POST ${way.path} HTTP/1.1\r\n${head}\r\n${body}`);
  await once(socket, 'data');
  socket.pause();
  return socket;
}

if (import.meta.main) {
  for (const { name, raw, ours, unit } of await benchStalledReaders())
    console.log(`${name}\t${raw} ${unit}\t${ours.toFixed(1)} ${unit}`);
  process.exit(0);
}
