import { describe, expect, it } from 'vitest';
import type { Reply } from '../../support/client.ts';
import { deletedResponse, errorReply } from '../../support/runs/response-schemas.ts';
import { addTool, noAnswer, responsesBench, responsesPath, testModel } from '../../support/runs/responses.ts';

/** The rules of the Open Responses format about failures. test/api/conversations/responses/responses.test.ts tests which member of a request an error names. */
const bench = await responsesBench({ THREAD_WAITING_MAX: '1' });

/** Status and type of a refusal; its body must have the format's shape. */
function kindOf({ status, body, headers }: Reply): readonly [number, string] {
  expect(headers.get('content-type')).toContain('application/json');
  expect(headers.get('x-request-id')).toMatch(/^req_/);
  return [status, errorReply.parse(body).error.type];
}

describe('the type of an error, and its status', () => {
  it.each([
    ['a body that is no JSON', '{"input":'],
    ['a wrong value', { input: 'Hi', truncation: 'some' }],
    ['a missing member', { model: testModel }],
  ])('invalid_request, 400: %s', async (_name, body) => {
    expect(kindOf(await bench.ann.call('POST', responsesPath, body, { 'content-type': 'application/json' }))).toEqual([
      400,
      'invalid_request',
    ]);
  });

  it.each<[string, () => Promise<Reply>]>([
    ['a model', () => bench.create({ model: 'openai/none' })],
    ['a conversation', () => bench.create({ conversation: 'chat_none' })],
    ['a response', () => bench.get('resp_none')],
    ['a response to cancel', () => bench.ann.post(`${responsesPath}/resp_none/cancel`)],
    ['input items', () => bench.inputItems('resp_none')],
  ])('not_found, 404: %s that is not there', async (_name, ask) => {
    expect(kindOf(await ask())).toEqual([404, 'not_found']);
  });

  it('not_found, 404: a response that was deleted', async () => {
    const { id } = await bench.created();
    deletedResponse.parse((await bench.ann.delete(`${responsesPath}/${id}`)).body);
    for (const reply of [await bench.get(id), await bench.ann.delete(`${responsesPath}/${id}`)]) {
      expect(kindOf(reply)).toEqual([404, 'not_found']);
    }
  });

  it.each([false, true])('model_error, 500: the model fails before it says anything (stream %s)', async (stream) => {
    bench.upstream.next({ status: 500 });
    expect(kindOf(await bench.create({ store: false, stream }))).toEqual([500, 'model_error']);
  });

  it('model_error in the response: one that is stored is there, failed', async () => {
    bench.upstream.next({ status: 500 });
    expect((await bench.created()).error).toMatchObject({ type: 'model_error', code: 'upstream_error' });
  });

  it('too_many_requests, 429: a thread that has as many waiting as it may', async () => {
    bench.upstream.next(noAnswer);
    const { id, conversation } = await bench.created({ background: true });
    await bench.upstream.until(({ openStreams }) => openStreams === 1);
    await bench.created({ conversation, background: true, instructions: 'First of those that wait.' });
    const reply = await bench.create({ conversation, background: true, instructions: 'One too many.' });
    expect(kindOf(reply)).toEqual([429, 'too_many_requests']);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await bench.created({ conversation, thread_mode: 'force' })).status).toBe('completed');
    expect((await bench.get(id)).body.status).toBe('cancelled');
  });

  it('server_error, 500: an internal failure, without its details', async () => {
    const { pool } = bench.service.deps.storage.db;
    const { id } = await bench.created();
    await pool.query('alter table response_items rename to response_items_gone');
    try {
      const reply = await bench.inputItems(id);
      expect(kindOf(reply)).toEqual([500, 'server_error']);
      expect(JSON.stringify(reply.body)).not.toContain('response_items');
    } finally {
      await pool.query('alter table response_items_gone rename to response_items');
    }
  });

  it('invalid_request for what the key may not, and for what does not fit the state', async () => {
    const reader = await bench.make.withKey(bench.ann, { scopes: ['CHATS:READ'] });
    const { id } = await bench.created();
    const pause = await bench.ann.post(`${responsesPath}/${id}/pause`);
    expect(pause.headers.get('x-should-retry')).toBe('false');
    expect([
      kindOf(await bench.service.nobody.get(`${responsesPath}/${id}`)),
      kindOf(await bench.create({}, reader)),
      kindOf(pause),
    ]).toEqual([
      [401, 'invalid_request'],
      [403, 'invalid_request'],
      [409, 'invalid_request'],
    ]);
  });
});

it('a stream that cannot begin is refused as JSON, before any event', async () => {
  const reply = await bench.create({ stream: true, tools: [addTool, addTool] });
  expect(kindOf(reply)).toEqual([400, 'invalid_request']);
  expect(reply.body.error).toMatchObject({ code: 'duplicate_tool_name', param: 'tools[1].name' });
});

it('a member has one name, in the message as in param', async () => {
  const { error } = errorReply.parse((await bench.create({ top_logprobs: 21, service_tier: 'gold' })).body);
  for (const { param, message } of [error, ...(error.errors ?? [])]) expect(message).toMatch(new RegExp(`^${param} must be`));
  expect(error.errors?.map(({ param }) => param).sort()).toEqual(['service_tier', 'top_logprobs']);
});

it('several faults are told at once, the first of them as the error', async () => {
  const { error } = errorReply.parse((await bench.create({ truncation: 'some', temperature: 9 })).body);
  expect(error.errors?.map(({ param }) => param)).toEqual(expect.arrayContaining(['truncation', 'temperature']));
  expect(error.errors?.[0]).toMatchObject({ param: error.param, code: error.code });
});
