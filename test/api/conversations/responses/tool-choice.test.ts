import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../support/processes/eventually.ts';
import { addCall, addTool, noAnswer, responsesBench, responsesPath, testModel } from '../../../support/runs/responses.ts';
import type { UpstreamScript } from '../../../support/upstream.ts';

/** A tool choice that forces a call, with providers that ignore it. */
const bench = await responsesBench();
const subTool = { type: 'function', name: 'sub', parameters: { type: 'object' } };
const tools = [addTool, subTool];
const named = { type: 'function', name: 'add' };
const allowed = { type: 'allowed_tools', mode: 'required', tools: [named] };
const subCall = { id: 'call_2', name: 'sub', arguments: '{"a":2}' };
const asked = (place: number) =>
  bench.upstream.requests[place]?.body as { messages: { role: string; content: string }[]; tool_choice: unknown };
const kinds = (output: { type: string; name?: string }[]) => output.map(({ type, name }) => name ?? type);
const completing = { model: testModel, messages: [{ role: 'user', content: 'Hi' }] };
const v1Tools = tools.map(({ type, ...own }) => ({ type, function: own }));

describe.each<[string, unknown, string]>([
  ['any tool', 'required', 'one of your tools'],
  ['one function', named, 'the tool add'],
  ['one of the allowed tools', allowed, 'one of your tools'],
])('%s must be called', (_name, tool_choice, wanted) => {
  it.each([{ store: true }, { store: false }, { store: true, stream: true }, { store: false, stream: true }])(
    'a text instead is never seen: the model is asked once more (%j)',
    async ({ stream, ...members }) => {
      bench.upstream.next({ text: ['It ', 'is ', '3.'], chunkDelayMs: 2 }, { toolCalls: [addCall] });
      const body =
        stream === true
          ? (await bench.events({ tools, tool_choice, ...members })).at(-1).response
          : await bench.created({ tools, tool_choice, ...members });
      expect(body).toMatchObject({ status: 'completed', output: [{ type: 'function_call', call_id: 'call_1', name: 'add' }] });
      expect(body.output).toHaveLength(1);
      expect(bench.upstream.requests).toHaveLength(2);
      expect(asked(1).messages.at(-1)).toMatchObject({ role: 'user', content: expect.stringContaining(wanted) });
      expect(asked(1).messages.at(-2)).toEqual({ role: 'assistant', content: 'It is 3.' });
      expect(asked(1).tool_choice).toEqual(asked(0).tool_choice);
      // Both model calls count.
      expect(body.usage.input_tokens).toBe(20);
      if (members.store) expect((await bench.get(body.id)).body).toEqual(body);
    },
  );

  it('a second text fails the response, which shows it', async () => {
    bench.upstream.next({ text: 'One.' }, { text: 'Two.' });
    const body = await bench.created({ tools, tool_choice });
    expect(body).toMatchObject({
      status: 'failed',
      error: { code: 'model_error', type: 'model_error', message: expect.stringContaining('did not keep to tool_choice') },
      output: [{ type: 'message', status: 'incomplete', content: [{ text: 'Two.' }] }],
    });
    expect(bench.upstream.requests).toHaveLength(2);
  });

  it('text beside the call stays, in its place', async () => {
    bench.upstream.next({ text: ['I ', 'add.'], toolCalls: [addCall] });
    const events = await bench.events({ tools, tool_choice });
    expect(kinds(events.at(-1).response.output)).toEqual(['message', 'add']);
    expect(bench.upstream.requests).toHaveLength(1);
  });

  it.each<[UpstreamScript, string]>([
    [{ text: 'I', finish: 'length' }, 'incomplete'],
    [{ text: 'I', finish: 'content_filter' }, 'incomplete'],
    [{ refusal: 'I will not.' }, 'completed'],
  ])('what was cut or refused is no answer: %j', async (script, status) => {
    bench.upstream.next(script);
    expect((await bench.created({ tools, tool_choice })).status).toBe(status);
    expect(bench.upstream.requests).toHaveLength(1);
  });
});

describe('one function that must be called', () => {
  it('is the only one called: calls of others are left out', async () => {
    bench.upstream.next({ toolCalls: [subCall, addCall] });
    expect(kinds((await bench.created({ tools, tool_choice: named })).output)).toEqual(['add']);
  });

  it('is requested once more when another one is called', async () => {
    bench.upstream.next({ toolCalls: [subCall] }, { toolCalls: [addCall] });
    expect(kinds((await bench.created({ tools, tool_choice: named })).output)).toEqual(['add']);
    bench.upstream.next({ toolCalls: [subCall] }, { toolCalls: [subCall] });
    expect(await bench.created({ tools, tool_choice: named })).toMatchObject({ status: 'failed', output: [] });
  });
});

describe('calls that may not be parallel', () => {
  it('are one in each turn, whatever the model does', async () => {
    bench.upstream.otherwise({ toolCalls: [addCall, subCall] });
    const body = await bench.created({ tools, parallel_tool_calls: false });
    expect([kinds(body.output), body.parallel_tool_calls]).toEqual([['add'], false]);
    const streamed = (await bench.events({ tools, parallel_tool_calls: false, store: false })).at(-1).response;
    expect(kinds(streamed.output)).toEqual(['add']);
    expect(kinds((await bench.created({ tools })).output)).toEqual(['add', 'sub']);
    const input = [{ type: 'function_call_output', call_id: 'call_1', output: '3' }];
    bench.upstream.next({ text: 'It is 3.' });
    expect((await bench.created({ previous_response_id: body.id, input, tools })).status).toBe('completed');
  });

  it('are one in completions, too', async () => {
    bench.upstream.otherwise({ toolCalls: [addCall, subCall] });
    const { body } = await bench.ann.post('/api/v1/chat/completions', {
      ...completing,
      ...{ tools: v1Tools, parallel_tool_calls: false },
    });
    expect(body.choices[0].message.tool_calls).toHaveLength(1);
  });

  it('of tools of the service are one in each turn', async () => {
    const python = (id: string) => ({ id, name: 'python', arguments: '{"code":"print(3)"}' });
    bench.upstream.next({ toolCalls: [python('call_1'), python('call_2')] }, { text: 'It is 3.' });
    const { body } = await bench.create({ tools: [{ type: 'python' }], parallel_tool_calls: false });
    expect(kinds(body.output)).toEqual(['python', 'server_tool_call_output', 'message']);
  });
});

describe('where tools of the service are called', () => {
  /** Without a program, so that none is run: its output is an error, which is enough here. */
  const python = { id: 'call_1', name: 'python', arguments: '{}' };

  it.each<[unknown]>([
    ['required'],
    [{ type: 'python' }],
    [{ type: 'allowed_tools', mode: 'required', tools: [{ type: 'python' }] }],
  ])('the first step is forced, and no other: %j', async (tool_choice) => {
    bench.upstream.otherwise(({ body }) => (body?.tool_choice === 'auto' ? { text: 'It is 3.' } : { toolCalls: [python] }));
    const { body } = await bench.create({ tools: [{ type: 'python' }], tool_choice });
    expect(kinds(body.output)).toEqual(['python', 'server_tool_call_output', 'message']);
    expect([body.status, bench.upstream.requests.length]).toEqual(['completed', 2]);
  });

  it('nothing is forced again after a pause', async () => {
    bench.upstream.next({ toolCalls: [python] }, noAnswer, { text: 'It is 3.' });
    const { id } = (await bench.create({ tools: [{ type: 'python' }], tool_choice: 'required', background: true })).body;
    await bench.upstream.until(({ requests }) => requests.length === 2);
    expect((await bench.ann.post(`${responsesPath}/${id}/pause`)).body.incomplete_details).toEqual({ reason: 'paused' });
    const { body } = await bench.ann.post(`${responsesPath}/${id}/resume`);
    expect([body.status, kinds(body.output)]).toEqual(['completed', ['python', 'server_tool_call_output', 'message']]);
    expect(asked(2).tool_choice).toBe('auto');
  });

  it('a text instead of the first call leads to one more request', async () => {
    bench.upstream.next({ text: 'It is 4.' }, { toolCalls: [python] }, { text: 'It is 3.' });
    const { body } = await bench.create({ tools: [{ type: 'python' }], tool_choice: 'required' });
    expect(kinds(body.output)).toEqual(['python', 'server_tool_call_output', 'message']);
    expect(asked(2)).toMatchObject({ tool_choice: 'auto' });
  });
});

it('text is sent as it arrives where a call is optional', async () => {
  bench.upstream.next({ text: Array.from({ length: 50 }, () => 'word '), chunkDelayMs: 1, hangAtByte: 3_000 });
  const { id } = await bench.created({ tools, tool_choice: 'auto', background: true });
  await eventually(async () => expect((await bench.get(id)).body.output).toHaveLength(1));
  await bench.ann.post(`${responsesPath}/${id}/cancel`);
});

describe('completions', () => {
  const complete = (members: object) => bench.ann.post('/api/v1/chat/completions', { ...completing, tools: v1Tools, ...members });

  it.each(['required', { type: 'function', function: { name: 'add' } }])(
    'a text instead of the call is asked for once more: %j',
    async (tool_choice) => {
      bench.upstream.next({ text: 'It is 3.' }, { toolCalls: [addCall] });
      const { status, body } = await complete({ tool_choice });
      expect(status).toBe(200);
      expect(body.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
      expect(body.choices[0].message.tool_calls).toMatchObject([{ id: 'call_1', function: { name: 'add' } }]);
      expect(body.usage.prompt_tokens).toBe(20);
    },
  );

  it('a second text is an error of the model', async () => {
    bench.upstream.otherwise({ text: 'It is 3.' });
    expect(await complete({ tool_choice: 'required' })).toMatchObject({ status: 502, body: { error: { code: 'model_error' } } });
    expect(bench.upstream.requests).toHaveLength(2);
  });

  it('a stream shows the second answer alone', async () => {
    bench.upstream.next({ text: ['It ', 'is ', '3.'], chunkDelayMs: 2 }, { toolCalls: [addCall] });
    const client = new OpenAI({ baseURL: `${bench.service.url}/api/v1`, apiKey: bench.ann.key, maxRetries: 0 });
    const stream = client.chat.completions.stream({
      ...{ model: testModel, tools: v1Tools as never, tool_choice: 'required' },
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const { message, finish_reason: finish } = (await stream.finalChatCompletion()).choices[0] ?? {};
    expect([finish, message?.content, message?.tool_calls?.length]).toEqual(['tool_calls', null, 1]);
  });

  it('a stream ends with the error when the second answer has no call either', async () => {
    bench.upstream.otherwise({ text: 'It is 3.' });
    const frames = await bench.ann.stream('/api/v1/chat/completions', {
      ...completing,
      ...{ tools: v1Tools, tool_choice: 'required', stream: true },
    });
    expect(frames.at(-1)?.data).toBe('[DONE]');
    expect(JSON.parse(frames.at(-2)?.data ?? '')).toMatchObject({ error: { code: 'model_error' } });
  });
});

it('the stock client reads the call that was asked for twice, in a stream', async () => {
  bench.upstream.next({ text: 'It is 3.' }, { toolCalls: [addCall] });
  const client = new OpenAI({ baseURL: `${bench.service.url}/api/v2`, apiKey: bench.ann.key, maxRetries: 0 });
  const stream = client.responses.stream({ model: testModel, input: 'Hi', tools: tools as never, tool_choice: 'required' });
  const response = await stream.finalResponse();
  expect([response.status, response.output_text, kinds(response.output)]).toEqual(['completed', '', ['add']]);
});
