import { describe, expect, it } from 'vitest';
import type { WireEvent } from '../../support/runs/response-walk.ts';
import { addCall, addTool, responsesBench, responsesPath, testModel } from '../../support/runs/responses.ts';

/** The rules of the Open Responses format about items. test/api/conversations/responses/responses.test.ts tests what the model gets for each kind of input item. */
const bench = await responsesBench();
const question = { role: 'user', content: 'Add' };
const call = { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{"a":1}' };
const outputOf = (status?: string) => ({
  ...{ type: 'function_call_output', call_id: 'call_1', output: '3' },
  ...(status === undefined ? {} : { status }),
});

/** The listed input items of a request, in their order. */
async function listed(input: unknown): Promise<readonly WireEvent[]> {
  const { id } = await bench.created({ input });
  return (await bench.inputItems(id, '?order=asc&limit=100')).body.data;
}
const refused = async (input: unknown) => {
  const { status, body } = await bench.create({ input });
  return [status, body.error.param];
};

describe('every item', () => {
  it('of an output has an id of its own, a type and a status', async () => {
    bench.upstream.next({ reasoning: 'Let me see', text: 'One moment', toolCalls: [addCall, { ...addCall, id: 'call_2' }] });
    const { output } = await bench.created({ tools: [addTool] });
    expect(output.map(({ type }: WireEvent) => type)).toEqual(['reasoning', 'message', 'function_call', 'function_call']);
    expect(output.map(({ status }: WireEvent) => status)).toEqual(Array(4).fill('completed'));
    expect(new Set(output.map(({ id }: WireEvent) => id)).size).toBe(4);
  });

  it('that was given has an id, a type and a status, whether it came with them or not', async () => {
    const items = await listed([
      question,
      { type: 'reasoning', summary: [] },
      { type: 'compaction', encrypted_content: 'Ada likes tea.' },
      call,
      outputOf(),
      { type: 'server_tool_call', call_id: 'call_9', name: 'python', arguments: '{}' },
      { type: 'server_tool_call_output', call_id: 'call_9', output: '42', error: null },
      { type: 'web_search_call', id: 'ws_1', action: { type: 'search', query: 'tea' } },
      question,
    ]);
    for (const { id, type, status } of items) {
      expect([typeof id, typeof type, status], type).toEqual(['string', 'string', 'completed']);
    }
    expect(new Set(items.map(({ id }) => id)).size).toBe(9);
  });
});

describe('messages', () => {
  it('may come without a type, and with a string for their content: they are listed whole', async () => {
    expect(await listed([question, { role: 'assistant', content: 'Three' }, question])).toMatchObject([
      { type: 'message', role: 'user', status: 'completed', content: [{ type: 'input_text', text: 'Add' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Three', annotations: [], logprobs: [] }] },
      { type: 'message', role: 'user' },
    ]);
  });

  it('keep their id, their status and log probabilities', async () => {
    const logprobs = [{ token: 'T', logprob: -0.1, bytes: [84], top_logprobs: [] }];
    const content = [{ type: 'output_text', text: 'Three', annotations: [], logprobs }];
    const given = { type: 'message', id: 'msg_mine', role: 'assistant', status: 'incomplete', content };
    expect((await listed([given, question]))[0]).toEqual(given);
  });

  it('of an assistant keep their phase, which is one of two', async () => {
    const said = (phase: unknown) => ({ role: 'assistant', phase, content: 'Three' });
    const items = await listed([said('commentary'), said('final_answer'), said(null), { ...question, phase: 'commentary' }]);
    expect(items.map(({ phase }) => phase)).toEqual(['commentary', 'final_answer', undefined, undefined]);
    expect(await refused([said('loud'), question])).toEqual([400, 'input[0].phase']);
  });
});

it.each(['success', 'error', 'cancelled', 'in_progress', 'completed', 'incomplete'])(
  'a function_call_output with the status %s is kept as it was given',
  async (status) => {
    expect((await listed([question, call, outputOf(status)]))[2]).toMatchObject(outputOf(status));
  },
);

it.each([
  ['function_call', 'failed'],
  ['function_call', 17],
  ['server_tool_call', 'done'],
])('a %s with the status %s is refused', async (type, status) => {
  expect(await refused([question, { ...call, type, status }])).toEqual([400, 'input[1].status']);
});

describe('an output', () => {
  it('text has annotations and logprobs, empty where there are none', async () => {
    const { output } = await bench.created();
    expect(output[0].content).toEqual([{ type: 'output_text', text: 'It is 3.', annotations: [], logprobs: [] }]);
  });

  it('call without arguments has an empty object, never an empty text', async () => {
    bench.upstream.next({ toolCalls: [{ ...addCall, arguments: '' }] });
    expect((await bench.created({ tools: [addTool] })).output[0].arguments).toBe('{}');
  });

  it('item that was cut is incomplete and the last one, and so is its response', async () => {
    bench.upstream.next({ text: 'One moment', toolCalls: [addCall], finish: 'length' });
    const { status, output } = await bench.created({ tools: [addTool] });
    expect([status, ...output.map((item: WireEvent) => item.status)]).toEqual(['incomplete', 'completed', 'incomplete']);
  });

  it('can be the input of the next request as it is', async () => {
    bench.upstream.next({ reasoning: 'Let me see', text: 'One moment', toolCalls: [addCall] });
    const { output } = await bench.created({ tools: [addTool], store: false });
    await bench.created({ input: [question, ...output, outputOf()], tools: [addTool], store: false });
    expect(bench.asked.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: 'One moment', tool_calls: [{ id: 'call_1' }] },
      { role: 'tool', content: '3' },
    ]);
  });
});

it('calls of tools of the service are taken back as they were shown', async () => {
  const exchange = [
    { type: 'server_tool_call', id: 'stc_1', status: 'failed', call_id: 'call_9', name: 'python', arguments: '{"code":"1"}' },
    {
      ...{ type: 'server_tool_call_output', id: 'sto_1', status: 'failed', call_id: 'call_9', output: '' },
      error: { code: 'tool_failed', message: 'It broke.' },
    },
  ];
  expect((await listed([question, ...exchange, question])).slice(1, 3)).toEqual(exchange);
});

describe('references', () => {
  it('find items given and said in earlier responses of the same owner, with their type or only their id', async () => {
    bench.upstream.next({ text: 'Let me see', toolCalls: [addCall] });
    const first = await bench.created({ input: 'Add' });
    const given = (await bench.inputItems(first.id)).body.data[0];
    const references = [given, ...first.output].map(({ id }: WireEvent) => ({ type: 'item_reference', id }));
    const input = [...references, outputOf()];
    await bench.created({ input });
    expect(bench.asked.messages).toMatchObject([
      { role: 'user', content: 'Add' },
      { role: 'assistant', content: 'Let me see', tool_calls: [{ id: 'call_1' }] },
      { role: 'tool', content: '3' },
    ]);
    await bench.created({ input: [{ id: first.output[0].id }] });
    expect(bench.asked.messages).toMatchObject([{ role: 'assistant', content: 'Let me see' }]);
  });

  it('find nothing of another owner, with the same error as for a missing item', async () => {
    const { output } = await bench.created();
    const reply = (id: string) => bench.create({ input: [{ type: 'item_reference', id }] }, bench.bob);
    const [stolen, missing] = [await reply(output[0].id), await reply('msg_none')];
    expect([stolen.status, stolen.body.error.param]).toEqual([400, 'input[0].id']);
    expect(stolen.body).toEqual(missing.body);
  });

  it('of the same item twice are two items, each with an id of its own', async () => {
    const { output } = await bench.created();
    const reference = { type: 'item_reference', id: output[0].id };
    const items = await listed([reference, reference, question]);
    expect(items.map(({ content }) => content[0].text)).toEqual(['It is 3.', 'It is 3.', 'Add']);
    expect(items[0].id).toBe(output[0].id);
    expect(new Set(items.map(({ id }) => id)).size).toBe(3);
  });

  it('are listed as the items they stand for', async () => {
    const { output } = await bench.created();
    expect(await listed([{ type: 'item_reference', id: output[0].id }, question])).toMatchObject([output[0], { role: 'user' }]);
  });
});

it('the item of a compaction is accepted, stored and listed', async () => {
  const { body } = await bench.ann.post(`${responsesPath}/compact`, { model: testModel, input: 'I am Ada' });
  expect((await listed([...body.output, question])).slice(0, -1)).toEqual(body.output);
});
