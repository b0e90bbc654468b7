import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { socketError } from '../../support/runs/response-schemas.ts';
import type { WireEvent } from '../../support/runs/response-walk.ts';
import { addCall, addTool, responsesBench, responsesPath, testModel } from '../../support/runs/responses.ts';

/**
 * The tests of the public compliance suite of Open Responses (2026-04-24) over WebSocket; the tests over HTTP are in conformance.test.ts. After them,
 * rules of the specification that the suite does not test.
 */
const bench = await responsesBench();
/** The longest life of a connection. */
const lifetimeMs = 1_000;
const aged = await responsesBench({ SOCKET_LIFETIME_MS: String(lifetimeMs) });
const notFound = { type: 'error', status: 400, error: { code: 'previous_response_not_found', param: 'previous_response_id' } };

/** The single event that answers a refused request. */
function refusal(events: readonly WireEvent[]): WireEvent {
  expect(events).toHaveLength(1);
  return socketError.parse(events[0]);
}
/** The messages that the model got in the request that ends with this text: several requests may be active. */
function told(text: string): readonly string[] {
  const messages = bench.upstream.requests.map(({ body }) => body?.messages as { content: string }[]);
  return messages.find((all) => all.at(-1)?.content === text)?.map(({ content }) => content) ?? [];
}

const tests: Readonly<Record<string, () => Promise<void>>> = {
  'response: one event a message as plain JSON, without an end mark': async () => {
    const connection = await bench.socket();
    const input = [{ type: 'message', role: 'user', content: 'Count from 1 to 3.' }];
    expect(await connection.answered({ input })).toMatchObject({ status: 'completed', store: true });
    for (const text of connection.messages)
      expect(JSON.parse(text)).toMatchObject({ type: expect.stringMatching(/^response\./) });
    connection.close();
  },

  'sequential responses: one connection answers request after request': async () => {
    const connection = await bench.socket();
    for (const input of ['Reply with exactly: first', 'Reply with exactly: second']) {
      expect((await connection.answered({ input, store: false })).status).toBe('completed');
    }
    connection.close();
  },

  'continuation: previous_response_id names a response of the connection that is not stored': async () => {
    const connection = await bench.socket();
    const first = await connection.answered({ input: 'Remember the code word: cobalt. Reply with OK.', store: false });
    const input = 'What is the code word? Reply with only the code word.';
    const second = await connection.answered({ input, store: false, previous_response_id: first.id });
    expect(second).toMatchObject({ status: 'completed', previous_response_id: first.id });
    expect(told(input)).toEqual(['Remember the code word: cobalt. Reply with OK.', 'It is 3.', input]);
    const third = 'And once more?';
    await connection.answered({ input: third, store: false, previous_response_id: second.id });
    expect(told(third)).toHaveLength(5);
    connection.close();
  },

  'reconnect: another connection does not know what was not stored, and begins anew': async () => {
    const before = await bench.socket();
    const { id } = await before.answered({ input: 'Remember the code word: copper. Reply with OK.', store: false });
    before.close();
    const connection = await bench.socket();
    const tried = await connection.ask({ input: 'Try to continue after reconnect.', store: false, previous_response_id: id });
    expect(refusal(tried)).toMatchObject(notFound);
    expect((await connection.answered({ input: 'Start a new response.', store: false })).status).toBe('completed');
    connection.close();
  },

  'previous response not found: an unknown one is told by its code': async () => {
    const connection = await bench.socket();
    const members = { input: 'This should fail.', store: false, previous_response_id: 'resp_openresponses_missing_1' };
    expect(refusal(await connection.ask(members))).toMatchObject(notFound);
    connection.close();
  },

  'failed continuation: the response it named is forgotten': async () => {
    const connection = await bench.socket();
    const { id } = await connection.answered({ input: 'Remember the code word: ember. Reply with OK.', store: false });
    const input = [{ type: 'function_call_output', call_id: 'call_openresponses_missing', output: 'No such call.' }];
    const failed = await connection.ask({ input, store: false, previous_response_id: id });
    expect(refusal(failed)).toMatchObject({ status: 400, error: { type: 'invalid_request', param: 'input[0].call_id' } });
    const retried = await connection.ask({ input: 'Try to continue.', store: false, previous_response_id: id });
    expect(refusal(retried)).toMatchObject(notFound);
    connection.close();
  },

  'compact: what it gives begins a new chain': async () => {
    const part = (type: string, text: string) => [{ type, text }];
    const input = [
      { type: 'message', role: 'user', content: part('input_text', 'Remember the compaction code word: slate.') },
      { type: 'message', role: 'assistant', content: part('output_text', 'OK.') },
      { type: 'message', role: 'user', content: part('input_text', 'Compress this conversation for later continuation.') },
    ];
    const { status, body } = await bench.ann.post(`${responsesPath}/compact`, { model: testModel, input });
    expect(status).toBe(200);
    const last = 'Continue from here. Reply with exactly: compacted';
    const connection = await bench.socket();
    const members = { store: false, tools: [], input: [...body.output, { type: 'message', role: 'user', content: last }] };
    expect(await connection.answered(members)).toMatchObject({ status: 'completed', previous_response_id: null });
    expect(told(last)).toEqual([
      'Remember the compaction code word: slate.',
      'Compress this conversation for later continuation.',
      expect.stringContaining('It is 3.'),
      last,
    ]);
    connection.close();
  },
};

it.each(Object.entries(tests))('%s', (_name, run) => run());

it('all at once, each on connections of its own', async () => {
  const outcomes = await Promise.allSettled(Object.values(tests).map((run) => run()));
  expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
});

it('calls of a response that is not stored are answered with the new input alone', async () => {
  const connection = await bench.socket();
  bench.upstream.next({ toolCalls: [addCall] });
  const members = { tools: [addTool], store: false };
  const { id } = await connection.answered({ ...members, input: 'Add' });
  const input = [{ type: 'function_call_output', call_id: addCall.id, output: '3' }];
  expect((await connection.answered({ ...members, input, previous_response_id: id })).status).toBe('completed');
  expect(bench.asked.messages).toMatchObject([
    { role: 'user', content: 'Add' },
    { role: 'assistant', tool_calls: [{ id: addCall.id }] },
    { role: 'tool', tool_call_id: addCall.id, content: '3' },
  ]);
  connection.close();
});

describe('a continuation that fails', () => {
  it.each([false, true])('in the middle of its answer makes what it named forgotten, too (store %s)', async (store) => {
    const connection = await bench.socket();
    const first = await connection.answered({ input: 'One', store: false });
    bench.upstream.next({ text: ['It ', 'is ', '3.'], chunkDelayMs: 5, cutAtByte: 420 });
    const failed = await connection.answered({ input: 'Two', store, previous_response_id: first.id });
    expect(failed.status).toBe('failed');
    const retried = await connection.ask({ input: 'Two', store: false, previous_response_id: first.id });
    expect(refusal(retried)).toMatchObject(notFound);
    connection.close();
  });

  it('leaves a stored response to go on from', async () => {
    const connection = await bench.socket();
    const first = await connection.answered({ input: 'One' });
    const input = [{ type: 'function_call_output', call_id: 'call_none', output: '' }];
    refusal(await connection.ask({ input, previous_response_id: first.id }));
    expect((await connection.answered({ input: 'Two', previous_response_id: first.id })).status).toBe('completed');
    connection.close();
  });
});

describe('a connection that is as old as it may get', () => {
  it('answers what was asked before, says so by its code, and is closed', async () => {
    const connection = await aged.socket();
    aged.upstream.next({ text: ['It ', 'is ', '3.'], gate: delay(lifetimeMs + 100) });
    const closed = new Promise((resolve) => connection.socket.on('close', resolve));
    expect((await connection.answered({ input: 'One', store: false })).status).toBe('completed');
    const over = { status: 400, error: { type: 'invalid_request', code: 'websocket_connection_limit_reached' } };
    expect(refusal(await connection.ended())).toMatchObject(over);
    expect(await closed).toBe(1000);
  });
});

it('a connection whose key is revoked is told so, and closed', async () => {
  const other = await bench.make.withKey(bench.ann, {});
  const connection = await bench.socket(other.key);
  const closed = new Promise((resolve) => connection.socket.on('close', resolve));
  await bench.ann.delete(`/api/v1/api-keys/${other.keyId}`);
  expect(refusal(await connection.ended())).toMatchObject({ status: 401, error: { code: 'invalid_api_key' } });
  expect(await closed).toBe(1008);
});
