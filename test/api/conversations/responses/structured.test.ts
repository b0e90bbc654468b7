import { describe, expect, it } from 'vitest';
import { withService } from '../../../support/service.ts';
import { never } from '../../../support/upstream.ts';

const { make, upstream } = await withService('model');
const model = 'openai/test-model';
const path = '/api/v2/responses';

const ann = await make.person();

const schema = {
  type: 'object',
  properties: { items: { type: 'array', items: { $ref: '#/$defs/item' } } },
  required: ['items'],
  additionalProperties: false,
  $defs: { item: { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] } },
};
const format = { type: 'json_schema', name: 'order', schema, strict: true };
const good = '{"items":[{"price":2.5}]}';
const bad = '{"items":[{"price":2.5},{"price":"3"}]}';
const fault = 'must be number at items[1].price (text.format.schema.properties.items.items.$ref.properties.price.type)';
const create = (members: Record<string, unknown> = {}) =>
  ann.post(path, { model, input: 'What is in it?', text: { format }, ...members });
const textOf = (body: { output: { type: string; content: { text: string }[] }[] }) =>
  body.output.filter(({ type }) => type === 'message').map(({ content }) => content[0]?.text);
const asked = (place: number) => upstream.requests[place]?.body as { messages: { role: string; content: string }[] };

async function ended(id: string) {
  for (;;) {
    const { body } = await ann.get(`${path}/${id}`);
    if (body.status !== 'in_progress') return body;
  }
}
async function streamed(members: Record<string, unknown> = {}) {
  const frames = await ann.stream(path, { model, input: 'What is in it?', text: { format }, stream: true, ...members });
  return frames.flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data)]));
}

describe.each<[string, Record<string, unknown>]>([
  ['stored', { store: true }],
  ['not stored', { store: false }],
  ['in the background', { background: true }],
])('an answer in one piece, %s', (_name, members) => {
  const answer = async () => {
    const { status, body } = await create(members);
    expect(status).toBe(200);
    return members.background === true ? ended(body.id) : body;
  };

  it('that fits is the answer, and the model was told the schema', async () => {
    upstream.next({ text: ['{"items":', '[{"price":2.5}]}'] });
    expect(await answer()).toMatchObject({ status: 'completed', error: null });
    expect(upstream.requests).toHaveLength(1);
    expect(asked(0)).toMatchObject({ response_format: { type: 'json_schema', json_schema: { name: 'order', schema } } });
  });

  it('that does not fit is requested once more, with the place of the fault; the first one is not shown', async () => {
    upstream.next({ text: bad }, { text: good });
    const body = await answer();
    expect([body.status, textOf(body)]).toEqual(['completed', [good]]);
    expect(asked(1).messages).toMatchObject([
      { role: 'user', content: 'What is in it?' },
      { role: 'assistant', content: bad },
      { role: 'user', content: expect.stringContaining(fault) },
    ]);
    // Both model calls count.
    expect(body.usage.input_tokens).toBe(20);
  });

  it('that never fits fails the response, which shows what was said', async () => {
    upstream.otherwise({ text: bad });
    const body = await answer();
    expect(body).toMatchObject({
      status: 'failed',
      error: { code: 'model_error', type: 'model_error', message: `The model did not keep to text.format: its answer ${fault}` },
      output: [{ type: 'message', status: 'incomplete', content: [{ text: bad }] }],
    });
    expect(upstream.requests).toHaveLength(2);
  });
});

describe('an answer that streams', () => {
  it('is sent as it arrives', async () => {
    upstream.next({ text: ['{"items":', '[]}'], chunkDelayMs: 5 });
    const events = await streamed();
    expect(events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta)).toEqual([
      '{"items":',
      '[]}',
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'response.completed' });
  });

  it.each([true, false])('fails when it does not fit: what was seen cannot be unsaid (store: %s)', async (store) => {
    upstream.next({ text: ['{"items":[{"price":2.5},', '{"price":"3"}]}'] });
    const events = await streamed({ store });
    expect(upstream.requests).toHaveLength(1);
    const done = events.find(({ type }) => type === 'response.output_item.done');
    expect(done.item).toMatchObject({ status: 'incomplete', content: [{ text: bad }] });
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { error: { code: 'model_error', message: expect.stringContaining(fault) } },
    });
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, index) => index));
  });

  it('may be joined by requests that do not stream', async () => {
    upstream.next({ text: bad }, { text: good });
    const { body } = await create();
    const frames = await Array.fromAsync(ann.sse('GET', `${path}/${body.id}?stream=true`));
    const whole = frames.map(({ data }) => data).join('');
    expect(whole).not.toContain('"3"');
    expect(whole).toContain('response.completed');
  });
});

describe('what is an answer', () => {
  it('is the text behind the calls of tools, not the one beside them', async () => {
    upstream.next(
      { text: 'Let me see.', toolCalls: [{ id: 'call_1', name: 'python', arguments: '{}' }] },
      { text: 'Well' },
      { text: good },
    );
    const { body } = await create({ tools: [{ type: 'python' }] });
    expect([body.status, textOf(body)]).toEqual(['completed', ['Let me see.', good]]);
    expect(body.output.map(({ type }: { type: string }) => type)).toEqual([
      'message',
      'server_tool_call',
      'server_tool_call_output',
      'message',
    ]);
  });

  it('is not the text beside calls of the caller; it is that of the next turn', async () => {
    const tools = [{ type: 'function', name: 'find', parameters: { type: 'object' } }];
    upstream.next(
      { text: 'Asking.', toolCalls: [{ id: 'call_1', name: 'find', arguments: '{}' }] },
      { text: bad },
      { text: bad },
    );
    const first = (await create({ tools })).body;
    expect(first.status).toBe('completed');
    const input = [{ type: 'function_call_output', call_id: 'call_1', output: '1' }];
    expect((await create({ tools, input, previous_response_id: first.id })).body.status).toBe('failed');
  });

  it.each([{}, { store: false }])(
    'is none that the model refuses: the response is completed, with the refusal (%j)',
    async (members) => {
      upstream.otherwise({ refusal: 'I will not.' });
      const { body } = await create(members);
      expect([body.status, upstream.requests.length]).toEqual(['completed', 1]);
      expect(body.output[0].content).toEqual([{ type: 'refusal', refusal: 'I will not.' }]);
      const events = await streamed(members);
      expect(events.slice(2, -1)).toMatchObject([
        { type: 'response.output_item.added', item: { content: [] } },
        { type: 'response.content_part.added', part: { type: 'refusal', refusal: '' } },
        { type: 'response.refusal.delta', delta: 'I will not.' },
        { type: 'response.refusal.done', refusal: 'I will not.' },
        { type: 'response.content_part.done', part: { type: 'refusal', refusal: 'I will not.' } },
        { type: 'response.output_item.done', item: { content: [{ type: 'refusal', refusal: 'I will not.' }] } },
      ]);
      if (members.store === false) return;
      upstream.next({ text: good });
      await create({ previous_response_id: body.id });
      expect(asked(upstream.requests.length - 1).messages[1]).toEqual({ role: 'assistant', content: 'I will not.' });
      expect(
        (
          await create({
            input: [
              { type: 'item_reference', id: body.output[0].id },
              { role: 'user', content: 'Why?' },
            ],
          })
        ).status,
      ).toBe(200);
    },
  );

  it.each(['length', 'content_filter'])('is not a cut text: %s', async (finish) => {
    upstream.next({ text: '{"items":[', finish });
    const { body } = await create();
    expect([body.status, body.error]).toEqual(['incomplete', null]);
    expect(textOf(body)).toEqual(['{"items":[']);
  });

  it('may be said in two parts around a pause', async () => {
    upstream.next({ text: ['{"items":', '[', '{"price":2.5}', ']', '}'], restGate: never });
    const request = { model, input: 'Hi', text: { format }, background: true, stream: true };
    let id = '';
    for await (const { data } of ann.sse('POST', path, request)) {
      const event = JSON.parse(data);
      id = event.response?.id ?? id;
      if (event.type === 'response.output_text.delta') break;
    }
    const paused = (await ann.post(`${path}/${id}/pause`)).body;
    expect(paused.incomplete_details).toEqual({ reason: 'paused' });
    const said = textOf(paused).join('');
    upstream.next({ text: good.slice(said.length) });
    const resumed = (await ann.post(`${path}/${id}/resume`, {})).body;
    expect([resumed.status, textOf(resumed).join('')]).toEqual(['completed', good]);
  });
});

describe('json_object', () => {
  const text = { format: { type: 'json_object' } };
  it.each([
    ['{"any":"thing"}', 'completed'],
    ['[1]', 'failed'],
    ['Sure! {"a":1}', 'failed'],
    ['{"a":', 'failed'],
  ])('%s: %s', async (said, status) => {
    upstream.otherwise({ text: said });
    expect((await create({ text })).body.status).toBe(status);
    expect((await streamed({ text })).at(-1)).toMatchObject({ type: `response.${status}` });
  });

  it('is checked in completions too: asked for once more, then an error', async () => {
    const request = { model, messages: [{ role: 'user', content: 'Hi' }], response_format: { type: 'json_object' } };
    const at = '/api/v1/chat/completions';
    upstream.next({ text: 'no JSON' }, { text: '{"a":1}' });
    expect((await ann.post(at, request)).body.choices[0].message.content).toBe('{"a":1}');
    upstream.otherwise({ text: 'no JSON' });
    const failed = await ann.post(at, request);
    expect([failed.status, failed.body.error.message]).toEqual([502, expect.stringContaining('response_format')]);
    const frames = await ann.stream(at, { ...request, stream: true });
    expect(frames.some(({ data }) => data.includes('"code":"model_error"'))).toBe(true);
    upstream.next({ text: '{"a":1}' });
    const good = await ann.stream(at, { ...request, stream: true });
    expect(good.some(({ data }) => data.includes('"finish_reason":"stop"'))).toBe(true);
  });

  it('with a schema is passed on in completions, and the answer is left as it is', async () => {
    upstream.next({ text: 'no JSON' });
    const response_format = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } };
    const messages = [{ role: 'user', content: 'Hi' }];
    const { body } = await ann.post('/api/v1/chat/completions', { model, messages, response_format });
    expect(body.choices[0].message.content).toBe('no JSON');
  });
});
