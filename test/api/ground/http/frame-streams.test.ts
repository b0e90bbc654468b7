import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunEvent } from '../../../../src/entities/conversations/runs/event.ts';
import { DomainError } from '../../../../src/entities/ground/errors.ts';
import { SseStreams } from '../../../../src/http/reply/sse.ts';
import type { StreamEncoderFactory } from '../../../../src/wire/ground/encoder.ts';
import { heldFetch } from '../../../support/apis/held-fetch.ts';
import {
  eventOf,
  type Frame,
  frameEncoder,
  frameRows,
  type Resolver,
  startFrame,
  streamOf,
} from '../../../support/apis/rest-frame.ts';
import { oneThenWait } from '../../../support/apis/waiting-source.ts';
import { startClock } from '../../../support/processes/clock.ts';
import { eventually } from '../../../support/processes/eventually.ts';

let frame: Frame | undefined;
afterEach(() => frame?.close());

async function start(runEvents: Resolver, settings: Readonly<Record<string, string>> = {}): Promise<Frame> {
  frame = await startFrame({ resolvers: { runEvents }, settings });
  return frame;
}

function post({ url }: Frame, body: unknown, signal?: AbortSignal, key = 'all'): Promise<Response> {
  return heldFetch(`${url}/api/v1/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}
const streamed = { prompt: 'p', stream: true };

function until(isTrue: () => boolean, timeoutMs?: number): Promise<void> {
  return eventually(() => {
    if (!isTrue()) throw new Error('it did not happen in time');
  }, timeoutMs);
}

/** A client that sends one streaming request over a bare socket, so that the test sees single writes and decides when to read. */
async function rawStream({ server }: Frame): Promise<Socket> {
  const address = server.address();
  const socket = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1');
  await once(socket, 'connect');
  const body = JSON.stringify(streamed);
  socket.write(
    `POST /api/v1/runs HTTP/1.1\r\nhost: x\r\nauthorization: Bearer all\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}

describe('a stream', () => {
  it('has the head that proxies and clients need, every event, and its end', async () => {
    const service = await start(() =>
      streamOf(async function* () {
        yield [eventOf(0), eventOf(1)];
        yield [eventOf(2)];
      }),
    );
    const reply = await post(service, streamed);
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'x-row': 'run',
    });
    expect(reply.headers.get('x-request-id')).toMatch(/^req_/);
    expect(await reply.text()).toBe('data: 0\n\ndata: 1\n\ndata: 2\n\ndata: [DONE]\n\n');
  });
  it('encodes the events that close a long answer one by one, as its reader takes them', async () => {
    // More than the systems of both sides take for a reader that stalls.
    const text = 'x'.repeat(32 * 1024 * 1024);
    const encodedSequences: number[] = [];
    const encoder: StreamEncoderFactory = (variables, context) => ({
      ...frameEncoder(variables, context),
      encode: (events) => {
        encodedSequences.push(...events.map(({ sequence }) => sequence));
        return events
          .map((event) => `data: ${event.type === 'response.output_text.done' ? event.text : event.sequence}\n\n`)
          .join('');
      },
    });
    const runEvents: Resolver = () =>
      streamOf(async function* () {
        yield [
          eventOf(0),
          { type: 'response.output_text.done', sequence: 1, outputIndex: 0, itemId: 'msg_1', text },
          eventOf(2),
          { ...eventOf(3), type: 'response.completed' } as RunEvent,
        ];
      });
    const rows = frameRows.map((row) => (row.stream === undefined ? row : { ...row, stream: { ...row.stream, encoder } }));
    frame = await startFrame({ resolvers: { runEvents }, rows });
    const socket = await rawStream(frame);
    let tail = String(((await once(socket, 'data')) as [Buffer])[0]);
    socket.pause();
    expect(encodedSequences).toEqual([0, 1]);
    socket.on('data', (chunk) => {
      tail = (tail + String(chunk)).slice(-100);
    });
    socket.resume();
    await until(() => tail.includes('[DONE]'), 60_000);
    socket.destroy();
    expect(encodedSequences).toEqual([0, 1, 2, 3]);
    expect(tail.replaceAll(/\r\n[0-9a-f]+\r\n/g, '')).toContain('data: 2\n\ndata: 3\n\ndata: [DONE]\n\n');
  });
  it('takes a source without batches', async () => {
    const service = await start(async function* () {
      yield eventOf(0);
    });
    expect(await (await post(service, streamed)).text()).toBe('data: 0\n\ndata: [DONE]\n\n');
  });
  it.each([
    ['the resolver', () => Promise.reject(new DomainError('MODEL_NOT_FOUND', 'no such model', { param: 'modelId' }))],
    [
      'the first event',
      () =>
        streamOf(async function* () {
          yield* [] as RunEvent[][];
          throw new DomainError('MODEL_NOT_FOUND', 'no such model', { param: 'modelId' });
        }),
    ],
  ])('that fails before %s is a JSON error with its status', async (_case, source) => {
    const reply = await post(await start(source), streamed);
    expect([reply.status, await reply.json()]).toEqual([
      404,
      { error: { message: 'no such model', type: 'invalid_request_error', param: 'model_id', code: 'model_not_found' } },
    ]);
  });
  it('that fails later ends with the frames of its failure', async () => {
    const service = await start(() =>
      streamOf(async function* () {
        yield [eventOf(0)];
        throw new DomainError('UPSTREAM_ERROR', 'gone');
      }),
    );
    expect(await (await post(service, streamed)).text()).toBe('data: 0\n\ndata: {"error":"UPSTREAM_ERROR"}\n\ndata: [DONE]\n\n');
  });
  it('aborts its source within a second when the client leaves', async () => {
    let isGone = false;
    const service = await start(
      oneThenWait(() => {
        isGone = true;
      }),
    );
    const controller = new AbortController();
    const reply = await post(service, streamed, controller.signal);
    await reply.body?.getReader().read();
    controller.abort();
    await until(() => isGone, 1_000);
    await until(() => service.admission.activeCount === 0, 1_000);
  });
  it('ends when its key is revoked, and says so', async () => {
    const service = await start(oneThenWait(() => undefined));
    const reply = await post(service, streamed);
    const text = reply.text();
    await until(() => service.admission.activeCount === 1);
    service.endKey('key_all');
    expect(await text).toBe('data: 0\n\ndata: {"error":"INVALID_API_KEY"}\n\ndata: [DONE]\n\n');
  });
  it('hands the number of Last-Event-ID to the encoder', async () => {
    let last: unknown;
    const row = frameRows.find(({ operationId }) => operationId === 'run');
    if (row?.stream === undefined) throw new Error('no such row');
    const encoder: typeof row.stream.encoder = (variables, context) => {
      last = variables.lastFrame;
      return frameEncoder(variables, context);
    };
    const stream = { ...row.stream, when: 'always' as const, resumesFrames: true, encoder };
    const events = async function* () {
      yield [eventOf(42)];
    };
    frame = await startFrame({
      resolvers: { runEvents: () => streamOf(events) },
      rows: [...frameRows.filter((other) => other !== row), { ...row, stream }],
    });
    const headers = { authorization: 'Bearer all', 'content-type': 'application/json', 'last-event-id': 'run_1:41' };
    await (await fetch(`${frame.url}/api/v1/runs`, { method: 'POST', headers, body: '{"prompt":"p"}' })).text();
    expect(last).toBe(41);
  });
});

describe('a quiet stream', () => {
  it('is kept open by comments of one line', async () => {
    const service = await start(
      oneThenWait(() => undefined),
      { SSE_HEARTBEAT_MS: '80' },
    );
    const controller = new AbortController();
    const reply = await post(service, streamed, controller.signal);
    let text = '';
    const decoder = new TextDecoder();
    const clock = startClock();
    for await (const chunk of reply.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.split(': ping\n').length > 3) break;
    }
    controller.abort();
    expect(text).toMatch(/^data: 0\n\n(: ping\n){3}/);
    expect(clock.elapsedMs()).toBeLessThan(3_000);
    clock.stop();
  });
});

describe('a reader that stops reading', () => {
  const endless: Resolver = (_args, { signal }) =>
    streamOf(async function* () {
      for (let sequence = 0; !signal.aborted; sequence += 1_000) {
        taken += 1;
        yield Array.from({ length: 1_000 }, (_, index) => eventOf(sequence + index));
      }
    });
  let taken = 0;

  it('holds back its source and is cut off after a while', async () => {
    taken = 0;
    const service = await start(endless, { SSE_STALL_TIMEOUT_MS: '300' });
    const socket = await rawStream(service);
    socket.pause();
    await until(() => taken > 0);
    await until(() => service.admission.activeCount === 0);
    // The accepted batches fit the buffers of two sockets, some megabytes at most: a batch has 13 KB.
    expect(taken).toBeLessThan(1_500);
    socket.destroy();
  });
  it('continues where it stopped when it reads again in time', async () => {
    const count = 600;
    const service = await start(
      () =>
        streamOf(async function* () {
          for (let batch = 0; batch < count; batch += 1) {
            yield Array.from({ length: 1_000 }, (_, index) => eventOf(batch * 1_000 + index));
          }
        }),
      { SSE_BUFFER_MAX_BYTES: '3000' },
    );
    const socket = await rawStream(service);
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text = (text + chunk).slice(-200);
      if (Math.random() < 0.02) {
        socket.pause();
        setImmediate(() => socket.resume());
      }
    });
    await until(() => text.includes('[DONE]'));
    expect(text).toContain(`data: ${count * 1_000 - 1}\n`);
    socket.destroy();
  });
});

it('a stream writes ends of lines by Unicode as escapes, at which some clients cut its lines', async () => {
  const streams = new SseStreams({ heartbeatMs: 1_000, bufferMaxBytes: 40 });
  const text = `one\u2028two\u2029three\u0085${'é'.repeat(60)}`;
  const frame = `data: ${JSON.stringify(text)}\n\n`;
  const server = createServer(async (_req, res) => {
    const stream = streams.start(res, 'req_1', []);
    await stream.write(frame);
    stream.end(frame);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const received = await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).text();
  expect(received).not.toMatch(/[\u0085\u2028\u2029]/);
  expect(received.match(/^data: .*$/gm)?.map((line) => JSON.parse(line.slice('data: '.length)))).toEqual([text, text]);
  await new Promise((done) => server.close(done));
});

it('a stream for a reader who left while it was opened is not kept', async () => {
  const streams = new SseStreams({ heartbeatMs: 1_000, bufferMaxBytes: 1_000 });
  const { promise: left, resolve } = Promise.withResolvers<ServerResponse>();
  const server = createServer((_req, res) => res.once('close', () => resolve(res)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const leaving = new AbortController();
  const { port } = server.address() as AddressInfo;
  const reply = fetch(`http://127.0.0.1:${port}/`, { signal: leaving.signal }).catch(() => undefined);
  await once(server, 'request');
  leaving.abort();
  const stream = streams.start(await left, 'req_1', []);
  await reply;
  expect([stream.isClosed, streams.openCount]).toEqual([true, 0]);
  await new Promise((done) => server.close(done));
});
