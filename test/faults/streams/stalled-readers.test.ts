import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { WebSocket } from 'ws';
import { graphqlCompletion } from '../../support/apis/graphql-inputs.ts';
import { TestClient } from '../../support/client.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { killProcesses, type ParleyProcess, startProcess } from '../../support/processes/process.ts';
import { withService } from '../../support/service.ts';
import { copyOf } from '../../support/storage/databases.ts';

/** Hundreds of megabytes pass through one process before all buffers are full. */
const limitMs = 240_000;
/** Half of the promised hundred readers, with half of their memory: each needs eight megabytes to stall. */
const readerCount = 50;
const MiB = 1024 * 1024;
const key = 'chosen-by-the-operator-40-characters-long';

/** A provider with an endless answer, as fast as it is read. */
class EndlessUpstream {
  open = 0;
  saidBytes = 0;
  private readonly server: Server;
  private readonly longPiece = Buffer.from(`data: {"choices":[{"delta":{"content":"${'x'.repeat(60_000)}"}}]}\n\n`);
  /** Tokens, as models send them: most of it is not text. */
  private readonly word =
    `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1795235197,"model":"test-model","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}\n\n`;
  private readonly words = Buffer.from(this.word.repeat(300));
  isWordy = false;

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
      const piece = this.isWordy ? this.words : this.longPiece;
      const speak = () => {
        do this.saidBytes += piece.length;
        while (!response.destroyed && response.write(piece));
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

  /** Of the answers themselves, which their runs keep. */
  get answeredBytes(): number {
    return this.isWordy ? (this.saidBytes / this.word.length) * ' word'.length : this.saidBytes;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

const upstream = new EndlessUpstream();
const OPENAI_BASE_URL = await upstream.listen();
const sockets: Socket[] = [];
const webSockets: WebSocket[] = [];
beforeEach(() => {
  upstream.saidBytes = 0;
  upstream.isWordy = false;
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const socket of webSockets.splice(0)) socket.terminate();
  await killProcesses();
  await eventually(() => expect(upstream.open).toBe(0));
});
afterAll(() => upstream.close());

const { service: impatient } = await withService('model', { env: { OPENAI_BASE_URL, SSE_STALL_TIMEOUT_MS: '1000' } });
const { service: patient } = await withService('model', { env: { OPENAI_BASE_URL, SSE_STALL_TIMEOUT_MS: '5000' } });
/** Disconnects no reader while others of a test are still being connected. */
const { service: lasting } = await withService('model', { env: { OPENAI_BASE_URL, SSE_STALL_TIMEOUT_MS: '120000' } });

/** The least of several measurements, each after a collection: memory in use, without garbage. */
async function heldBytes(parley: ParleyProcess, client: TestClient): Promise<number> {
  const looks: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    parley.signal('SIGUSR2');
    const { body } = await client.get('/metrics');
    const bytesOf = (name: string) => Number(new RegExp(`^parley_${name}_bytes (\\S+)`, 'm').exec(body)?.[1]);
    looks.push(bytesOf('nodejs_heap_size_used') + bytesOf('nodejs_external_memory'));
  }
  return Math.min(...looks);
}

type Wire = readonly [path: string, body: object];
const model = 'openai/test-model';
const messages = [{ role: 'user', content: 'Hi' }];
const completion: Wire = ['/api/v1/chat/completions', { model, stream: true, messages }];
const subscription: Wire = [
  '/graphql',
  {
    query: 'subscription ($input: CompletionInput!) { completionEvents(input: $input) { ... on TextDelta { delta } } }',
    variables: { input: graphqlCompletion({ model, messages }) },
  },
];
const response: Wire = ['/api/v2/responses', { model, stream: true, store: false, input: 'Hi' }];

/** Requests a stream and reads its head, then nothing. */
async function stalledReader(client: TestClient, [path, members]: Wire = completion): Promise<Socket> {
  const { hostname, port } = new URL(client.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.on('error', () => undefined);
  const body = JSON.stringify(members);
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${client.key}\r\naccept: text/event-stream\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  const [head] = await once(socket, 'data');
  expect(String(head)).toContain('200 OK');
  socket.pause();
  return socket;
}

/** Asks for a response over a WebSocket and reads its first message, then nothing. */
async function stalledSocket({ url, key }: TestClient): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v2/responses`, { headers: { authorization: `Bearer ${key}` } });
  webSockets.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'response.create', model, store: false, input: 'Hi' }));
  await once(socket, 'message');
  socket.pause();
  return socket;
}

function openReaders(client: TestClient, count: number): Promise<Socket[]> {
  return Promise.all(Array.from({ length: count }, () => stalledReader(client)));
}

describe('readers that stop reading', () => {
  type Case = readonly [wire: string, count: number, isWordy: boolean, open: (client: TestClient) => Promise<unknown>];
  const wires: readonly Case[] = [
    ['a completion', readerCount, false, (client) => stalledReader(client)],
    ['a response, token by token', readerCount, true, (client) => stalledReader(client, response)],
    // Its events are the smallest, and each is executed: to fill the buffers of fifty would take minutes.
    ['a subscription, token by token', 15, true, (client) => stalledReader(client, subscription)],
    ['a WebSocket, token by token', readerCount, true, (client) => stalledSocket(client)],
  ];
  it.each(wires)(
    'of %s cost bounded memory, and the service keeps serving',
    { timeout: limitMs },
    async (_wire, count, isWordy, open) => {
      upstream.isWordy = isWordy;
      const place = await copyOf(inject('template'));
      const NODE_OPTIONS = `--import ${new URL('../../support/processes/collects-garbage.mjs', import.meta.url)}`;
      const own = { NODE_OPTIONS, OPENAI_BASE_URL, PARLEY_ADMIN_KEY: key, LOG_LEVEL: 'warn', SSE_STALL_TIMEOUT_MS: '120000' };
      const parley = startProcess({ ...place.env, ...own });
      const url = await parley.url();
      const client = new TestClient(() => url, key);
      // What is loaded for the first of them is no part of what each costs.
      await open(client);
      await nothingMoreIsSaid();
      const before = await heldBytes(parley, client);
      const answeredBefore = upstream.answeredBytes;
      await Promise.all(Array.from({ length: count }, () => open(client)));
      await nothingMoreIsSaid();
      const held = (await heldBytes(parley, client)) - before;
      // A reader of the smallest frames stalls behind an answer of some hundred thousand characters.
      const answered = isWordy ? upstream.answeredBytes - answeredBefore : 0;
      // All readers are connected, and the provider is paused.
      expect(upstream.open).toBe(count + 1);
      expect(held).toBeGreaterThan(0);
      expect(held - answered).toBeLessThan(count * MiB);
    },
  );

  it('are disconnected, and hold no provider connection any more', { timeout: limitMs }, async () => {
    const client = impatient.client();
    await openReaders(client, 10);
    // The service closed them: no reader has left.
    await eventually(() => expect(upstream.open).toBe(0), 30_000);
    await eventually(async () => {
      const { body } = await client.get('/metrics');
      expect(body).toMatch(/^parley_streams_open 0$/m);
      expect(body).toMatch(/^parley_runs_active 0$/m);
    });
  });
});

describe.each<[string, Wire]>([
  ['a subscription of GraphQL', subscription],
  ['a response', response],
])('a reader of %s that stops reading', (_wire, wire) => {
  it('is disconnected, and holds no provider connection any more', { timeout: limitMs }, async () => {
    await stalledReader(impatient.client(), wire);
    await eventually(() => expect(upstream.open).toBe(0), 60_000);
  });
});

describe('a reader of a WebSocket that stops reading', () => {
  /** The size of all buffers, and of the events sent while they fill. */
  const saidMaxBytes = 60 * MiB;
  it('pauses its provider, and is disconnected', { timeout: limitMs }, async () => {
    const socket = await stalledSocket(patient.client());
    const closed = once(socket, 'close');
    await nothingMoreIsSaid();
    expect(upstream.saidBytes).toBeLessThan(saidMaxBytes);
    await eventually(() => expect(upstream.open).toBe(0));
    socket.resume();
    await closed;
  });
});

/** All buffers are full: for a second and a half nothing was sent to any reader. */
async function nothingMoreIsSaid(): Promise<void> {
  let before = -1;
  let quietTurns = 0;
  await eventually(async () => {
    await wait(500);
    quietTurns = upstream.saidBytes === before ? quietTurns + 1 : 0;
    before = upstream.saidBytes;
    expect(quietTurns).toBeGreaterThanOrEqual(3);
  });
}

describe('readers that leave', () => {
  it('have their provider connections closed at once', { timeout: limitMs }, async () => {
    const readers = await openReaders(lasting.client(), 30);
    expect(upstream.open).toBe(30);
    for (const reader of readers) reader.destroy();
    await eventually(() => expect(upstream.open).toBe(0));
  });
});
