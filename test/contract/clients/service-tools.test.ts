import { createOpenAI } from '@ai-sdk/openai';
import { ChatOpenAI } from '@langchain/openai';
import { generateText } from 'ai';
import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

/** Stock clients while a tool of the service is called: docs/responses.md says which address to use. */
const { service, make, upstream } = await withService('model');
const headers = { 'x-parley-extensions': 'off' };
let ann: Person;
let agentId: string;

beforeAll(async () => {
  ann = await make.person();
  const agent = await make.agent({ owner: ann, modelId: 'openai/test-model', intermediateStepsVisible: true });
  agentId = agent.id;
  const tools = [{ type: 'memory' }];
  expect((await ann.patch(`/api/v1/ais/${agentId}`, { enabledTools: tools })).status).toBe(200);
});

/** The model calls a tool of the service, then answers. */
const script = () =>
  upstream.next({ toolCalls: [{ id: 'call_1', name: 'remember', arguments: '{"text":"likes tea"}' }] }, { text: 'Noted.' });

type Options = { readonly baseURL: string; readonly headers: Readonly<Record<string, string>> };
const clients: Readonly<Record<string, (options: Options) => Promise<string>>> = {
  'openai, responses.stream': async ({ baseURL, headers: defaultHeaders }) => {
    const client = new OpenAI({ baseURL, apiKey: ann.key, defaultHeaders, maxRetries: 0 });
    return (await client.responses.stream({ model: agentId, input: 'Remember it' }).finalResponse()).output_text;
  },
  'AI SDK, generateText': async ({ baseURL, headers: more }) => {
    const model = createOpenAI({ baseURL, apiKey: ann.key, headers: more }).responses(agentId);
    return (await generateText({ model, prompt: 'Remember it', maxRetries: 0 })).text;
  },
  'LangChain, zdrEnabled': async ({ baseURL, headers: defaultHeaders }) => {
    const configuration = { baseURL, defaultHeaders };
    const chat = new ChatOpenAI({
      model: agentId,
      apiKey: ann.key,
      configuration,
      useResponsesApi: true,
      zdrEnabled: true,
      maxRetries: 0,
    });
    return (await chat.invoke('Remember it')).text;
  },
};

describe.each(Object.entries(clients))('%s', (name, ask) => {
  it.each([
    ['at /v1', '/v1', {}],
    ['at /api/v2 without extensions', '/api/v2', headers],
  ])('answers %s', async (_where, base, more) => {
    script();
    expect(await ask({ baseURL: `${service.url}${base}`, headers: more })).toBe('Noted.');
  });

  it('at /api/v2 as it is, docs/responses.md is right about it', async () => {
    script();
    const answer = await ask({ baseURL: `${service.url}/api/v2`, headers: {} }).then(
      () => 'answers',
      () => 'fails',
    );
    expect(answer).toBe(name === 'LangChain, zdrEnabled' ? 'answers' : 'fails');
  });
});
