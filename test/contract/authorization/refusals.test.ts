import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { anthropicMessage, googleStream, startAnthropic, startGoogle } from '../../support/runs/upstream-wires.ts';
import { withService } from '../../support/service.ts';

// The table of refusals in docs/members.md: what each API shows when a model declines to answer, whichever provider says it.

const anthropic = await startAnthropic();
const google = await startGoogle();
const env = {
  ...{
    ANTHROPIC_API_KEY: 'test-key',
    ANTHROPIC_BASE_URL: anthropic.url,
    GOOGLE_API_KEY: 'test-key',
    GOOGLE_BASE_URL: google.url,
  },
};
const { service, make, upstream } = await withService('model', { env });
afterAll(async () => {
  await Promise.all([anthropic.close(), google.close()]);
});
const ann = await make.person();

const words = 'I will not help with that.';
const providers = [
  ['openai/test-model', () => upstream.next({ refusal: words })],
  [
    'anthropic/model-one',
    () =>
      anthropic.next(
        anthropicMessage([], { stop_reason: 'refusal', stop_details: { type: 'refusal', category: null, explanation: words } }),
      ),
  ],
  [
    'google/model-one',
    () =>
      google.next(
        googleStream({
          candidates: [{ index: 0, finishReason: 'SAFETY', finishMessage: words, content: { role: 'model', parts: [] } }],
        }),
      ),
  ],
] as const;
const shape = z.object({ answer: z.number() });

describe.each(providers)('a refusal of %s', (model, refuse) => {
  const messages = [{ role: 'user' as const, content: 'Do it' }];
  const client = () => new OpenAI({ baseURL: `${service.url}/v1`, apiKey: ann.key, maxRetries: 0 });

  it('is a refusal in completions, whole and as a stream', async () => {
    refuse();
    const { body } = await ann.post('/api/v1/chat/completions', { model, messages });
    expect(body.choices[0]).toMatchObject({ message: { content: null, refusal: words }, finish_reason: 'stop' });
    refuse();
    const frames = await ann.stream('/api/v1/chat/completions', { model, messages, stream: true });
    const deltas = frames.slice(0, -1).map(({ data }) => JSON.parse(data).choices[0]?.delta ?? {});
    expect(deltas.map(({ refusal = '' }) => refusal).join('')).toBe(words);
    expect(deltas.map(({ content }) => content ?? '').join('')).toBe('');
  });

  it('is one for the stock client that parses an answer by a schema', async () => {
    const response_format = zodResponseFormat(shape, 'shape');
    refuse();
    const parsed = await client().chat.completions.parse({ model, messages, response_format });
    expect(parsed.choices[0]?.message).toMatchObject({ refusal: words, parsed: null });
    refuse();
    const stream = client().chat.completions.stream({ model, messages, response_format });
    let said = '';
    stream.on('refusal.delta', ({ delta }) => {
      said += delta;
    });
    const final = await stream.finalChatCompletion();
    expect([said, final.choices[0]?.message.refusal, final.choices[0]?.message.parsed ?? null]).toEqual([words, words, null]);
  });

  it('is a part of that type in responses, whole and as a stream', async () => {
    const text = { format: zodTextFormat(shape, 'shape') };
    refuse();
    const whole = await client().responses.parse({ model, input: 'Do it', text });
    expect(whole.status).toBe('completed');
    expect(whole.output_parsed).toBeNull();
    expect(whole.output.flatMap((item) => (item.type === 'message' ? item.content : []))).toMatchObject([
      { type: 'refusal', refusal: words },
    ]);
    refuse();
    const events = await Array.fromAsync(await client().responses.create({ model, input: 'Do it', text, stream: true }));
    const deltas = events.flatMap((event) => (event.type === 'response.refusal.delta' ? [event.delta] : []));
    expect(deltas.join('')).toBe(words);
    expect(events.map(({ type }) => type)).toContain('response.refusal.done');
    expect(events.at(-1)?.type).toBe('response.completed');
  });

  it('is told as one over GraphQL', async () => {
    refuse();
    const document = `mutation ($input: CompletionInput!) {
      createCompletion(input: $input) { status output { ... on MessageItem { isRefusal text } } }
    }`;
    const { data } = await ann.graphql(document, { input: { model, messages: [{ user: { text: 'Do it' } }] } });
    expect(data.createCompletion).toMatchObject({ status: 'COMPLETED', output: [{ isRefusal: true, text: words }] });
  });

  it('is what an agent says in a chat', async () => {
    const agent = await make.agent({ owner: ann, modelId: model });
    const chat = await make.chat({ owner: ann, agentId: agent.id });
    refuse();
    const reply = await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Do it' });
    expect(JSON.stringify(reply.body)).toContain(words);
  });

  it('is what the model said, when it is sent back', async () => {
    const earlier = [...messages, { role: 'assistant', content: null, refusal: words }, { role: 'user', content: 'Why?' }];
    expect((await ann.post('/api/v1/chat/completions', { model, messages: earlier })).status).toBe(200);
    const sent = model.startsWith('openai')
      ? upstream.requests.at(-1)?.body
      : (model.startsWith('anthropic') ? anthropic : google).bodies.at(-1);
    expect(JSON.stringify(sent)).toContain(words);
  });
});
