import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { makeFor, type Person } from '../support/make.ts';
import { type WireEvent, walk } from '../support/response-walk.ts';
import { startService, type TestService } from '../support/service.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

let upstream: Upstream;
let service: TestService;
let ann: Person;
const model = 'openai/test-model';
const path = '/api/v2/responses';

beforeAll(async () => {
  upstream = await startUpstream();
  service = await startService({ env: { OPENAI_BASE_URL: upstream.url, MODEL_RETRIES_MAX: '0', LOG_LEVEL: 'error' } });
  ann = await makeFor(service).person();
});
beforeEach(() => {
  upstream.reset();
  upstream.otherwise({ text: ['It ', 'is ', '3.'] });
});
afterAll(async () => {
  await service.close();
  await upstream.close();
});

/** A connection that gathers what it is told, request by request. */
async function connect(key = ann.key) {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}${path}`, { headers: { authorization: `Bearer ${key}` } });
  const events: WireEvent[] = [];
  let wake = () => {};
  socket.on('message', (data) => {
    events.push(JSON.parse(String(data)));
    wake();
  });
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  async function ended(): Promise<readonly WireEvent[]> {
    for (;;) {
      const last = events.findIndex(({ type }) => /^(error|response\.(completed|failed|incomplete))$/.test(type));
      if (last !== -1) return events.splice(0, last + 1);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  const send = (members: Record<string, unknown>) => socket.send(JSON.stringify({ type: 'response.create', model, ...members }));
  return {
    socket,
    send,
    ended,
    ask: (members: Record<string, unknown>) => {
      send(members);
      return ended();
    },
  };
}
const messages = () => upstream.requests.at(-1)?.body?.messages;

describe('responses over a socket', () => {
  it('answers with the events of the format, one a message, without an end mark', async () => {
    const { ask, socket } = await connect();
    expect(walk(await ask({ input: 'Hi' }))).toMatchObject({ status: 'completed', store: true });
    socket.close();
  });

  it('answers requests that were sent at once, one after the other', async () => {
    const { send, ended, socket } = await connect();
    for (const input of ['One', 'Two', 'Three']) send({ input, store: false });
    for (const _input of ['One', 'Two', 'Three']) expect(walk(await ended()).status).toBe('completed');
    expect(upstream.requests.map(({ body }) => ((body?.messages ?? []) as WireEvent)[0].content)).toEqual([
      'One',
      'Two',
      'Three',
    ]);
    socket.close();
  });

  it('goes on from a response of the connection that is not stored', async () => {
    const { ask, socket } = await connect();
    const first = walk(await ask({ input: 'One', store: false }));
    const second = walk(await ask({ input: 'Two', store: false, previous_response_id: first.id }));
    expect(messages()).toMatchObject([{ content: 'One' }, { content: 'It is 3.' }, { content: 'Two' }]);
    walk(await ask({ input: 'Three', store: false, previous_response_id: second.id }));
    expect((messages() as unknown[]).length).toBe(5);
    socket.close();
  });

  it('which another connection does not know', async () => {
    const first = await connect();
    const { id } = walk(await first.ask({ input: 'One', store: false }));
    first.socket.close();
    const { ask, socket } = await connect();
    const [error] = await ask({ input: 'Two', store: false, previous_response_id: id });
    expect(error).toMatchObject({ type: 'error', status: 400, error: { code: 'previous_response_not_found' } });
    expect(walk(await ask({ input: 'Anew', store: false })).status).toBe('completed');
    socket.close();
  });

  it('tells what is wrong and stays open', async () => {
    const { ask, socket, ended } = await connect();
    const param = 'previous_response_id';
    expect(await ask({ input: 'x', [param]: 'resp_none' })).toMatchObject([
      { type: 'error', code: 'previous_response_not_found', param },
    ]);
    socket.send('nonsense');
    expect(await ended()).toMatchObject([{ type: 'error', code: 'invalid_json' }]);
    socket.send('{"type":"response.dance"}');
    expect(await ended()).toMatchObject([{ type: 'error', code: 'invalid_value', param: 'type' }]);
    expect(await ask({ input: 'x', max_output_tokens: 'many' })).toMatchObject([{ type: 'error', param: 'max_output_tokens' }]);
    expect(walk(await ask({ input: 'Hi' })).status).toBe('completed');
    socket.close();
  });

  it('forgets what a request failed to go on from', async () => {
    const { ask, socket } = await connect();
    const { id } = walk(await ask({ input: 'One', store: false }));
    const input = [{ type: 'function_call_output', call_id: 'call_none', output: 'x' }];
    expect((await ask({ input, store: false, previous_response_id: id })).at(-1)).toMatchObject({ type: 'error', status: 400 });
    const [error] = await ask({ input: 'Two', store: false, previous_response_id: id });
    expect(error).toMatchObject({ code: 'previous_response_not_found' });
    socket.close();
  });

  it('begins a new chain with a compacted one', async () => {
    const { ask, socket } = await connect();
    const { id } = walk(await ask({ input: 'My name is Ada' }));
    upstream.next({ text: 'The user is Ada.' });
    const compacted = await ann.post(`${path}/compact`, { model, previous_response_id: id });
    expect(compacted.body).toMatchObject({ object: 'response.compaction', usage: { total_tokens: expect.any(Number) } });
    expect(compacted.body.output.map((item: WireEvent) => item.type)).toEqual(['message', 'compaction']);
    const next = walk(await ask({ input: [...compacted.body.output, { role: 'user', content: 'Who am I?' }], store: false }));
    expect(next).toMatchObject({ status: 'completed', previous_response_id: null });
    expect(messages()).toMatchObject([
      { role: 'user', content: 'My name is Ada' },
      { role: 'system', content: expect.stringContaining('The user is Ada.') },
      { role: 'user', content: 'Who am I?' },
    ]);
    socket.close();
  });

  it('is refused without a key, and closed to other paths', async () => {
    await expect(connect('pk_wrong')).rejects.toThrow('401');
    const other = new WebSocket(`${service.url.replace('http', 'ws')}/api/v2/other`);
    await expect(new Promise((resolve, reject) => other.on('open', resolve).on('error', reject))).rejects.toThrow('404');
  });

  it('a client that leaves stops what runs for it', async () => {
    upstream.next({ text: Array.from({ length: 300 }, () => 'w '), chunkDelayMs: 30 });
    const { send, socket } = await connect();
    send({ input: 'Hi', store: false });
    await upstream.until(({ openStreams }) => openStreams === 1);
    socket.close();
    await upstream.until(({ openStreams }) => openStreams === 0);
  });
});
