import { createOpenResponses } from '@ai-sdk/open-responses';
import { createOpenAI } from '@ai-sdk/openai';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, tool as agentTool, OpenAIResponsesModel, Runner } from '@openai/agents';
import { generateText, isStepCount, type ModelMessage, streamText, tool } from 'ai';
import OpenAI from 'openai';
import OpenAI6 from 'openai-6';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { eventually } from '../../support/processes/eventually.ts';
import { sampled } from '../../support/property/sample.ts';
import { scriptResearch } from '../../support/runs/research.ts';
import { withService } from '../../support/service.ts';
import { never } from '../../support/upstream.ts';

/** Stock clients of the responses format, unchanged, against a running service. */
const { service, make, upstream } = await withService('model');
const model = 'openai/test-model';
const input = 'What is 1 + 2?';
const call = { id: 'call_1', name: 'add', arguments: '{"a":1,"b":2}' };
const usage = { prompt_tokens: 5, completion_tokens: 2 };
const numbers = z.object({ a: z.number(), b: z.number() });
const parameters = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
  additionalProperties: false,
};
const addTool = { type: 'function' as const, name: 'add', description: 'Adds', parameters, strict: true };

const ann = await make.person();

beforeEach(() => {
  upstream.otherwise({ text: ['It ', 'is ', '3.'], usage });
});

const baseURL = () => `${service.url}/api/v2`;
const toolOutput = { role: 'tool', tool_call_id: 'call_1', content: '3' };

describe.each(
  sampled([
    ['openai 7', () => new OpenAI({ baseURL: baseURL(), apiKey: ann.key, maxRetries: 0 })],
    ['openai 6', () => new OpenAI6({ baseURL: baseURL(), apiKey: ann.key, maxRetries: 0 }) as unknown as OpenAI],
  ]),
)('%s', (_name, client) => {
  it('creates, whole, and retrieves the same', async () => {
    const response = await client().responses.create({ model, input });
    expect(response).toMatchObject({ status: 'completed', output_text: 'It is 3.', usage: { total_tokens: 7 } });
    expect(response._request_id).toBeTruthy();
    const retrieved = await client().responses.retrieve(response.id);
    expect(retrieved.output).toEqual(response.output);
    expect(retrieved.output_text).toBe('It is 3.');
  });

  it('creates, streaming, and resumes after any event', async () => {
    const stream = await client().responses.create({ model, input, stream: true });
    const events = await Array.fromAsync(stream);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_event, index) => index));
    const [first] = events;
    if (first?.type !== 'response.created') throw new Error('not created first');
    for (const after of [0, 3, events.length - 2]) {
      const rest = await client().responses.retrieve(first.response.id, { stream: true, starting_after: after });
      expect(await Array.fromAsync(rest)).toEqual(events.slice(after + 1));
    }
  });

  it('follows with the stream helper: text, calls, and a response begun elsewhere', async () => {
    const final = await client().responses.stream({ model, input }).finalResponse();
    expect(final).toMatchObject({ status: 'completed', output_text: 'It is 3.' });
    upstream.next({ toolCalls: [call, { ...call, id: 'call_2' }] });
    const calls = await client()
      .responses.stream({ model, input, tools: [addTool] })
      .finalResponse();
    expect(calls.output).toMatchObject([
      { type: 'function_call', call_id: 'call_1', name: 'add', arguments: call.arguments, parsed_arguments: { a: 1, b: 2 } },
      { type: 'function_call', call_id: 'call_2' },
    ]);
    const seen: number[] = [];
    const again = client().responses.stream({ response_id: final.id, starting_after: 4 });
    again.on('event', (event) => seen.push(event.sequence_number));
    expect((await again.finalResponse()).output_text).toBe('It is 3.');
    expect(seen[0]).toBe(5);
  });

  it('creates with subagents, whole and streaming; its stream helper with extensions off', async () => {
    scriptResearch(upstream, ['What is red?', 'What is green?']);
    // A tool that only Parley has: the types of the client cannot name it.
    const tools = [{ type: 'deep_research' }] as unknown as OpenAI.Responses.Tool[];
    const events = await Array.fromAsync(await client().responses.create({ model, input, tools, stream: true }));
    const types = events.map(({ type }) => String(type));
    expect(types.filter((type) => type === 'response.subagent.completed')).toHaveLength(2);
    const last = events.at(-1);
    if (last?.type !== 'response.completed') throw new Error('not completed');
    expect(last.response).toMatchObject({ status: 'completed', output: [{}, {}, { type: 'message' }] });
    const whole = await client().responses.create({ model, input, tools });
    expect(whole.output_text).toBe('It is done.');
    const retrieved = await client().responses.retrieve(last.response.id, { stream: true, starting_after: 4 });
    expect(await Array.fromAsync(retrieved)).toEqual(events.slice(5));
    const off = { headers: { 'x-parley-extensions': 'off' } };
    const helped = await client().responses.stream({ model, input, tools }, off).finalResponse();
    expect(helped).toMatchObject({ output_text: 'It is done.', output: [{ type: 'message' }] });
  });

  it('parses what follows a schema', async () => {
    upstream.next({ text: '{"sum":3}' });
    const schema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'], additionalProperties: false };
    const response = await client().responses.parse({
      model,
      input,
      text: { format: { type: 'json_schema', name: 'answer', schema, strict: true } },
    });
    expect(response.output_parsed).toEqual({ sum: 3 });
    expect(upstream.requests[0]?.body?.response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema, strict: true },
    });
  });

  it('answers calls and goes on from the previous response', async () => {
    upstream.next({ toolCalls: [call] });
    const first = await client().responses.create({ model, input, tools: [addTool] });
    const output = [{ type: 'function_call_output' as const, call_id: 'call_1', output: '3' }];
    const second = await client().responses.create({ model, input: output, tools: [addTool], previous_response_id: first.id });
    expect(second.output_text).toBe('It is 3.');
    expect(upstream.requests[1]?.body?.messages).toMatchObject([{ role: 'user' }, { role: 'assistant' }, toolOutput]);
  });

  it('lists input items page by page', async () => {
    const texts = ['one', 'two', 'three', 'four', 'five'];
    const response = await client().responses.create({ model, input: texts.map((text) => ({ role: 'user', content: text })) });
    const items = await Array.fromAsync(client().responses.inputItems.list(response.id, { limit: 2, order: 'asc' }));
    expect(items.map((item) => ('content' in item ? item.content : null))).toMatchObject(texts.map((text) => [{ text }]));
  });

  it('works in the background, cancels, and deletes', async () => {
    upstream.next({ text: ['a', 'b', 'c', 'd'], restGate: never });
    const begun = await client().responses.create({ model, input, background: true });
    expect(begun.status).toBe('in_progress');
    await upstream.until(({ requests }) => requests.length > 0);
    const cancelled = await client().responses.cancel(begun.id);
    expect(cancelled.status).toBe('cancelled');
    expect((await client().responses.cancel(begun.id)).status).toBe('cancelled');
    expect((await client().responses.stream({ response_id: begun.id }).finalResponse()).status).toBe('cancelled');
    await client().responses.delete(begun.id);
    await expect(client().responses.retrieve(begun.id)).rejects.toMatchObject({ status: 404 });
  });

  it('throws its own errors', async () => {
    await expect(client().responses.create({ model: 'openai/none', input })).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
    });
    await expect(client().responses.create({ model, input, previous_response_id: 'resp_none' })).rejects.toMatchObject({
      status: 400,
      code: 'previous_response_not_found',
      param: 'previous_response_id',
    });
    upstream.next({ status: 500 });
    const failed = await client().responses.stream({ model, input }).finalResponse();
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'upstream_error' } });
  });
});

describe.each([
  ['@ai-sdk/openai', () => createOpenAI({ baseURL: baseURL(), apiKey: ann.key }).responses(model)],
  [
    '@ai-sdk/open-responses',
    () => createOpenResponses({ name: 'parley', url: `${baseURL()}/responses`, apiKey: ann.key })(model),
  ],
])('%s', (_name, responses) => {
  const add = tool({ description: 'Adds', inputSchema: numbers, execute: ({ a, b }) => a + b });

  it('generates and streams text with usage', async () => {
    const reply = await generateText({ model: responses(), prompt: input, maxRetries: 0 });
    expect(reply).toMatchObject({ text: 'It is 3.', finishReason: 'stop', usage: { totalTokens: 7 } });
    const stream = streamText({ model: responses(), prompt: input, maxRetries: 0 });
    expect((await Array.fromAsync(stream.textStream)).join('')).toBe('It is 3.');
    expect(await stream.finishReason).toBe('stop');
  });

  it.each(['generate', 'stream'])('calls tools, goes on, and takes a second turn (%s)', async (way) => {
    upstream.next({ toolCalls: [call] });
    const messages: ModelMessage[] = [{ role: 'user', content: input }];
    const options = { model: responses(), messages, tools: { add }, stopWhen: isStepCount(3), maxRetries: 0 };
    const result = way === 'generate' ? await generateText(options) : streamText(options);
    expect(await result.text).toBe('It is 3.');
    expect(upstream.requests[1]?.body?.messages).toContainEqual(toolOutput);
    const said = await result.responseMessages;
    const next = await generateText({
      ...options,
      messages: [...messages, ...said, { role: 'user', content: 'And twice that?' }],
    });
    expect(next.text).toBe('It is 3.');
    expect(upstream.requests[2]?.body?.messages).toHaveLength(5);
  });
});

describe('@langchain/openai', () => {
  const chat = () =>
    new ChatOpenAI({ model, apiKey: ann.key, configuration: { baseURL: baseURL() }, maxRetries: 0, useResponsesApi: true });

  it('invokes and streams', async () => {
    const reply = await chat().invoke(input);
    expect(reply.text).toBe('It is 3.');
    expect(reply).toMatchObject({ usage_metadata: { total_tokens: 7 } });
    const chunks = await Array.fromAsync(await chat().stream(input));
    expect(chunks.map((chunk) => chunk.text).join('')).toBe('It is 3.');
  });

  it('calls tools and takes their output', async () => {
    upstream.next({ toolCalls: [call] });
    const add = langchainTool(({ a, b }: { a: number; b: number }) => String(a + b), {
      name: 'add',
      description: 'Adds',
      schema: numbers,
    });
    const bound = chat().bindTools([add]);
    const first = await bound.invoke(input);
    expect(first.tool_calls).toMatchObject([{ id: 'call_1', name: 'add', args: { a: 1, b: 2 } }]);
    const second = await bound.invoke([
      new HumanMessage(input),
      first,
      new ToolMessage({ content: '3', tool_call_id: 'call_1' }),
    ]);
    expect(second.text).toBe('It is 3.');
    expect(upstream.requests[1]?.body?.messages).toContainEqual(toolOutput);
  });
});

describe('@openai/agents', () => {
  const runner = () => {
    const client = new OpenAI({ baseURL: baseURL(), apiKey: ann.key, maxRetries: 0 });
    return { model: new OpenAIResponsesModel(client, model), runner: new Runner({ tracingDisabled: true }) };
  };
  const add = agentTool({
    name: 'add',
    description: 'Adds',
    parameters: numbers,
    execute: async ({ a, b }) => String(a + b),
  });

  it.each([false, true])('takes an answer of a model that says nothing for the answer (stream %s)', async (stream) => {
    upstream.otherwise({ text: '', usage });
    const { model: agentModel, runner: run } = runner();
    const agent = new Agent({ name: 'Ada', instructions: 'Add.', model: agentModel, tools: [add] });
    const result = stream ? await run.run(agent, input, { stream: true }) : await run.run(agent, input);
    if ('completed' in result) await result.completed;
    expect(result.finalOutput).toBe('');
    expect(upstream.requests).toHaveLength(1);
  });

  it.each([false, true])('runs tools to the answer and goes on from the previous response (stream %s)', async (stream) => {
    upstream.next({ toolCalls: [call] });
    const { model: agentModel, runner: run } = runner();
    const agent = new Agent({ name: 'Ada', instructions: 'Add.', model: agentModel, tools: [add] });
    const result = stream ? await run.run(agent, input, { stream: true }) : await run.run(agent, input);
    if ('completed' in result) await result.completed;
    expect(result.finalOutput).toBe('It is 3.');
    expect(upstream.requests[1]?.body?.messages).toContainEqual(toolOutput);
    const previousResponseId = result.lastResponseId;
    if (previousResponseId === undefined) throw new Error('no id');
    const next = await run.run(agent, 'And twice that?', { previousResponseId });
    expect(next.finalOutput).toBe('It is 3.');
    expect(upstream.requests[2]?.body?.messages).toMatchObject([
      { role: 'system' },
      { role: 'user' },
      { role: 'assistant' },
      toolOutput,
      { role: 'assistant' },
      { role: 'user', content: 'And twice that?' },
    ]);
  });
});

it('a reader that leaves cancels what only it waits for', async () => {
  upstream.next({ text: ['word ', 'word '], restGate: never });
  const client = new OpenAI({ baseURL: baseURL(), apiKey: ann.key, maxRetries: 0 });
  const stream = await client.responses.create({ model, input, stream: true });
  let id = '';
  for await (const event of stream) {
    if (event.type === 'response.created') id = event.response.id;
    if (event.type === 'response.output_text.delta') break;
  }
  await eventually(async () => expect((await client.responses.retrieve(id)).status).toBe('cancelled'));
  await upstream.until(({ openStreams }) => openStreams === 0);
});
