import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../../../support/processes/eventually.ts';
import { scriptResearch } from '../../../support/runs/research.ts';
import { type WireEvent, walk } from '../../../support/runs/response-walk.ts';
import { endlessAnswer, responsesBench } from '../../../support/runs/responses.ts';

/** What the format leaves open about its WebSocket transport. test/contract/open-responses/conformance-socket.test.ts tests the format's own rules. */
const bench = await responsesBench({ BODY_MAX_BYTES: '100000', SOCKETS_PER_KEY_MAX: '8' });

async function refusedSocket(key: string) {
  const headers = { authorization: `Bearer ${key}` };
  const socket = new WebSocket(`${bench.service.url.replace('http', 'ws')}/api/v2/responses`, { headers });
  const reply = await new Promise<IncomingMessage>((resolve) => socket.on('unexpected-response', (_req, res) => resolve(res)));
  return { status: reply.statusCode, headers: reply.headers, body: (await json(reply)) as WireEvent };
}

describe('responses over a socket', () => {
  it('answers requests that were sent at once, one after the other', async () => {
    const connection = await bench.socket();
    for (const input of ['One', 'Two', 'Three']) connection.send({ input, store: false });
    for (const _input of ['One', 'Two', 'Three']) expect(walk(await connection.ended()).status).toBe('completed');
    expect(bench.upstream.requests.map(({ body }) => ((body?.messages ?? []) as WireEvent)[0].content)).toEqual([
      'One',
      'Two',
      'Three',
    ]);
    connection.close();
  });

  it('reports errors and stays open', async () => {
    const connection = await bench.socket();
    connection.socket.send('nonsense');
    expect(await connection.ended()).toMatchObject([{ type: 'error', code: 'invalid_json' }]);
    connection.socket.send('{"type":"response.dance"}');
    expect(await connection.ended()).toMatchObject([{ type: 'error', code: 'invalid_value', param: 'type' }]);
    expect(await connection.ask({ input: 'x', max_output_tokens: 'many' })).toMatchObject([
      { type: 'error', param: 'max_output_tokens' },
    ]);
    expect((await connection.answered({ input: 'Hi' })).status).toBe('completed');
    connection.close();
  });

  it('is refused without a key, and closed to other paths', async () => {
    await expect(bench.socket('pk_wrong')).rejects.toThrow('401');
    const headers = { authorization: `Bearer ${bench.ann.key}` };
    const other = new WebSocket(`${bench.service.url.replace('http', 'ws')}/api/v2/other`, { headers });
    await expect(new Promise((resolve, reject) => other.on('open', resolve).on('error', reject))).rejects.toThrow('404');
  });

  it('is refused to a key that has as many open as it may, until one is closed', async () => {
    const other = await bench.make.withKey(bench.ann, {});
    const opened = await Promise.all(Array.from({ length: 8 }, () => bench.socket(other.key)));
    const { status, headers, body } = await refusedSocket(other.key);
    expect([status, body.error.code, headers['retry-after']]).toEqual([429, 'rate_limit_exceeded', '5']);
    expect(body.error.message).toContain('(8)');
    (await bench.socket()).close();
    opened.pop()?.close();
    const again = await eventually(() => bench.socket(other.key));
    for (const connection of [...opened, again]) connection.close();
  });

  it('shows subagents as a stream does', async () => {
    scriptResearch(bench.upstream, ['What is red?', 'What is green?']);
    const connection = await bench.socket();
    const events = await connection.ask({ input: 'Find out', tools: [{ type: 'deep_research' }] });
    expect(walk(events).status).toBe('completed');
    expect(events.filter(({ type }) => type === 'response.subagent.completed')).toHaveLength(2);
    connection.close();
  });

  it('a client that leaves stops what runs for it', async () => {
    bench.upstream.next(endlessAnswer);
    const connection = await bench.socket();
    connection.send({ input: 'Hi', store: false });
    await bench.upstream.until(({ openStreams }) => openStreams === 1);
    connection.close();
    await bench.upstream.until(({ openStreams }) => openStreams === 0);
  });

  it('lets requests wait, together as large as one body at most', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    bench.upstream.next({ text: 'Late.', gate });
    const connection = await bench.socket();
    const long = 'w'.repeat(60_000);
    connection.send({ input: 'Hi', store: false });
    connection.send({ input: long, store: false });
    connection.send({ input: long, store: false });
    expect(await connection.ended()).toMatchObject([{ type: 'error', code: 'rate_limit_exceeded' }]);
    open();
    expect(walk(await connection.ended()).status).toBe('completed');
    expect(walk(await connection.ended()).status).toBe('completed');
    expect(walk(await connection.ask({ input: long, store: false })).status).toBe('completed');
    connection.close();
  });

  it('remembers at most a conversation that fits a request', async () => {
    const connection = await bench.socket();
    const turn = (input: string, previous?: string) =>
      connection.ask({
        input,
        store: false,
        truncation: 'auto',
        ...(previous === undefined ? {} : { previous_response_id: previous }),
      });
    const first = walk(await turn('w'.repeat(60_000)));
    const second = walk(await turn('And?', first.id));
    expect(bench.asked.messages).toHaveLength(3);
    const third = walk(await turn('w'.repeat(60_000), second.id));
    expect(third.status).toBe('completed');
    expect(await turn('And?', third.id)).toMatchObject([{ type: 'error', code: 'previous_response_not_found' }]);
    connection.close();
  });

  it('keeps no listeners of ended responses', async () => {
    const isAlone = vi.spyOn(bench.service.deps.storage.conversations.responses, 'isAlone');
    const connection = await bench.socket();
    for (const input of ['One', 'Two', 'Three']) await connection.answered({ input });
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    bench.upstream.next({ text: 'Late.', gate });
    connection.send({ input: 'Four' });
    await bench.upstream.until(({ openStreams }) => openStreams === 1);
    connection.close();
    await eventually(() => expect(isAlone).toHaveBeenCalled());
    await bench.upstream.until(({ openStreams }) => openStreams === 0);
    open();
    expect(isAlone).toHaveBeenCalledTimes(1);
    isAlone.mockRestore();
  });

  it('accepts text that mentions a NUL character', async () => {
    const connection = await bench.socket();
    expect((await connection.answered({ input: 'In C, "\\u0000" ends a text.' })).status).toBe('completed');
    expect(await connection.ask({ input: 'a\u0000b' })).toMatchObject([{ type: 'error', code: 'invalid_value', param: 'input' }]);
    connection.close();
  });
});
