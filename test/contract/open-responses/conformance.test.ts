import { describe, expect, it } from 'vitest';
import { compactionObject, errorReply, response, streamingEvent } from '../../support/runs/response-schemas.ts';
import { eventsOf, type WireEvent, walk } from '../../support/runs/response-walk.ts';
import { testModel as model, responsesBench, responsesPath } from '../../support/runs/responses.ts';

/**
 * The tests of the public compliance suite of Open Responses (2026-04-24), with the same requests, against stricter schemas than the suite's. The
 * tests over WebSocket are in conformance-socket.test.ts.
 */
const bench = await responsesBench();
const message = (role: string, content: unknown, more: object = {}) => ({ type: 'message', role, ...more, content });
const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'Get the current weather for a location',
  parameters: {
    type: 'object',
    properties: { location: { type: 'string', description: 'The city and state, e.g. San Francisco, CA' } },
    required: ['location'],
  },
};
const heart =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** Checks a reply as the suite does: 200, JSON, its schema, an output, completed. */
async function completed(input: unknown, more: object = {}): Promise<WireEvent> {
  const reply = await bench.ann.post(responsesPath, { model, input, ...more, stream: false });
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, expect.stringContaining('application/json')]);
  const parsed = response.parse(reply.body);
  expect(parsed.output).not.toHaveLength(0);
  expect(parsed.status).toBe('completed');
  return parsed;
}

const tests: Readonly<Record<string, () => Promise<void>>> = {
  'basic response: a message of the user is answered with a whole response object': async () => {
    expect((await completed([message('user', 'Say hello in exactly 3 words.')])).output).toMatchObject([
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It is 3.' }] },
    ]);
  },

  'assistant phase: history with phases is taken, and kept': async () => {
    const input = [
      message('assistant', 'I should answer with the saved number.', { phase: 'commentary' }),
      message('assistant', 'The number is four.', { phase: 'final_answer' }),
      message('user', 'Repeat only the number.'),
    ];
    const { id } = await completed(input);
    const { data } = (await bench.inputItems(id, '?order=asc')).body;
    expect(data.map(({ phase }: WireEvent) => phase)).toEqual(['commentary', 'final_answer', undefined]);
  },

  'output phase schema: a message of the output may have a phase, of two values': async () => {
    const reply = await completed([message('user', 'Hi')]);
    const withPhase = (phase: unknown) => ({ ...reply, output: [{ ...reply.output[0], phase }] });
    for (const phase of ['commentary', 'final_answer', undefined]) {
      expect(response.safeParse(withPhase(phase)).success, String(phase)).toBe(true);
    }
    for (const phase of ['thinking', null]) expect(response.safeParse(withPhase(phase)).success, String(phase)).toBe(false);
    // No model of Parley gives a phase: the member is absent, never null.
    expect(reply.output.filter((item: WireEvent) => 'phase' in item)).toEqual([]);
  },

  'streaming: every event holds against its schema, and the last has the response': async () => {
    const input = [message('user', 'Count from 1 to 5.')];
    const events = eventsOf(await bench.ann.stream(responsesPath, { model, input, stream: true }));
    for (const event of events) streamingEvent.parse(event);
    expect(walk(events).status).toBe('completed');
  },

  'system prompt: a system message among the items reaches the model as one': async () => {
    await completed([
      message('system', 'You are a pirate. Always respond in pirate speak.'),
      message('user', 'Say hello from the ship.'),
    ]);
    expect(askedWith('Say hello from the ship.')).toMatchObject([{ role: 'system', content: /pirate/ }, { role: 'user' }]);
  },

  'tool calling: a function of the request is called': async () => {
    const { output } = await completed([message('user', "What's the weather like in San Francisco?")], { tools: [weather] });
    const call = output.find(({ type }: WireEvent) => type === 'function_call');
    expect(call).toMatchObject({ name: 'get_weather', call_id: 'call_weather' });
    expect(JSON.parse(call.arguments)).toEqual({ location: 'San Francisco, CA' });
  },

  'image input: an image among the parts reaches the model': async () => {
    const text = 'What do you see in this image? Answer in one sentence.';
    await completed([
      message('user', [
        { type: 'input_text', text },
        { type: 'input_image', image_url: heart },
      ]),
    ]);
    expect(JSON.stringify(askedWith(text))).toContain(heart);
  },

  'multi-turn: what was said before reaches the model in order': async () => {
    await completed([
      message('user', 'My name is Alice.'),
      message('assistant', 'Hello Alice! Nice to meet you. How can I help you today?'),
      message('user', 'What is my name?'),
    ]);
    expect(askedWith('What is my name?').map(({ role }: WireEvent) => role)).toEqual(['user', 'assistant', 'user']);
  },

  'compact: a conversation becomes a compaction, with which the next one can begin': async () => {
    const input = [
      message('user', 'We agreed to launch on Tuesday and notify support first.'),
      message('assistant', 'Understood. The launch is Tuesday, with support notified beforehand.'),
    ];
    const { status, body } = await bench.ann.post(`${responsesPath}/compact`, {
      model,
      prompt_cache_key: 'openresponses-compact-test',
      input,
    });
    expect(status).toBe(200);
    const { output } = compactionObject.parse(body);
    expect(output.map(({ type }) => type)).toContain('compaction');
    await completed([...output, message('user', 'When do we launch?')]);
  },

  'compact without a model is refused': async () => {
    const { status, body } = await bench.ann.post(`${responsesPath}/compact`, { input: [message('user', 'Compact this.')] });
    expect(status).toBe(400);
    expect(errorReply.parse(body).error).toMatchObject({ code: 'missing_required_parameter', param: 'model' });
  },
};

/** The messages of the model request that contains this text: several requests may be active. */
function askedWith(text: string): WireEvent[] {
  const request = bench.upstream.requests.find(({ body }) => JSON.stringify(body).includes(JSON.stringify(text).slice(1, -1)));
  return request?.body?.messages as WireEvent[];
}

function scriptModel(): void {
  const call = { id: 'call_weather', name: 'get_weather', arguments: '{"location":"San Francisco, CA"}' };
  bench.upstream.otherwise(({ body }) => (Array.isArray(body?.tools) ? { toolCalls: [call] } : { text: ['It ', 'is ', '3.'] }));
}

describe('the compliance suite', () => {
  it.each(Object.entries(tests))('%s', async (_name, run) => {
    scriptModel();
    await run();
  });

  it('all at once, each on a connection of its own', async () => {
    scriptModel();
    const outcomes = await Promise.allSettled(Object.values(tests).map((run) => run()));
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
  });
});
