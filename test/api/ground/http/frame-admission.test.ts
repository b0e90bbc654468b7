import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { heldFetch } from '../../../support/apis/held-fetch.ts';
import { type Frame, type Resolver, startFrame } from '../../../support/apis/rest-frame.ts';
import { oneThenWait } from '../../../support/apis/waiting-source.ts';
import { timed } from '../../../support/processes/clock.ts';
import { eventually } from '../../../support/processes/eventually.ts';

let frame: Frame | undefined;
afterEach(() => frame?.close());

async function start(runEvents: Resolver, settings: Readonly<Record<string, string>>): Promise<Frame> {
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

function until(isTrue: () => boolean): Promise<void> {
  return eventually(() => expect(isTrue()).toBe(true));
}

describe('admission', () => {
  it('answers 503 at once when the process is full, and serves again when a run has ended', async () => {
    const service = await start(
      oneThenWait(() => undefined),
      { RUNS_ACTIVE_MAX: '2' },
    );
    const controllers = [new AbortController(), new AbortController()];
    await post(service, streamed, controllers[0]?.signal);
    await post(service, streamed, controllers[1]?.signal, 'other');
    const askAgain = () => timed(() => post(service, streamed));
    const asked = [await askAgain(), await askAgain(), await askAgain()] as const;
    const [{ result: refused }] = asked;
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({ error: { code: 'overloaded', type: 'server_error' } });
    expect(Math.min(...asked.map(({ elapsedMs }) => elapsedMs))).toBeLessThan(100);
    controllers[0]?.abort();
    await until(() => service.admission.activeCount === 1);
    expect((await post(service, streamed)).status).toBe(200);
  });
  it('refuses after authentication and before it has read a body, and keeps the connection', async () => {
    const service = await start(
      oneThenWait(() => undefined),
      { RUNS_ACTIVE_MAX: '1' },
    );
    const running = new AbortController();
    await post(service, streamed, running.signal);
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
    });
    const body = JSON.stringify(streamed);
    const head = (key: string) =>
      `POST /api/v1/runs HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
    socket.write(head('other'));
    await until(() => received.includes('"code":"overloaded"'));
    expect(received).toMatch(/^HTTP\/1\.1 503 [\s\S]*\r\nx-request-id: req_[\s\S]*\r\nretry-after: 1\r\n/);
    socket.write(`${body}${head('nobody')}${body}`);
    await until(() => received.includes('HTTP/1.1 401'));
    // The key `reader` lacks the scope of this route: that is also answered before the body.
    socket.write(`${head('reader')}${body}`);
    await until(() => received.includes('HTTP/1.1 403'));
    running.abort();
    await until(() => service.admission.activeCount === 0);
    socket.write(`${head('other')}${body}`);
    await until(() => received.includes('HTTP/1.1 200'));
    socket.destroy();
  });
  it('disconnects a refused client that sends more than the upload limit', async () => {
    const service = await start(
      oneThenWait(() => undefined),
      { RUNS_ACTIVE_MAX: '1', UPLOAD_MAX_BYTES: '100000' },
    );
    await post(service, streamed);
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    let isClosed = false;
    socket
      .on('error', () => undefined)
      .on('close', () => {
        isClosed = true;
      });
    socket.resume();
    socket.write(
      'POST /api/v1/runs HTTP/1.1\r\nhost: x\r\nauthorization: Bearer other\r\ncontent-type: application/json\r\ncontent-length: 100000000\r\n\r\n',
    );
    const piece = Buffer.alloc(10_000, 'x');
    await until(() => {
      if (!isClosed) socket.write(piece);
      return isClosed;
    });
  });
  it('keeps room for other tenants when one is noisy', async () => {
    const service = await start(
      oneThenWait(() => undefined),
      { RUNS_ACTIVE_MAX: '10' },
    );
    const statuses: number[] = [];
    for (let call = 0; call < 12; call += 1) statuses.push((await post(service, streamed)).status);
    expect(statuses.slice(8)).toEqual([429, 429, 429, 429]);
    expect((await post(service, streamed, undefined, 'other')).status).toBe(200);
  });
});
