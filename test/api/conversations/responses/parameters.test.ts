import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { addFile, indexed } from '../../../support/knowledge/knowledge.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { make, upstream } = await withService('model');
const model = 'openai/test-model';
const path = '/api/v2/responses';

const ann = await make.person();

const tools = [{ type: 'function', name: 'add', parameters: { type: 'object' } }];
const asked = () => upstream.requests.at(-1)?.body ?? {};
const create = (members: object) => ann.post(path, { model, input: 'Hi', ...members });
async function streamed(members: object) {
  const frames = await ann.stream(path, { model, input: 'Hi', stream: true, ...members });
  return frames.flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data)]));
}

describe('a parameter', () => {
  /** OpenAI refuses keys of more than 64 characters. */
  const inShort = createHash('sha256').update('k'.repeat(512)).digest('base64url');
  const effort = (value: string) =>
    [{ reasoning: { effort: value } }, { reasoning_effort: value }, { reasoning: { effort: value, summary: null } }] as const;
  it.each<readonly [request: object, upstream: object, answer: object]>([
    ...['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'].map(effort),
    [{ reasoning: { summary: 'auto' } }, {}, { reasoning: { effort: null, summary: 'auto' } }],
    [{ max_output_tokens: 50 }, { max_tokens: 50 }, { max_output_tokens: 50 }],
    [{ temperature: 0 }, { temperature: 0 }, { temperature: 0 }],
    [{ top_p: 0.25 }, { top_p: 0.25 }, { top_p: 0.25 }],
    [{ presence_penalty: -1 }, { presence_penalty: -1 }, { presence_penalty: -1 }],
    [{ frequency_penalty: 0.5 }, { frequency_penalty: 0.5 }, { frequency_penalty: 0.5 }],
    [{ tools, parallel_tool_calls: false }, { parallel_tool_calls: false }, { parallel_tool_calls: false }],
    [{ tools, parallel_tool_calls: true }, { parallel_tool_calls: true }, { parallel_tool_calls: true }],
    [{ top_logprobs: 3 }, { logprobs: true, top_logprobs: 3 }, { top_logprobs: 3 }],
    [{ include: ['message.output_text.logprobs'] }, { logprobs: true }, { top_logprobs: 0 }],
    [{ text: { format: { type: 'json_object' } } }, { response_format: { type: 'json_object' } }, {}],
    [{ text: { verbosity: 'low' } }, { verbosity: 'low' }, { text: { format: { type: 'text' }, verbosity: 'low' } }],
    [{ metadata: { order: '7' } }, {}, { metadata: { order: '7' } }],
    [{ truncation: 'auto' }, {}, { truncation: 'auto' }],
    [{ truncation: 'disabled' }, {}, { truncation: 'disabled' }],
    [{ max_tool_calls: 2 }, {}, { max_tool_calls: 2 }],
    ...(['user', 'safety_identifier', 'prompt_cache_key'] as const).map(
      (name) => [{ [name]: 'a' }, { [name]: 'a' }, { [name]: 'a' }] as const,
    ),
    [{ prompt_cache_key: 'k'.repeat(512) }, { prompt_cache_key: inShort }, { prompt_cache_key: 'k'.repeat(512) }],
  ])('%j reaches the model, and the answer repeats it', async (request, wanted, answer) => {
    upstream.otherwise({ text: '{}' });
    for (const members of [{}, { store: false }]) {
      await create(members);
      const plain = asked();
      const { status, body } = await create({ ...request, ...members });
      expect([status, body.status]).toEqual([200, 'completed']);
      const { tools: _tools, ...rest } = asked();
      // Nothing else of the request changes on the way to the model.
      expect(rest).toEqual({ ...plain, ...wanted });
      expect(body).toMatchObject(answer);
    }
  });

  it.each<readonly [object, string]>([
    [{ top_logprobs: 21 }, 'top_logprobs'],
    [{ max_tool_calls: 0 }, 'max_tool_calls'],
    [{ max_output_tokens: 1.5 }, 'max_output_tokens'],
    [{ temperature: 2.1 }, 'temperature'],
    [{ reasoning: { effort: 'extreme' } }, 'reasoning.effort'],
    [{ metadata: { a: 'x'.repeat(513) } }, 'metadata'],
    [{ prompt_cache_key: 'x'.repeat(513) }, 'prompt_cache_key'],
  ])('%j is refused by its name', async (request, param) => {
    const { status, body } = await create(request);
    expect([status, body.error.param]).toEqual([400, param]);
  });

  it('max_output_tokens that are used up leave the answer incomplete', async () => {
    upstream.next({ text: 'Once upon', finish: 'length' });
    const { body } = await create({ max_output_tokens: 2 });
    expect(body).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    expect(body.output[0]).toMatchObject({ status: 'incomplete', content: [{ text: 'Once upon' }] });
  });
});

describe('the class of service', () => {
  it.each([true, false])('is the one that the model reports, wherever the response is told (store: %s)', async (store) => {
    upstream.otherwise({ text: ['It', ' is'], serviceTier: 'flex' });
    const { body } = await create({ service_tier: 'priority', store });
    expect([body.service_tier, asked().service_tier]).toEqual(['flex', 'priority']);
    if (store) expect((await ann.get(`${path}/${body.id}`)).body).toEqual(body);
    const events = await streamed({ service_tier: 'flex', store });
    const told = events.flatMap(({ response }) => (response === undefined ? [] : [response.service_tier]));
    expect(told).toEqual(['default', 'default', 'flex']);
    if (!store) return;
    const { data } = await ann.graphql(`{ response(id: "${body.id}") { serviceTier } }`);
    expect(data.response.serviceTier).toBe('flex');
  });

  it('keeps its value from before a pause, and changes with the next answer', async () => {
    upstream.next({ text: 'One ', serviceTier: 'flex', hangAtByte: 600 }, { text: 'two', serviceTier: 'priority' });
    const { id } = (await create({ background: true })).body;
    await eventually(async () => expect((await ann.get(`${path}/${id}`)).body.output).toHaveLength(1));
    await ann.post(`${path}/${id}/pause`);
    expect((await ann.post(`${path}/${id}/resume`)).body.service_tier).toBe('priority');
  });

  it.each([undefined, '', 'a b', 'x'.repeat(40)])('is default where the model reports none (%j)', async (serviceTier) => {
    upstream.next({ text: 'Hi', ...(serviceTier === undefined ? {} : { serviceTier }) });
    expect((await create({ service_tier: 'flex' })).body.service_tier).toBe('default');
  });

  it('that is not known is refused, with those that are', async () => {
    const { status, body } = await create({ service_tier: 'gold' });
    expect([status, body.error.param, body.error.code]).toEqual([400, 'service_tier', 'invalid_value']);
    expect(body.error.message).toContain('auto, default, flex, scale, priority');
  });
});

describe('log probabilities of tokens', () => {
  const token = (text: string, logprob: number) => ({ token: text, logprob, bytes: [...Buffer.from(text)] });
  const logprobs = [
    { ...token('It', -0.1), top_logprobs: [token('It', -0.1), token('He', -2)] },
    { ...token(' is', -0.2), top_logprobs: [] },
  ];

  it.each([true, false])('stands in the text of the answer, its events and its items (store: %s)', async (store) => {
    const answer = { text: ['It', ' is'], logprobs };
    upstream.next(answer, answer);
    const { body } = await create({ top_logprobs: 2, store });
    expect(body.output[0].content).toEqual([{ type: 'output_text', text: 'It is', annotations: [], logprobs }]);
    const events = await streamed({ include: ['message.output_text.logprobs'], store });
    const of = (type: string) => events.find((event) => event.type === type);
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta');
    expect(deltas.map((event) => [event.delta, event.logprobs])).toEqual(logprobs.map((token) => [token.token, [token]]));
    expect(of('response.output_text.done')).toMatchObject({ text: 'It is', logprobs });
    expect(of('response.content_part.done').part.logprobs).toEqual(logprobs);
    expect(of('response.output_item.done').item.content[0].logprobs).toEqual(logprobs);
    expect(of('response.completed').response.output[0].content[0].logprobs).toEqual(logprobs);
  });

  it('tolerates missing and malformed entries of a provider', async () => {
    upstream.next({
      text: ['It', ' is', '.'],
      logprobs: [{ token: 'It', logprob: -1, bytes: null }, { token: 7 }, { logprob: 1 }],
    });
    const { body } = await create({ top_logprobs: 1 });
    expect(body.output[0].content[0].logprobs).toEqual([{ token: 'It', logprob: -1, bytes: [], top_logprobs: [] }]);
  });

  it('comes with the next piece where a citation marker may begin', async () => {
    const agent = await make.agent({ owner: ann, modelId: model });
    const { body } = await addFile(ann, agent.id, 'prices.md', '# Prices\n\nA repair costs 15 euros.', 'text/markdown');
    await indexed(ann, body.id);
    const text = ['15 €', ' [', '1', ']', '.', ' ['];
    const told = text.map((one) => ({ ...token(one, -0.1), top_logprobs: [] }));
    upstream.next({ text, logprobs: told });
    const events = await streamed({ model: agent.id, input: 'What does a repair cost?', top_logprobs: 1 });
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta');
    expect(deltas.map(({ delta, logprobs }) => [delta, logprobs.length])).toEqual([
      ['15 €', 1],
      [' [1]', 3],
      ['.', 1],
      [' [', 1],
    ]);
    expect(deltas.flatMap((event) => event.logprobs)).toEqual(told);
  });

  it('is of every chunk of a long text, however alike they are', async () => {
    const same = { ...token('a', -0.5), top_logprobs: [] };
    upstream.next({ text: Array(200).fill('a'), logprobs: Array(200).fill(same) });
    const events = await streamed({ top_logprobs: 1 });
    expect(events.find(({ type }) => type === 'response.output_text.done').logprobs).toHaveLength(200);
    expect(events.filter(({ type }) => type.endsWith('text.delta')).every((event) => event.logprobs.length === 1)).toBe(true);
  });
});
