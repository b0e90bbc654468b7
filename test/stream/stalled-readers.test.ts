import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { TestClient } from '../support/client.ts';
import { copyOf, type Place } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { killProcesses, startProcess } from '../support/process.ts';

const limitMs = 60_000;
const readerCount = 100;
const MiB = 1024 * 1024;
const key = 'chosen-by-the-operator-40-characters-long';

/** A provider that has no end of things to say, as fast as it is listened to. */
class EndlessUpstream {
  open = 0;
  private readonly server: Server;
  private readonly piece = Buffer.from(`data: {"choices":[{"delta":{"content":"${'x'.repeat(60_000)}"}}]}\n\n`);

  constructor() {
    this.server = createServer((request, response) => {
      request.resume();
      if (request.method === 'GET') {
        response.setHeader('content-type', 'application/json').end('{"data":[{"id":"test-model"}]}');
        return;
      }
      this.open += 1;
      response.on('close', () => {
        this.open -= 1;
      });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const speak = () => {
        while (!response.destroyed && response.write(this.piece));
      };
      response.on('drain', () => setImmediate(speak));
      speak();
    });
  }
  async listen(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }
  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

let place: Place;
let upstream: EndlessUpstream;
let sockets: Socket[];
beforeEach(async () => {
  place = await copyOf(inject('template'));
  upstream = new EndlessUpstream();
  sockets = [];
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await killProcesses();
  upstream.close();
  await place.remove();
});

async function launch(env: Readonly<Record<string, string>> = {}): Promise<TestClient> {
  const OPENAI_BASE_URL = await upstream.listen();
  const parley = startProcess({ ...place.env, PARLEY_ADMIN_KEY: key, OPENAI_BASE_URL, LOG_LEVEL: 'warn', ...env });
  const url = await parley.url();
  return new TestClient(() => url, key);
}

interface Memory {
  /** What is in use, and what waits to be collected. */
  readonly usedBytes: number;
  readonly residentBytes: number;
}
async function memoryOf(client: TestClient): Promise<Memory> {
  const { body } = await client.get('/metrics');
  const bytesOf = (name: string) => Number(new RegExp(`^parley_${name}_bytes (\\S+)`, 'm').exec(body)?.[1]);
  return {
    usedBytes: bytesOf('nodejs_heap_size_used') + bytesOf('nodejs_external_memory'),
    residentBytes: bytesOf('process_resident_memory'),
  };
}

/** Asks for a stream and reads the head of it, then nothing. */
async function stalledReader(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.on('error', () => undefined);
  const body = JSON.stringify({ model: 'openai/test-model', stream: true, messages: [{ role: 'user', content: 'Hi' }] });
  socket.write(
    `POST /api/v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  const [head] = await once(socket, 'data');
  expect(String(head)).toContain('200 OK');
  socket.pause();
  return socket;
}

describe(`${readerCount} readers that stop reading`, () => {
  it('cost bounded memory, hold no provider once they are cut off, and the service serves on', { timeout: limitMs }, async () => {
    const client = await launch({ SSE_STALL_TIMEOUT_MS: '8000' });
    const before = await memoryOf(client);
    await Promise.all(Array.from({ length: readerCount }, () => stalledReader(client.url)));
    const samples: Memory[] = [];
    await eventually(async () => {
      if (upstream.open === readerCount) samples.push(await memoryOf(client));
      // Cut off by the service: the providers' side is closed although no reader left.
      expect(upstream.open).toBe(0);
    }, 30_000);
    // The least that was seen is what the readers hold; the rest is what their first seconds left behind.
    const held = Math.min(...samples.map(({ usedBytes }) => usedBytes)) - before.usedBytes;
    console.error(
      'HELD',
      held / MiB,
      samples.length,
      (Math.max(...samples.map(({ residentBytes }) => residentBytes)) - before.residentBytes) / MiB,
    );
    expect(held).toBeLessThan(100 * MiB);
    expect(Math.max(...samples.map(({ residentBytes }) => residentBytes)) - before.residentBytes).toBeLessThan(300 * MiB);
    const { body } = await client.get('/metrics');
    expect(body).toMatch(/^parley_streams_open 0$/m);
    expect(body).toMatch(/^parley_runs_active 0$/m);
  });
});

describe(`${readerCount} readers that leave`, () => {
  it('have their provider connections closed within a second', { timeout: limitMs }, async () => {
    const client = await launch();
    const readers = await Promise.all(Array.from({ length: readerCount }, () => stalledReader(client.url)));
    expect(upstream.open).toBe(readerCount);
    for (const reader of readers) reader.destroy();
    await eventually(() => expect(upstream.open).toBe(0), 1_000);
  });
});
