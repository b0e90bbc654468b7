import { describe, expect, it } from 'vitest';
import { errorReply } from '../../support/runs/response-schemas.ts';
import type { WireEvent } from '../../support/runs/response-walk.ts';
import { addCall, addTool, responsesBench, responsesPath, testModel } from '../../support/runs/responses.ts';

/**
 * The rules of the Open Responses format about the members of a request. test/api/conversations/responses/responses.test.ts tests what the model gets for each form
 * of input.
 */
const bench = await responsesBench();
const short = await responsesBench({ MESSAGES_MAX: '4' });
const asked = () => bench.asked.messages.map(({ role, content }: WireEvent) => `${role}: ${content}`);
const refused = async (members: object) => {
  const { status, body } = await bench.create({ ...members });
  const { code, param, type } = errorReply.parse(body).error;
  return { status, code, param, type };
};

describe('what a request may leave out', () => {
  it('input is enough: the rest has defaults', async () => {
    const { status, body } = await bench.ann.post(responsesPath, { input: 'Hi', store: false });
    expect([status, body.model]).toEqual([200, testModel]);
  });

  it('null, an empty object and an empty list are as good as nothing', async () => {
    const empty = { text: {}, include: [], tools: [], metadata: null, reasoning: null, conversation: null, stream_options: null };
    await bench.created({ ...empty, previous_response_id: null, store: null, stream: null, tool_choice: null, background: null });
    expect(bench.asked).not.toHaveProperty('tools');
  });

  it('unknown members are ignored, wherever they stand', async () => {
    const more = { unheard_of: { a: 1 } };
    const part = { type: 'input_text', text: 'Hi', ...more };
    await bench.created({
      ...more,
      input: [{ type: 'message', role: 'user', content: [part], ...more }],
      tools: [{ ...addTool, ...more }],
      ...{ text: more, reasoning: more, stream_options: more, options: more },
    });
    expect(JSON.stringify(bench.asked)).not.toContain('unheard_of');
  });
});

describe('previous_response_id', () => {
  it('the context is what the previous response was given, what it said, and the new input, in this order', async () => {
    const first = await bench.created({ input: 'One', instructions: 'Rhyme.' });
    const second = await bench.created({ input: 'Two', previous_response_id: first.id });
    expect(second.previous_response_id).toBe(first.id);
    // Instructions are not inherited.
    expect(asked()).toEqual(['user: One', 'assistant: It is 3.', 'user: Two']);
    await bench.created({ input: 'Three', previous_response_id: second.id, instructions: 'Sing.' });
    expect(asked().at(0)).toBe('system: Sing.');
    expect(asked().slice(1)).toEqual(['user: One', 'assistant: It is 3.', 'user: Two', 'assistant: It is 3.', 'user: Three']);
  });

  it('a response that goes on from another can be one that is not stored', async () => {
    const first = await bench.created({ input: 'One' });
    const second = await bench.created({ input: 'Two', previous_response_id: first.id, store: false });
    expect(second).toMatchObject({ store: false, conversation: null });
    expect(asked()).toEqual(['user: One', 'assistant: It is 3.', 'user: Two']);
  });

  it('one that is unknown, was not stored or is of another owner is not found: 400, with its own code', async () => {
    const unstored = await bench.created({ store: false });
    const foreign = (await bench.create({}, bench.bob)).body;
    for (const previous_response_id of ['resp_none', 'nonsense', unstored.id, foreign.id]) {
      const error = { status: 400, code: 'previous_response_not_found', param: 'previous_response_id', type: 'invalid_request' };
      expect(await refused({ previous_response_id })).toEqual(error);
    }
  });

  it('it excludes conversation', async () => {
    const { id, conversation } = await bench.created();
    expect(await refused({ previous_response_id: id, conversation })).toMatchObject({
      ...{ status: 400, code: 'mutually_exclusive_parameters', param: 'previous_response_id' },
    });
  });
});

it('conversation is an id or an object with one, and the response repeats it as an object', async () => {
  const { conversation } = await bench.created({ input: 'One' });
  for (const given of [conversation, conversation.id]) {
    expect((await bench.created({ conversation: given })).conversation).toEqual(conversation);
  }
  expect(asked()).toHaveLength(5);
});

describe('store and background', () => {
  it('what is not stored cannot be retrieved', async () => {
    const { id } = await bench.created({ store: false });
    for (const query of ['', '?stream=true', '/input_items']) expect((await bench.get(id, query)).status).toBe(404);
  });

  it('background answers at once, in progress, and goes on without a reader', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    bench.upstream.next({ text: 'It is 3.', gate });
    const begun = await bench.created({ background: true });
    expect(begun).toMatchObject({ status: 'in_progress', background: true, output: [] });
    open();
    const log = await Array.fromAsync(bench.ann.sse('GET', `${responsesPath}/${begun.id}?stream=true`));
    expect(log.at(0)?.event).toBe('response.created');
    expect((await bench.get(begun.id)).body).toMatchObject({ status: 'completed', output: [{ status: 'completed' }] });
  });

  it('a background stream goes on when its reader leaves at the first event', async () => {
    bench.upstream.next({ text: ['It ', 'is ', '3.'], chunkDelayMs: 100 });
    let id = '';
    for await (const { data } of bench.ann.sse('POST', responsesPath, {
      ...{ model: testModel, input: 'Hi', background: true, stream: true },
    })) {
      id = JSON.parse(data).response.id;
      break;
    }
    const log = await Array.fromAsync(bench.ann.sse('GET', `${responsesPath}/${id}?stream=true`));
    expect(log.at(-2)?.event).toBe('response.completed');
  });

  it('background needs store', async () => {
    expect(await refused({ background: true, store: false })).toMatchObject({ status: 400, param: 'background' });
  });
});

describe('tool_choice', () => {
  const tools = [addTool, { ...addTool, name: 'sub' }];
  const allowing = (mode?: string) => ({
    ...{ type: 'allowed_tools', tools: [{ type: 'function', name: 'add' }] },
    ...(mode === undefined ? {} : { mode }),
  });

  it.each([
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'required'],
    [
      { type: 'function', name: 'sub' },
      { type: 'function', function: { name: 'sub' } },
    ],
  ])('%j reaches the model', async (tool_choice, told) => {
    expect((await bench.created({ tools, tool_choice })).tool_choice).toEqual(tool_choice);
    expect(bench.asked.tool_choice).toEqual(told);
  });

  it('in the spelling of chat completions is taken, and repeated in that of the format', async () => {
    const { tool_choice } = await bench.created({ tools, tool_choice: { type: 'function', function: { name: 'sub' } } });
    expect(tool_choice).toEqual({ type: 'function', name: 'sub' });
  });

  it('none is kept to, even by a model that calls', async () => {
    bench.upstream.next({ toolCalls: [addCall] });
    expect(await bench.created({ tools, tool_choice: 'none' })).toMatchObject({ status: 'failed', output: [] });
  });

  it('allowed_tools is a hard limit: a call of another tool is not passed on', async () => {
    bench.upstream.otherwise({ toolCalls: [{ ...addCall, name: 'sub' }] });
    const members = { tools, tool_choice: allowing('required') };
    const whole = await bench.created(members);
    expect(bench.asked).toMatchObject({ tools: [{ function: { name: 'add' } }], tool_choice: 'required' });
    expect(whole).toMatchObject({ status: 'failed', output: [], error: { type: 'model_error' } });
    const events = await bench.events(members);
    expect(events.map(({ type }) => type)).toEqual(['response.created', 'response.in_progress', 'response.failed']);
    expect(await refused({ ...members, store: false })).toMatchObject({ status: 500, type: 'model_error' });
  });

  it('allowed_tools keeps the list of tools as it is, and is repeated with its mode', async () => {
    for (const mode of ['auto', 'required', 'none'] as const) {
      const { tool_choice, tools: listed } = await bench.created({ tools, tool_choice: allowing(mode) });
      expect(tool_choice).toEqual(allowing(mode));
      expect(listed).toHaveLength(2);
    }
    expect((await bench.created({ tools, tool_choice: allowing() })).tool_choice).toEqual(allowing('auto'));
  });
});

describe('truncation', () => {
  // The model takes 4 000 tokens here; a turn of 6 000 characters is 1 500.
  const env = async () => {
    const agent = await bench.make.agent({ owner: bench.ann, modelId: testModel, options: { maxInputTokens: [4_000] } });
    return agent.id as string;
  };
  const turn = (n: number) => ({ role: 'user', content: `${n} ${'x'.repeat(6_000)}` });

  it('disabled, the default: what is too long fails, nothing is dropped', async () => {
    const model = await env();
    const input = [turn(1), turn(2), turn(3)];
    const error = { status: 400, code: 'context_length_exceeded', param: 'input', type: 'invalid_request' };
    expect(await refused({ model, input })).toEqual(error);
    expect(await refused({ model, input, truncation: 'disabled', store: false })).toEqual(error);
    const { id } = await bench.created({ model, input: [turn(1), turn(2)] });
    expect(await refused({ model, input: [turn(3)], previous_response_id: id })).toEqual(error);
  });

  it('disabled: what the model itself finds too long fails, too', async () => {
    const body = JSON.stringify({
      error: { message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded' },
    });
    bench.upstream.otherwise({ status: 400, body });
    expect((await bench.created()).error).toMatchObject({ type: 'invalid_request', code: 'context_length_exceeded' });
    expect(await refused({ store: false })).toMatchObject({ status: 400, code: 'context_length_exceeded' });
    expect(bench.upstream.requests).toHaveLength(2);
  });

  describe('of a thread with more messages than are taken', () => {
    it('disabled: fails, auto: the oldest are dropped', async () => {
      const first = await short.created({ input: 'One' });
      const second = await short.created({ input: 'Two', previous_response_id: first.id });
      for (const more of [
        { previous_response_id: second.id },
        { conversation: first.conversation },
        { conversation: first.conversation, store: false },
      ]) {
        const { status, body } = await short.create({ input: 'Three', ...more });
        expect([status, body.error.code]).toEqual([400, 'context_length_exceeded']);
      }
      expect(short.upstream.requests).toHaveLength(2);
      await short.created({ input: 'Three', previous_response_id: second.id, truncation: 'auto' });
      expect(short.asked.messages).not.toContainEqual({ role: 'user', content: 'One' });
      expect(short.asked.messages.at(-1)).toEqual({ role: 'user', content: 'Three' });
      // A thread from which nothing is left out continues as before.
      expect((await short.created({ input: 'Other', previous_response_id: first.id })).status).toBe('completed');
    });
  });

  it('auto: the oldest turns are dropped', async () => {
    const model = await env();
    const { truncation } = await bench.created({ model, input: [turn(1), turn(2), turn(3)], truncation: 'auto' });
    expect(truncation).toBe('auto');
    const contents = bench.asked.messages
      .filter(({ role }: WireEvent) => role === 'user')
      .map(({ content }: WireEvent) => content[0]);
    expect(contents.at(-1)).toBe('3');
    expect(contents).not.toContain('1');
  });
});

describe('values that are taken', () => {
  it.each(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])('reasoning.effort %s', async (effort) => {
    expect((await bench.created({ reasoning: { effort } })).reasoning).toEqual({ effort, summary: null });
    expect(bench.asked.reasoning_effort).toBe(effort);
  });

  it.each(['auto', 'default', 'flex', 'priority'])('service_tier %s', async (service_tier) => {
    bench.upstream.otherwise({ text: 'Hi', serviceTier: 'priority' });
    expect((await bench.created({ service_tier })).service_tier).toBe('priority');
    expect(bench.asked.service_tier).toBe(service_tier === 'auto' ? undefined : service_tier);
  });

  it.each([...[{ type: 'python' }, { type: 'code_interpreter', container: { type: 'auto' } }, { type: 'deep_research' }]])(
    'a tool of the service, $type, is repeated as it was given',
    async (tool) => {
      const { status, body } = await bench.create({ tools: [tool] });
      expect([status, body.status, body.tools]).toEqual([200, 'completed', [tool]]);
    },
  );

  it('include', async () => {
    await bench.created({ include: ['reasoning.encrypted_content', 'message.output_text.logprobs'] });
  });
});
