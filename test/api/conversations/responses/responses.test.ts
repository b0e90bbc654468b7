import { beforeEach, describe, expect, it } from 'vitest';
import { type Asked, withoutDate } from '../../../support/runs/answers.ts';
import { withService } from '../../../support/service.ts';

/** How Parley turns a request into a run. test/contract/open-responses/ tests the format's rules for requests, responses, items, events and errors. */
const logs: string[] = [];
const { service, make, upstream } = await withService('model', { env: { LOG_LEVEL: 'debug' }, onLog: (line) => logs.push(line) });
const model = 'openai/test-model';
const path = '/api/v2/responses';

const ann = await make.person();
const bob = await make.person();

beforeEach(() => {
  upstream.otherwise({ text: 'It is 3.' });
});

const asked = () => upstream.requests.at(-1)?.body as Record<string, unknown>;
const create = (members: Record<string, unknown>, who = ann) => who.post(path, { model, input: 'Hi', ...members });
const picture = 'data:image/png;base64,iVBORw0KGgo=';

describe('every form of input', () => {
  const call = { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{"a":1}' };
  const asking = { role: 'user', content: 'Add' };
  const toolCalls = [{ id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }];
  it.each<[string, unknown, readonly unknown[]]>([
    ['a string', 'Hello', [{ role: 'user', content: 'Hello' }]],
    ['a message without a type', [{ role: 'user', content: 'Hello' }], [{ role: 'user', content: 'Hello' }]],
    [
      'parts of text and image',
      [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'What?' },
            { type: 'input_image', image_url: picture, detail: 'low' },
          ],
        },
      ],
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What?' },
            { type: 'image_url', image_url: { url: picture, detail: 'low' } },
          ],
        },
      ],
    ],
    [
      'a file, as its text',
      [
        {
          role: 'user',
          content: [{ type: 'input_file', filename: 'a.md', file_data: `data:text/markdown;base64,${btoa('# Deep\n\nblue')}` }],
        },
      ],
      [{ role: 'user', content: expect.stringMatching(/a\.md[\s\S]*blue/) }],
    ],
    [
      'instructions among the items',
      [{ role: 'developer', content: 'Brief.' }, asking],
      [{ role: 'system', content: 'Brief.' }, asking],
    ],
    [
      'a call and its output',
      [asking, call, { type: 'function_call_output', call_id: 'call_1', output: '3' }],
      [
        asking,
        { role: 'assistant', content: null, tool_calls: toolCalls },
        { role: 'tool', tool_call_id: 'call_1', content: '3' },
      ],
    ],
    [
      'an output that failed, as parts',
      [
        asking,
        call,
        { type: 'function_call_output', call_id: 'call_1', status: 'error', output: [{ type: 'input_text', text: 'no' }] },
      ],
      [
        asking,
        { role: 'assistant', content: null, tool_calls: toolCalls },
        { role: 'tool', tool_call_id: 'call_1', content: 'Error: no' },
      ],
    ],
    [
      'a call that nobody answered',
      [asking, call, { role: 'user', content: 'Never mind' }],
      [
        asking,
        { role: 'assistant', content: null, tool_calls: toolCalls },
        { role: 'tool', tool_call_id: 'call_1', content: expect.stringContaining('Cancelled') },
        { role: 'user', content: 'Never mind' },
      ],
    ],
    [
      'what an assistant said, with log probabilities',
      [
        asking,
        { role: 'assistant', content: [{ type: 'output_text', text: 'Three', annotations: [], logprobs: [{ token: 'T' }] }] },
        asking,
      ],
      [asking, { role: 'assistant', content: 'Three' }, asking],
    ],
    ['thinking, which no model is told', [{ type: 'reasoning', id: 'rs_1', summary: [] }, asking], [asking]],
    [
      'a call of a tool of the service with its output',
      [
        asking,
        { type: 'server_tool_call', id: 'stc_1', call_id: 'call_9', name: 'python', arguments: '{}' },
        { type: 'server_tool_call_output', call_id: 'call_9', output: '42', error: null },
        asking,
      ],
      [
        asking,
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_9', type: 'function', function: { name: 'python', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'call_9', content: '42' },
        asking,
      ],
    ],
  ])('%s', async (_name, input, messages) => {
    for (const store of [false, true]) {
      const reply = await create({ input, store });
      expect(reply.body).toMatchObject({ status: 'completed' });
      expect(asked().messages).toEqual(messages);
    }
  });
});

describe('the request to the model', () => {
  it('follows the request, and the response repeats it', async () => {
    const tools = [{ type: 'function', name: 'add', description: 'Adds', parameters: { type: 'object' }, strict: true }];
    const schema = { type: 'object', properties: { n: { type: 'number' } } };
    const members = {
      ...{ instructions: 'Be brief.', tools, tool_choice: { type: 'function', name: 'add' }, parallel_tool_calls: false },
      ...{ max_output_tokens: 50, temperature: 0.5, top_p: 0.9, metadata: { a: 'b' }, reasoning: { effort: 'xhigh' } },
      text: { format: { type: 'json_schema', name: 'n', schema, strict: true } },
    };
    upstream.next({ toolCalls: [{ id: 'call_1', name: 'add', arguments: '{}' }] });
    const { body } = await create(members);
    expect(asked()).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
      tools: [{ type: 'function', function: { name: 'add', strict: true } }],
      tool_choice: { type: 'function', function: { name: 'add' } },
      ...{ parallel_tool_calls: false, max_tokens: 50, temperature: 0.5, top_p: 0.9, reasoning_effort: 'xhigh' },
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } },
    });
    const { text: _text, reasoning: _reasoning, ...same } = members;
    expect(body).toMatchObject({ ...same, reasoning: { effort: 'xhigh', summary: null }, text: members.text });
  });

  it('in plan mode nothing can be called', async () => {
    const tools = [{ type: 'function', name: 'add', parameters: { type: 'object' } }];
    await create({ tools, chat_mode: 'plan' });
    expect(asked()).not.toHaveProperty('tools');
    expect(asked().messages).toMatchObject([{ role: 'system', content: expect.stringContaining('plan') }, { role: 'user' }]);
    await create({ tools, chat_mode: 'chat' });
    expect(asked()).toHaveProperty('tools');
  });

  it('an agent answers with its own settings, on every API', async () => {
    const agent = await make.agent({ owner: ann, instructions: 'Answer as Ada.', modelId: model });
    const chat = await make.chat({ owner: ann, agentId: agent.id });
    const text = async () => {
      const { body } = await create({ model: agent.id });
      const v2 = asked();
      const reply = await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi' });
      const v1 = { ...asked(), messages: withoutDate(asked().messages as Asked[]) } as Record<string, unknown>;
      const messages = [{ role: 'user', content: 'Hi' }];
      const completion = await ann.post('/api/v1/chat/completions', { model: agent.id, messages, stream: false });
      const { stream: _stream, stream_options: _options, ...whole } = v1;
      expect(v2).toEqual(v1);
      expect(asked()).toEqual({ ...whole, stream: false });
      return [body.output[0].content[0].text, reply.body.message.content, completion.body.choices[0].message.content];
    };
    expect(await text()).toEqual(['It is 3.', 'It is 3.', 'It is 3.']);
  });
});

describe('a tool of the service', () => {
  it('runs, appears as items, and is in the history of the next turn on every API', async () => {
    const tools = [{ type: 'python' }];
    const code = JSON.stringify({ code: 'print(6 * 7)' });
    upstream.next({ toolCalls: [{ id: 'call_1', name: 'python', arguments: code }] }, { text: 'It is 42.' });
    const { body } = await create({ tools });
    expect(body).toMatchObject({ status: 'completed', tools });
    const [call, output, message] = body.output;
    expect(call).toMatchObject({ type: 'server_tool_call', call_id: 'call_1', name: 'python', arguments: code });
    expect(message.content[0].text).toBe('It is 42.');
    // A machine without a sandbox gives an error in the item; the run continues either way.
    const told = output.error === null ? output.output : `Error: ${output.error.message}`;
    expect(told).toMatch(/^42\n$|not available/);
    const exchange = [
      { role: 'assistant', tool_calls: [{ id: 'call_1' }] },
      { role: 'tool', tool_call_id: 'call_1', content: told },
    ];
    expect(asked().messages).toMatchObject([{ role: 'user' }, ...exchange]);
    await create({ input: 'Sure?', previous_response_id: body.id });
    expect(asked().messages).toMatchObject([{ role: 'user' }, ...exchange, { content: 'It is 42.' }, { content: 'Sure?' }]);
    await ann.post(`/api/v1/chats/${body.conversation.id}/messages`, { prompt: 'By v1' });
    expect(withoutDate(asked().messages as Asked[])).toMatchObject([
      { role: 'user' },
      ...exchange,
      {},
      {},
      {},
      { content: 'By v1' },
    ]);
    const chat = await ann.get(`/api/v1/chats/${body.conversation.id}`);
    expect(chat.body.messages.map(({ role }: { role: string }) => role)).not.toContain('tool');
  });

  it('is called as often as max_tool_calls says', async () => {
    const call = (id: string) => ({ id, name: 'python', arguments: '{}' });
    upstream.next({ toolCalls: [call('call_1'), call('call_2')] }, { text: 'Enough.' });
    const { body } = await create({ tools: [{ type: 'python' }], max_tool_calls: 1 });
    const outputs = body.output.filter(({ type }: { type: string }) => type === 'server_tool_call_output');
    expect(outputs.map(({ error }: { error: { code: string } }) => error.code)).toEqual(['invalid_value', 'max_tool_calls']);
    expect(asked()).toMatchObject({ tool_choice: 'none' });
  });

  it('works in completions, which show nothing of it', async () => {
    const code = JSON.stringify({ code: 'print(6 * 7)' });
    upstream.next({ toolCalls: [{ id: 'call_1', name: 'python', arguments: code }] }, { text: 'It is 42.' });
    const messages = [{ role: 'user', content: 'Hi' }];
    const { body } = await ann.post('/api/v1/chat/completions', { model, messages, tools: [{ type: 'python' }] });
    expect(body.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'It is 42.' } });
    expect(body.choices[0].message).not.toHaveProperty('tool_calls');
  });
});

describe('threads', () => {
  it('a response is a turn of a chat, which v1 continues', async () => {
    const { body } = await create({});
    const chatId = body.conversation.id;
    expect((await ann.get('/api/v1/chats')).body.data.map(({ id }: { id: string }) => id)).toContain(chatId);
    await ann.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'By v1' });
    await create({ input: 'By v2', conversation: { id: chatId } });
    expect((asked().messages as unknown[]).length).toBe(5);
    expect((await ann.get(`/api/v1/chats/${chatId}`)).body.messages).toHaveLength(6);
  });

  it('continuing an older response forks', async () => {
    const first = (await create({ input: 'One' })).body;
    const second = (await create({ input: 'Two', previous_response_id: first.id })).body;
    const fork = (await create({ input: 'Other', previous_response_id: first.id })).body;
    expect(second.conversation).toEqual(first.conversation);
    expect(fork.conversation).not.toEqual(first.conversation);
    expect(asked().messages).toMatchObject([{ content: 'One' }, { content: 'It is 3.' }, { content: 'Other' }]);
  });

  it('hidden parts go to the model and stand in the input items, nowhere else', async () => {
    const content = [
      { type: 'input_text', text: 'Seen', metadata: { source: 'form-7' } },
      { type: 'input_text', text: 'UNSEEN-CANARY', invisible: true },
    ];
    const { body } = await create({ input: [{ role: 'user', content }] });
    expect(asked().messages).toEqual([{ role: 'user', content: 'Seen\nUNSEEN-CANARY' }]);
    const chat = await ann.get(`/api/v1/chats/${body.conversation.id}`);
    expect(JSON.stringify(chat.body)).toContain('Seen');
    expect(JSON.stringify(chat.body)).not.toMatch(/UNSEEN-CANARY|form-7/);
    expect((await ann.get(`${path}/${body.id}/input_items`)).body.data[0].content).toEqual(content);
  });

  it('secrets are in no reply, log or row', async () => {
    const secret = 'CANARY-5f0a-secret-value';
    const { body } = await create({ user_secrets: { TOKEN: secret } });
    const pool = service.deps.storage.db.pool;
    const rows = await pool.query(`select r::text from runs r union all select m::text from messages m
      union all select e::text from run_event_batches e union all select i::text from response_items i`);
    expect(JSON.stringify([body, rows.rows, logs, upstream.requests])).not.toContain('CANARY-5f0a');
  });

  it('deleting takes it out of its thread; an empty thread goes with it', async () => {
    const first = (await create({ input: 'One' })).body;
    const second = (await create({ input: 'Two', previous_response_id: first.id })).body;
    expect((await ann.call('DELETE', `${path}/${first.id}`)).body).toEqual({ id: first.id, object: 'response', deleted: true });
    await create({ input: 'Three', previous_response_id: second.id });
    expect(asked().messages).toMatchObject([{ content: 'Two' }, {}, { content: 'Three' }]);
    const alone = (await create({})).body;
    await ann.call('DELETE', `${path}/${alone.id}`);
    expect((await ann.get(`/api/v1/chats/${alone.conversation.id}`)).status).toBe(404);
  });
});

describe('refusals', () => {
  it.each<[string, Record<string, unknown>, string, string]>([
    ['no input', { input: undefined }, 'missing_required_parameter', 'input'],
    ['an empty list', { input: [] }, 'empty_array', 'input'],
    ['an item of no type', { input: [{ content: 'x' }] }, 'missing_required_parameter', 'input[0].type'],
    ['an unknown item', { input: [{ type: 'poem' }] }, 'invalid_value', 'input[0].type'],
    ['an unknown role', { input: [{ role: 'king', content: 'x' }] }, 'invalid_value', 'input[0].role'],
    ['an unknown part', { input: [{ role: 'user', content: [{ type: 'song' }] }] }, 'invalid_value', 'input[0].content[0].type'],
    [
      'an image of no kind',
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'file:///x' }] }] },
      'invalid_value',
      'input[0].content[0].image_url',
    ],
    [
      'another file',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }] },
      'invalid_value',
      'input[0].content[0].file_id',
    ],
    [
      'an output that nobody waits for',
      { input: [{ type: 'function_call_output', call_id: 'call_x', output: '' }] },
      'invalid_value',
      'input[0].call_id',
    ],
    [
      'a wrong status of an output',
      { input: [{ type: 'function_call_output', call_id: 'c', output: '', status: 'great' }] },
      'invalid_value',
      'input[0].status',
    ],
    ['a reference to nothing', { input: [{ type: 'item_reference', id: 'msg_none' }] }, 'invalid_value', 'input[0].id'],
    ['a wrong chat_mode', { chat_mode: 'dream' }, 'invalid_value', 'chat_mode'],
    ['a wrong thread_mode', { thread_mode: 'push' }, 'invalid_value', 'thread_mode'],
    ['a wrong effort', { reasoning: { effort: 'huge' } }, 'invalid_value', 'reasoning.effort'],
    ['a wrong truncation', { truncation: 'some' }, 'invalid_value', 'truncation'],
    ['a wrong include', { include: ['all'] }, 'invalid_value', 'include[0]'],
    [
      'a wrong schema',
      { text: { format: { type: 'json_schema', name: 'n', schema: { type: 'nothing' } } } },
      'invalid_value',
      'text.format.schema',
    ],
    ['a wrong format', { text: { format: { type: 'xml' } } }, 'invalid_value', 'text.format.type'],
    ['an unknown tool', { tools: [{ type: 'hammer' }] }, 'unknown_tool_type', 'tools[0].type'],
    [
      'two tools of one name',
      { tools: ['f', 'f'].map((name) => ({ type: 'function', name })) },
      'duplicate_tool_name',
      'tools[1].name',
    ],
    [
      'a tool with the name of one of the service',
      { tools: [{ type: 'python' }, { type: 'function', name: 'python' }] },
      'tool_name_conflict',
      'tools[1].name',
    ],
    ['a choice that is no tool', { tool_choice: { type: 'function', name: 'f' } }, 'invalid_value', 'tool_choice'],
    [
      'too much metadata',
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, ''])) },
      'invalid_value',
      'metadata',
    ],
    [
      'too many secrets',
      { user_secrets: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, ''])) },
      'invalid_value',
      'user_secrets',
    ],
    ['no tokens', { max_output_tokens: 0 }, 'invalid_value', 'max_output_tokens'],
    ['what is too long', { input: 'x'.repeat(4_000_000) }, 'context_length_exceeded', 'input'],
  ])('%s', async (_name, members, code, param) => {
    for (const stream of [false, true]) {
      const reply = await create({ ...members, stream });
      expect([reply.status, reply.body.error.code, reply.body.error.param]).toEqual([400, code, param]);
      expect(reply.body.error.type).toBe('invalid_request');
    }
    expect(upstream.requests).toHaveLength(0);
  });

  it('a response, a conversation and an agent of another user look missing to a request that names them', async () => {
    const { body } = await create({});
    expect((await bob.get(`${path}/${body.id}?stream=true`)).status).toBe(404);
    expect((await create({ previous_response_id: body.id }, bob)).status).toBe(400);
    expect((await create({ conversation: body.conversation.id }, bob)).status).toBe(404);
    const agent = await make.agent({ owner: ann });
    expect((await create({ model: agent.id }, bob)).status).toBe(404);
  });
});
