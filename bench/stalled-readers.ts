import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Row } from './completions/completions.ts';
import { cores, start, untilIdle } from './completions/processes.ts';

const readers = 100;
const promisedMB = 100;
const watchedMs = 10_000;

/**
 * Readers that request an endless answer, read its head and then nothing more, while the provider sends as fast as it is read. Their cost is the
 * growth of the whole process at its peak, after its start; the baseline is the promised figure.
 */
export async function benchStalledReaders(): Promise<readonly Row[]> {
  const upstream = await start<{ url: string }>('upstream.ts', [], cores.load);
  const service = await start<{ url: string; adminKey: string }>('service.ts', [upstream.ready.url], cores.service);
  const sockets: Socket[] = [];
  try {
    const residentMB = async () => (await service.ask<{ rssBytes: number }>('cpu')).rssBytes / 1024 / 1024;
    await untilIdle(service);
    const before = await residentMB();
    const opening = Array.from({ length: readers }, async () => {
      const socket = await stalledReader(service.ready.url, service.ready.adminKey);
      sockets.push(socket);
    });
    const samples: number[] = [];
    for (const endMs = performance.now() + watchedMs; performance.now() < endMs; await wait(50)) samples.push(await residentMB());
    await Promise.all(opening);
    const ours = Math.max(...samples) - before;
    return [
      {
        name: `${readers} stalled readers, memory at its peak : promised`,
        raw: promisedMB,
        ours,
        unit: 'MB',
        floor: { ratioMax: 1 },
      },
    ];
  } finally {
    for (const socket of sockets) socket.destroy();
    await Promise.all([upstream, service].map((child) => child.stop()));
  }
}

async function stalledReader(url: string, key: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  const body = JSON.stringify({ model: 'openai/endless', stream: true, messages: [{ role: 'user', content: 'Hi' }] });
  socket.write(
    `POST /api/v1/chat/completions HTTP/1.1\r\nhost: parley\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await once(socket, 'data');
  socket.pause();
  return socket;
}

if (import.meta.main) {
  for (const { name, raw, ours, unit } of await benchStalledReaders())
    console.log(`${name}\t${raw} ${unit}\t${ours.toFixed(1)} ${unit}`);
  process.exit(0);
}
