import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, isStepCount, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { withService } from '../../support/service.ts';

/** Stock clients, unchanged, against a running service. */
const { service, make, upstream } = await withService('model');
const model = 'openai/test-model';
const question = [{ role: 'user' as const, content: 'What is 1 + 2?' }];
const call = { id: 'call_1', name: 'add', arguments: '{"a":1,"b":2}' };
const usage = { prompt_tokens: 5, completion_tokens: 2 };
const numbers = z.object({ a: z.number(), b: z.number() });

const ann = await make.person();

beforeEach(() => {
  upstream.otherwise({ text: ['It ', 'is ', '3.'], usage });
});

const baseUrl = () => `${service.url}/api/v1`;
const key = () => ann.key;

describe('openai', () => {
  const client = () => new OpenAI({ baseURL: baseUrl(), apiKey: key(), maxRetries: 0 });
  const addTool = {
    type: 'function' as const,
    function: {
      name: 'add',
      description: 'Adds',
      parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
    },
  };

  it('creates, whole', async () => {
    const reply = await client().chat.completions.create({ model, messages: question });
    expect(reply.choices[0]).toMatchObject({ finish_reason: 'stop', message: { role: 'assistant', content: 'It is 3.' } });
    expect(reply.usage?.total_tokens).toBe(7);
    expect(reply._request_id).toBeTruthy();
  });

  it('creates, streaming', async () => {
    const stream = await client().chat.completions.create({
      model,
      messages: question,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('It is 3.');
    expect(chunks.at(-1)?.usage?.total_tokens).toBe(7);
  });

  it('follows with the stream helper, text and calls', async () => {
    const text = client().chat.completions.stream({ model, messages: question });
    expect(await text.finalContent()).toBe('It is 3.');
    upstream.next({ toolCalls: [call, { ...call, id: 'call_2' }] });
    const calls = client().chat.completions.stream({ model, messages: question, tools: [addTool] });
    const message = await calls.finalMessage();
    expect(message.tool_calls?.map((one) => one.id)).toEqual(['call_1', 'call_2']);
    expect(message.tool_calls?.[0]).toMatchObject({ function: { arguments: call.arguments } });
  });

  it.each([true, false])('runs tools to the answer (stream %s)', async (stream) => {
    upstream.next({ toolCalls: [call] });
    const add = {
      ...addTool.function,
      parse: (text: string) => numbers.parse(JSON.parse(text)),
      function: ({ a, b }: { a: number; b: number }) => String(a + b),
    };
    const options = { model, messages: question, tools: [{ type: 'function' as const, function: add }] };
    const runner = stream
      ? client().chat.completions.runTools({ ...options, stream: true })
      : client().chat.completions.runTools(options);
    expect(await runner.finalContent()).toBe('It is 3.');
    expect(upstream.requests[1]?.body?.messages).toContainEqual({ role: 'tool', tool_call_id: 'call_1', content: '3' });
  });

  it('gives up at once where the provider wants more than a minute, and repeats after less', async () => {
    const patient = new OpenAI({ baseURL: baseUrl(), apiKey: key(), maxRetries: 2 });
    const create = () => patient.chat.completions.create({ model, messages: question });
    upstream.next({ status: 429, headers: { 'retry-after': '3600' } });
    await expect(create()).rejects.toThrow(OpenAI.RateLimitError);
    expect(upstream.requests).toHaveLength(1);
    upstream.next({ status: 429, headers: { 'retry-after': '1' } });
    expect((await create()).choices[0]?.message.content).toBe('It is 3.');
  });

  it('answers a repeated request with an Idempotency-Key among its headers by the first reply', async () => {
    const create = () =>
      client().chat.completions.create({ model, messages: question }, { headers: { 'Idempotency-Key': 'order-17' } });
    const first = await create();
    expect((await create()).id).toBe(first.id);
    expect(upstream.requests).toHaveLength(1);
  });

  it('throws its own error classes', async () => {
    await expect(client().chat.completions.create({ model: 'openai/none', messages: question })).rejects.toThrow(
      OpenAI.NotFoundError,
    );
    const stranger = new OpenAI({ baseURL: baseUrl(), apiKey: 'pk_wrong', maxRetries: 0 });
    await expect(stranger.chat.completions.create({ model, messages: question })).rejects.toThrow(OpenAI.AuthenticationError);
    upstream.next({ text: ['a', 'b', 'c'], chunkDelayMs: 10, cutAtByte: 500 });
    const stream = await client().chat.completions.create({ model, messages: question, stream: true });
    await expect(Array.fromAsync(stream)).rejects.toThrow(/malformed|broke off/);
  });

  it('lists models', async () => {
    const ids = (await Array.fromAsync(client().models.list())).map((entry) => entry.id);
    expect(ids).toEqual(expect.arrayContaining([model, 'parley/offline']));
  });
});

describe('AI SDK', () => {
  const provider = () => createOpenAICompatible({ name: 'parley', baseURL: baseUrl(), apiKey: key(), includeUsage: true });
  const add = tool({ description: 'Adds', inputSchema: numbers, execute: ({ a, b }) => a + b });

  it('generates text with usage', async () => {
    const reply = await generateText({ model: provider()(model), prompt: 'What is 1 + 2?', maxRetries: 0 });
    expect(reply).toMatchObject({ text: 'It is 3.', finishReason: 'stop' });
    expect(reply.usage.totalTokens).toBe(7);
  });

  it('streams text', async () => {
    const reply = streamText({ model: provider()(model), prompt: 'What is 1 + 2?', maxRetries: 0 });
    expect((await Array.fromAsync(reply.textStream)).join('')).toBe('It is 3.');
    expect(await reply.finishReason).toBe('stop');
    expect((await reply.usage).totalTokens).toBe(7);
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
});

describe('LangChain', () => {
  const chat = () =>
    new ChatOpenAI({ model, apiKey: key(), configuration: { baseURL: baseUrl() }, maxRetries: 0, streamUsage: true });

  it('invokes', async () => {
    const reply = await chat().invoke('What is 1 + 2?');
    expect(reply.text).toBe('It is 3.');
    expect(reply).toMatchObject({ usage_metadata: { total_tokens: 7 } });
  });

  it('streams', async () => {
    const chunks = await Array.fromAsync(await chat().stream('What is 1 + 2?'));
    expect(chunks.map((chunk) => chunk.text).join('')).toBe('It is 3.');
    expect(chunks).toContainEqual(expect.objectContaining({ usage_metadata: expect.objectContaining({ total_tokens: 7 }) }));
  });

  it('calls tools', async () => {
    upstream.next({ toolCalls: [call] });
    const add = langchainTool(({ a, b }: { a: number; b: number }) => String(a + b), {
      name: 'add',
      description: 'Adds',
      schema: numbers,
    });
    const bound = chat().bindTools([add]);
    const first = await bound.invoke('What is 1 + 2?');
    expect(first.tool_calls).toMatchObject([{ id: 'call_1', name: 'add', args: { a: 1, b: 2 } }]);
    const output = new ToolMessage({ content: '3', tool_call_id: 'call_1' });
    const second = await bound.invoke([new HumanMessage('What is 1 + 2?'), first, output]);
    expect(second.text).toBe('It is 3.');
  });
});

describe('fetch', () => {
  it('reads the stream as plain text', async () => {
    const response = await fetch(`${baseUrl()}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key()}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: question, stream: true }),
    });
    const frames = (await response.text()).split('\n\n');
    expect(frames.at(-2)).toBe('data: [DONE]');
    expect(frames.at(-1)).toBe('');
  });
});
