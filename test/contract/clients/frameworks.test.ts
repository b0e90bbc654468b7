import { createOpenAI } from '@ai-sdk/openai';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { Agent, tool as agentTool, OpenAIConversationsSession, OpenAIProvider, Runner } from '@openai/agents';
import { APICallError, embedMany, generateText, isStepCount, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sampled } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';

/** Frameworks on the common format, configured with a base address and a key only, against a running service. */
const { service, make, upstream } = await withService('model', { env: { EMBEDDING_MODEL: 'openai/test-embedding' } });
const model = 'openai/test-model';
const question = 'What is 1 + 2?';
const usage = { prompt_tokens: 5, completion_tokens: 2 };
const call = { id: 'call_1', name: 'add', arguments: '{"a":1,"b":2}' };
const numbers = z.object({ a: z.number(), b: z.number() });
const embeddings = {
  object: 'list',
  data: [
    { object: 'embedding', index: 0, embedding: [1, 2] },
    { object: 'embedding', index: 1, embedding: [3, 4] },
  ],
  usage: { prompt_tokens: 7, total_tokens: 7 },
};

const ann = await make.person();

beforeEach(() => {
  upstream.otherwise(({ path }) =>
    path.endsWith('/embeddings') ? { body: JSON.stringify(embeddings) } : { text: ['It ', 'is ', '3.'], usage },
  );
});

describe.each(sampled(['/v1', '/api/v1']))('at %s', (base) => {
  const baseURL = () => `${service.url}${base}`;

  describe('AI SDK, createOpenAI', () => {
    const provider = (apiKey = ann.key) => createOpenAI({ baseURL: baseURL(), apiKey });
    const add = tool({ description: 'Adds', inputSchema: numbers, execute: async ({ a, b }) => a + b });

    it('generates and streams, by responses and by completions', async () => {
      for (const answerer of [provider()(model), provider().responses(model), provider().chat(model)]) {
        const whole = await generateText({ model: answerer, prompt: question });
        expect(whole.text).toBe('It is 3.');
        expect(whole.usage.totalTokens).toBe(7);
        expect(await streamText({ model: answerer, prompt: question }).text).toBe('It is 3.');
      }
    });

    it('calls a tool, then answers', async () => {
      for (const answerer of [provider()(model), provider().chat(model)]) {
        upstream.next({ toolCalls: [call] });
        const stopWhen = isStepCount(3);
        const result = await generateText({ model: answerer, prompt: question, tools: { add }, stopWhen });
        expect(result.text).toBe('It is 3.');
        expect(result.steps[0]?.toolResults).toMatchObject([{ output: 3 }]);
      }
    });

    it('keeps a conversation over two turns', async () => {
      const messages = [{ role: 'user' as const, content: question }];
      const first = await generateText({ model: provider()(model), messages });
      const again = [...messages, ...first.response.messages, { role: 'user' as const, content: 'And again?' }];
      expect((await generateText({ model: provider()(model), messages: again })).text).toBe('It is 3.');
      const sent = [{ content: question }, { content: 'It is 3.' }, { content: 'And again?' }];
      expect(upstream.requests.at(-1)?.body?.messages).toMatchObject(sent);
    });

    it('makes embeddings, and shows errors', async () => {
      const values = ['Good', 'Morning'];
      const made = await embedMany({ model: provider().embedding('test-embedding'), values });
      expect(made).toMatchObject({
        embeddings: [
          [1, 2],
          [3, 4],
        ],
        usage: { tokens: 7 },
      });
      const refused = generateText({ model: provider('pk-wrong')(model), prompt: question, maxRetries: 0 });
      const error: unknown = await refused.catch((caught: unknown) => caught);
      expect(APICallError.isInstance(error) && error.statusCode).toBe(401);
    });
  });

  describe('@openai/agents', () => {
    const client = () => new OpenAI({ baseURL: baseURL(), apiKey: ann.key });
    const runner = (useResponses: boolean) =>
      new Runner({
        modelProvider: new OpenAIProvider({ openAIClient: client(), useResponses }),
        tracingDisabled: true,
      });
    const add = agentTool({
      name: 'add',
      description: 'Adds',
      parameters: numbers,
      execute: async ({ a, b }) => String(a + b),
    });
    const agent = () => new Agent({ name: 'Adder', instructions: 'Add.', model, tools: [add] });

    it.each([
      ['responses', true],
      ['completions', false],
    ])('runs with a tool, whole and streaming, by %s', async (_name, useResponses) => {
      upstream.next({ toolCalls: [call] });
      const whole = await runner(useResponses).run(agent(), question);
      expect(whole.finalOutput).toBe('It is 3.');
      upstream.next({ toolCalls: [call] });
      const streamed = await runner(useResponses).run(agent(), question, { stream: true });
      await streamed.completed;
      expect(streamed.finalOutput).toBe('It is 3.');
    });

    it('keeps a conversation over two turns, by its id and by a session', async () => {
      const { id: conversationId } = await client().conversations.create({});
      await runner(true).run(agent(), 'My name is Ada.', { conversationId });
      await runner(true).run(agent(), question, { conversationId });
      expect(upstream.requests.at(-1)?.body?.messages).toMatchObject([
        {},
        { content: 'My name is Ada.' },
        {},
        { content: question },
      ]);
      const session = new OpenAIConversationsSession({ client: client() as never });
      await runner(true).run(agent(), 'My name is Ada.', { session });
      await runner(true).run(agent(), question, { session });
      expect(upstream.requests.at(-1)?.body?.messages).toMatchObject([
        {},
        { content: 'My name is Ada.' },
        {},
        { content: question },
      ]);
      expect(await session.getItems()).toHaveLength(4);
    });
  });

  describe.each([
    ['ChatOpenAI', false],
    ['ChatOpenAI, useResponsesApi', true],
  ])('LangChain %s', (_name, useResponsesApi) => {
    const chat = (apiKey = ann.key) =>
      new ChatOpenAI({ model, apiKey, useResponsesApi, maxRetries: 0, configuration: { baseURL: baseURL() } });

    it('invokes and streams', async () => {
      const reply = await chat().invoke(question);
      expect(reply.text).toBe('It is 3.');
      expect(reply.usage_metadata).toMatchObject({ total_tokens: 7 });
      let text = '';
      for await (const chunk of await chat().stream(question)) text += chunk.text;
      expect(text).toBe('It is 3.');
    });

    it('calls a tool, then answers', async () => {
      upstream.next({ toolCalls: [call] });
      const add = langchainTool(({ a, b }) => String(a + b), { name: 'add', description: 'Adds', schema: numbers });
      const bound = chat().bindTools([add]);
      const first = await bound.invoke([new HumanMessage(question)]);
      expect(first.tool_calls).toMatchObject([{ name: 'add', args: { a: 1, b: 2 } }]);
      const output = new ToolMessage({ tool_call_id: first.tool_calls?.[0]?.id ?? '', content: '3' });
      expect((await bound.invoke([new HumanMessage(question), first, output])).text).toBe('It is 3.');
    });

    it('shows errors', async () => {
      await expect(chat('pk-wrong').invoke(question)).rejects.toMatchObject({ status: 401 });
    });
  });

  it('makes embeddings for LangChain', async () => {
    const embedder = new OpenAIEmbeddings({ model: 'test-embedding', apiKey: ann.key, configuration: { baseURL: baseURL() } });
    expect(await embedder.embedDocuments(['Good', 'Morning'])).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });
});
