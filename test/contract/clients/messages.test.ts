import { createAnthropic } from '@ai-sdk/anthropic';
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { generateText, isStepCount, streamText, tool } from 'ai';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { indexed } from '../../support/knowledge/knowledge.ts';
import { withService } from '../../support/service.ts';

/** Stock clients of the Messages format, unchanged, against a running service. */
const { service, make, upstream } = await withService('model');
const model = 'openai/test-model';
const question = [{ role: 'user' as const, content: 'What is 1 + 2?' }];
const call = { id: 'call_1', name: 'add', arguments: '{"a":1,"b":2}' };
const usage = { prompt_tokens: 5, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 3 } };
const numbers = z.object({ a: z.number(), b: z.number() });
const addSchema = { type: 'object' as const, properties: { a: { type: 'number' as const }, b: { type: 'number' as const } } };
const max_tokens = 100;

const ann = await make.person();
const agent = await make.agent({ owner: ann, modelId: model, instructions: 'Use the list.', generateCitations: true });
const knowing = agent.id;
const data = { services: [{ name: 'Puncture repair', priceEuro: 15 }] };
const source = await make.apiDataSource({ owner: ann, agentId: knowing, name: 'Prices', data });
await indexed(ann, source.id);

beforeEach(() => {
  upstream.reset();
  upstream.otherwise({ text: ['It ', 'is ', '3.'], usage });
});

const client = (options = {}) => new Anthropic({ baseURL: `${service.url}/api`, apiKey: ann.key, maxRetries: 0, ...options });

describe('@anthropic-ai/sdk', () => {
  const tools = [{ name: 'add', description: 'Adds', input_schema: addSchema }];

  it('creates, whole', async () => {
    const reply = await client().messages.create({ model, max_tokens, system: 'Be brief.', messages: question });
    expect(reply).toMatchObject({ type: 'message', role: 'assistant', model, stop_reason: 'end_turn', stop_sequence: null });
    expect(reply.content).toEqual([{ type: 'text', text: 'It is 3.', citations: null }]);
    expect(reply.usage).toEqual({
      input_tokens: 2,
      output_tokens: 2,
      cache_read_input_tokens: 3,
      cache_creation_input_tokens: 0,
    });
    expect(reply._request_id).toBeTruthy();
    expect(upstream.requests[0]?.body?.messages).toMatchObject([{ role: 'system', content: 'Be brief.' }, question[0]]);
  });

  it('takes the key as Bearer too', async () => {
    const bearer = client({ apiKey: null, authToken: ann.key });
    expect((await bearer.messages.create({ model, max_tokens, messages: question })).stop_reason).toBe('end_turn');
  });

  it('follows with the stream helper: text, then calls beside each other', async () => {
    const stream = client().messages.stream({ model, max_tokens, messages: question });
    const types: string[] = [];
    stream.on('streamEvent', ({ type }) => types.push(type));
    expect(await stream.finalText()).toBe('It is 3.');
    expect(types).toEqual([
      ...['message_start', 'content_block_start', 'content_block_delta', 'content_block_delta', 'content_block_delta'],
      ...['content_block_stop', 'message_delta', 'message_stop'],
    ]);
    expect((await stream.finalMessage()).usage).toMatchObject({ input_tokens: 2, output_tokens: 2, cache_read_input_tokens: 3 });
    upstream.next({ text: 'One moment', toolCalls: [call, { ...call, id: 'call_2' }] });
    const message = await client().messages.stream({ model, max_tokens, messages: question, tools }).finalMessage();
    expect(message.stop_reason).toBe('tool_use');
    expect(message.content).toMatchObject([
      { type: 'text', text: 'One moment' },
      { type: 'tool_use', id: 'call_1', name: 'add', input: { a: 1, b: 2 } },
      { type: 'tool_use', id: 'call_2', name: 'add', input: { a: 1, b: 2 } },
    ]);
  });

  const said = { a: 1, b: { c: [2, '}'] }, d: 'x","y' };
  const cut = JSON.stringify(said).slice(0, -1);
  it.each([
    ['in a text', `${cut},"e":"1, 2`, 'length', 'max_tokens', said],
    ['in a text, by a server that calls it whole', `${cut},"e":"1, \\`, 'tool_calls', 'max_tokens', said],
    ['in a number', `${cut},"e":1`, 'length', 'max_tokens', said],
    ['in a list', `${cut},"e":[1,{"f":2},`, 'length', 'max_tokens', said],
    ['in a name', `${cut},"e`, 'length', 'max_tokens', said],
    ['behind a member', cut, 'tool_calls', 'max_tokens', said],
    ['before the first member', '{"a', 'length', 'max_tokens', {}],
    ['nowhere: what the model wrote is no object', 'a=1', 'tool_calls', 'tool_use', {}],
    ['in what was no object before', '{a:\'1\',"b":"2', 'tool_calls', 'max_tokens', {}],
  ])('tells calls that were cut %s from whole ones, with their whole members', async (_where, args, finish, reason, input) => {
    upstream.next({ toolCalls: [{ ...call, arguments: args }], finish });
    const message = await client().messages.create({ model, max_tokens, messages: question, tools });
    expect(message.stop_reason).toBe(reason);
    expect(message.content).toEqual([{ type: 'tool_use', id: 'call_1', name: 'add', input }]);
    upstream.next({ toolCalls: [{ ...call, arguments: args }], finish });
    const events = await Array.fromAsync(
      await client().messages.create({ model, max_tokens, messages: question, tools, stream: true }),
    );
    expect(events.find(({ type }) => type === 'message_delta')).toMatchObject({ delta: { stop_reason: reason } });
  });

  it.each([true, false])('runs tools to the answer (stream %s)', async (stream) => {
    upstream.next({ toolCalls: [call] });
    const add = betaTool({
      name: 'add',
      description: 'Adds',
      inputSchema: { type: 'object', properties: addSchema.properties, required: ['a', 'b'] },
      run: ({ a, b }) => String(a + b),
    });
    const runner = client().beta.messages.toolRunner({ model, max_tokens, messages: question, tools: [add], stream });
    const final = await runner.runUntilDone();
    expect(final.content).toMatchObject([{ type: 'text', text: 'It is 3.' }]);
    expect(upstream.requests[1]?.body?.messages).toContainEqual({ role: 'tool', tool_call_id: 'call_1', content: '3' });
  });

  it('sends images, documents, search results and failed calls', async () => {
    const image = { type: 'base64' as const, media_type: 'image/png' as const, data: 'iVBORw0KGgo=' };
    await client().messages.create({
      model,
      max_tokens,
      messages: [
        { role: 'user', content: 'Look' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'add', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'call_1',
              is_error: true,
              content: [
                { type: 'text', text: 'It broke' },
                { type: 'image', source: image },
              ],
            },
            { type: 'document', title: 'Prices', source: { type: 'text', media_type: 'text/plain', data: 'Tube 9 €' } },
            { type: 'search_result', source: 'https://a.example', title: 'Hit', content: [{ type: 'text', text: 'Found it' }] },
          ],
        },
      ],
      tools,
    });
    expect(upstream.requests[0]?.body?.messages).toEqual([
      { role: 'user', content: 'Look' },
      expect.objectContaining({ role: 'assistant', tool_calls: [expect.objectContaining({ id: 'call_1' })] }),
      { role: 'tool', tool_call_id: 'call_1', content: 'It broke' },
      {
        role: 'user',
        content: [
          expect.objectContaining({ type: 'image_url' }),
          { type: 'text', text: 'Prices\n\nTube 9 €' },
          { type: 'text', text: 'Search result "Hit" (https://a.example):\nFound it' },
        ],
      },
    ]);
  });

  it('gives options on, in the words of the model', async () => {
    upstream.next({ toolCalls: [call] });
    const options = { temperature: 0.5, top_p: 0.9, stop_sequences: ['END'], metadata: { user_id: 'u-1' } };
    const choice = { type: 'tool' as const, name: 'add', disable_parallel_tool_use: true };
    const thinking = { type: 'enabled' as const, budget_tokens: 1_024 };
    await client().messages.create({
      ...{ model, max_tokens: 4_096, messages: question, tools, tool_choice: choice, thinking, ...options },
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
    });
    expect(upstream.requests[0]?.body).toMatchObject({
      ...{ temperature: 0.5, top_p: 0.9, stop: ['END'], user: 'u-1', parallel_tool_calls: false, reasoning_effort: 'medium' },
      tool_choice: { type: 'function', function: { name: 'add' } },
      response_format: { type: 'json_schema' },
    });
  });

  it.each([
    [{ text: 'It is', finish: 'length' }, 'max_tokens'],
    [{ text: 'It is', finish: 'content_filter' }, 'refusal'],
    [{ refusal: 'I will not.' }, 'refusal'],
  ])('says why an answer ended: %j', async (script, reason) => {
    upstream.next(script, script);
    const request = { model, max_tokens, messages: question };
    expect((await client().messages.create(request)).stop_reason).toBe(reason);
    expect((await client().messages.stream(request).finalMessage()).stop_reason).toBe(reason);
  });

  it('names the stop sequence where the provider does', async () => {
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'test-model' };
    const choice = { index: 0, delta: { content: 'It is' }, finish_reason: 'stop', stop_reason: 'END' };
    upstream.next({ raw: `data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\ndata: [DONE]\n\n` });
    const stream = client().messages.stream({ model, max_tokens, messages: question, stop_sequences: ['END'] });
    expect(await stream.finalMessage()).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'END' });
  });

  it('cites what an agent knows, whole and as a stream', async () => {
    const script = { text: ['It costs 15 € [', '1', ']. ', 'Ask us.'] };
    upstream.next(script, script);
    const request = { model: knowing, max_tokens, messages: [{ role: 'user' as const, content: 'What does a repair cost?' }] };
    const whole = await client().messages.create(request);
    const streamed = await client().messages.stream(request).finalMessage();
    for (const { content } of [whole, streamed]) {
      expect(content).toMatchObject([
        {
          type: 'text',
          text: expect.stringMatching(/^It costs 15 € \[1\]/),
          citations: [{ type: 'search_result_location', search_result_index: 0 }],
        },
        { type: 'text', text: expect.stringMatching(/ Ask us\.$/) },
      ]);
    }
  });

  it('counts tokens', async () => {
    const { input_tokens } = await client().messages.countTokens({ model, system: 'Be brief.', messages: question, tools });
    expect(input_tokens).toBeGreaterThan(10);
    expect(upstream.requests).toEqual([]);
  });

  it('lists and retrieves models, page by page', async () => {
    const ids = (await Array.fromAsync(client().models.list({ limit: 1 }))).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([model, 'parley/offline', knowing]));
    const { display_name, type } = await client().models.retrieve(model);
    expect([type, display_name]).toEqual(['model', expect.any(String)]);
    const back = await client().models.list({ before_id: ids.at(-1) ?? '', limit: 2 });
    expect([back.data.map(({ id }) => id), back.has_more]).toEqual([ids.slice(-3, -1), ids.length > 3]);
    await expect(client().models.list({ limit: 0 })).rejects.toThrow(/limit: must be an integer from 1 to 1000/);
    await expect(client().models.retrieve('none')).rejects.toThrow(Anthropic.NotFoundError);
  });

  it('throws its own error classes, in the words of the format', async () => {
    const create = (more: object, options = {}) =>
      client(options).messages.create({ model, max_tokens, messages: question, ...more });
    await expect(create({}, { apiKey: 'pk_wrong' })).rejects.toThrow(Anthropic.AuthenticationError);
    await expect(create({ model: 'openai/none' })).rejects.toThrow(Anthropic.NotFoundError);
    // Not served: refused in the format as well, not for a key that seems to be missing.
    const batches = await client()
      .messages.batches.list()
      .catch((error: unknown) => error);
    expect(batches).toBeInstanceOf(Anthropic.NotFoundError);
    expect(batches).toMatchObject({ error: { type: 'error', error: { type: 'not_found_error' } } });
    const files = await client()
      .beta.userProfiles.list()
      .catch((error: unknown) => error);
    expect(files).toMatchObject({ status: 404, error: { type: 'error', error: { type: 'not_found_error' } } });
    const reader = await make.withKey(ann, { scopes: ['AGENTS:READ'] });
    await expect(create({}, { apiKey: reader.key })).rejects.toThrow(Anthropic.PermissionDeniedError);
    upstream.next({ status: 429, headers: { 'retry-after': '7' } });
    const limited = await create({}).catch((error: unknown) => error);
    expect(limited).toBeInstanceOf(Anthropic.RateLimitError);
    expect(limited).toMatchObject({ error: { type: 'error', error: { type: 'rate_limit_error' } } });
    expect((limited as InstanceType<typeof Anthropic.APIError>).headers?.get('retry-after')).toBe('7');
    // By itself, the SDK would sleep for the hour.
    upstream.next({ status: 429, headers: { 'retry-after': '3600' } });
    await expect(create({}, { maxRetries: 2 })).rejects.toThrow(Anthropic.RateLimitError);
    upstream.next({ text: ['a', 'b', 'c'], chunkDelayMs: 10, cutAtByte: 500 });
    await expect(client().messages.stream({ model, max_tokens, messages: question }).finalMessage()).rejects.toThrow(
      /api_error.*(malformed|broke off)/,
    );
  });
});

it('takes the key of a client that sends an empty Authorization beside it', async () => {
  const body = { model, max_tokens, messages: question };
  const reply = await service.nobody.post('/api/v1/messages', body, { 'x-api-key': ann.key ?? '', authorization: '' });
  expect(reply.status).toBe(200);
});

it.each([
  ['no key', { model }, /"x-api-key: <API_KEY>"/, 'nobody'],
  ['an empty name', { model: '' }, /^model: must not be empty$/],
  [
    'a message without blocks',
    { messages: [{ role: 'user', content: [] }] },
    /^messages\.0\.content: must hold at least one block$/,
  ],
  ['a choice without tools', { tool_choice: { type: 'any' } }, /^tool_choice: may be \{"type": "any"\} only with tools$/],
])('says in the words of the format: %s', async (_what, more, message, who = 'ann') => {
  const body = { model, max_tokens, messages: question, ...more };
  const reply = await (who === 'ann' ? ann : service.nobody).post('/api/v1/messages', body);
  expect(reply.body).toMatchObject({ type: 'error', error: { message: expect.stringMatching(message) } });
});

describe('AI SDK', () => {
  const provider = () => createAnthropic({ baseURL: `${service.url}/api/v1`, apiKey: ann.key });
  const add = tool({ description: 'Adds', inputSchema: numbers, execute: ({ a, b }) => a + b });

  it('generates and streams text with usage', async () => {
    const reply = await generateText({ model: provider()(model), prompt: 'What is 1 + 2?', maxRetries: 0 });
    expect(reply).toMatchObject({ text: 'It is 3.', finishReason: 'stop', usage: { inputTokens: 5, outputTokens: 2 } });
    const stream = streamText({ model: provider()(model), prompt: 'What is 1 + 2?', maxRetries: 0 });
    expect((await Array.fromAsync(stream.textStream)).join('')).toBe('It is 3.');
    expect(await stream.usage).toMatchObject({ inputTokens: 5, outputTokens: 2 });
  });

  it.each(['generate', 'stream'])('calls tools and goes on (%s)', async (way) => {
    upstream.next({ toolCalls: [call] });
    const options = {
      model: provider()(model),
      prompt: 'What is 1 + 2?',
      tools: { add },
      stopWhen: isStepCount(3),
      maxRetries: 0,
    };
    const text = way === 'generate' ? (await generateText(options)).text : await streamText(options).text;
    expect(text).toBe('It is 3.');
    expect(upstream.requests[1]?.body?.messages).toContainEqual({ role: 'tool', tool_call_id: 'call_1', content: '3' });
  });

  it('shows what an agent cites as sources', async () => {
    upstream.next({ text: 'It costs 15 € [1].' });
    const reply = await generateText({ model: provider()(knowing), prompt: 'What does a repair cost?', maxRetries: 0 });
    expect(reply.text).toBe('It costs 15 € [1].');
    const [part] = reply.content;
    expect(part).toMatchObject({ type: 'text', citations: [{ source: { title: 'Prices' } }] });
  });
});

describe('LangChain', () => {
  const chat = (more = {}) =>
    new ChatAnthropic({ model, apiKey: ann.key, anthropicApiUrl: `${service.url}/api`, maxRetries: 0, ...more });
  const add = langchainTool(({ a, b }) => String(a + b), { name: 'add', description: 'Adds', schema: numbers });

  it('invokes, and counts the tokens of a stream once', async () => {
    expect((await chat().invoke('What is 1 + 2?')).text).toBe('It is 3.');
    let sum: Awaited<ReturnType<ReturnType<typeof chat>['invoke']>> | undefined;
    for await (const chunk of await chat().stream('What is 1 + 2?')) sum = sum === undefined ? chunk : sum.concat(chunk);
    expect(sum?.text).toBe('It is 3.');
    // It reads the input of a stream from the first event alone, where no model has counted yet.
    expect(sum?.usage_metadata).toMatchObject({ output_tokens: 2 });
  });

  it('binds tools and goes on with their results', async () => {
    upstream.next({ toolCalls: [call] });
    const bound = chat().bindTools([add]);
    const asked = await bound.invoke('What is 1 + 2?');
    expect(asked.tool_calls).toMatchObject([{ name: 'add', args: { a: 1, b: 2 }, id: 'call_1' }]);
    const result = new ToolMessage({ content: '3', tool_call_id: 'call_1' });
    expect((await bound.invoke([new HumanMessage('What is 1 + 2?'), asked, result])).text).toBe('It is 3.');
  });
});
