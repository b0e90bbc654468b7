import { afterEach, describe, expect, it } from 'vitest';
import type { ModelRouter } from '../../../src/engine/models/router.ts';
import { ask, collect, failureOf, makeRouter } from '../../support/runs/models.ts';
import { startAnthropic, startGoogle, type WireStandIn } from '../../support/runs/upstream-wires.ts';

const open: { close(): Promise<void> }[] = [];
const never = new AbortController().signal;
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function provider(name: string): Promise<{ wire: WireStandIn; models: ModelRouter; id: string }> {
  const wire = await (name === 'anthropic' ? startAnthropic() : startGoogle());
  const upper = name.toUpperCase();
  const models = makeRouter({ [`${upper}_API_KEY`]: 'test-key', [`${upper}_BASE_URL`]: wire.url });
  open.push(models, wire);
  return { wire, models, id: `${name}/model-one` };
}
const add = {
  name: 'add',
  description: 'Adds',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
};

describe.each(['anthropic', 'google'])('a model of %s', (name) => {
  it('is listed, answers in deltas with usage, and takes images', async () => {
    const { models, id, wire } = await provider(name);
    expect((await models.list()).map((model) => model.id)).toEqual([id, 'parley/offline']);
    const image = { type: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' } as const;
    const messages = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: [{ type: 'text', text: 'Look' }, image] },
    ] as const;
    const got = await collect(
      models.stream(ask(id, '', { messages, parameters: { maxTokens: 50, temperature: 0 } }), never).deltas,
    );
    expect(got).toMatchObject({ text: 'Hello "€"', usage: { outputTokens: 7, cachedTokens: 4 }, finishes: ['stop'] });
    expect(JSON.stringify(wire.bodies[0])).toContain('iVBORw0KGgo=');
    expect(JSON.stringify(wire.bodies[0])).toContain('Be kind.');
  });

  it('is sent the traceparent of its call, and none without one', async () => {
    const { models, id, wire } = await provider(name);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await collect(models.stream(ask(id, 'Hi', { traceparent }), never).deltas);
    await collect(models.stream(ask(id, 'Hi'), never).deltas);
    expect(wire.headers.map((headers) => headers.traceparent)).toEqual([traceparent, undefined]);
  });

  it.each(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const)(
    'thinks as hard as it is asked to: %s',
    async (effort) => {
      const { models, id, wire } = await provider(name);
      const bodyWith = async (parameters: object) => {
        const got = await collect(
          models.stream(ask(id, 'Hi', { parameters: { maxTokens: 8_000, ...parameters } }), never).deltas,
        );
        expect(got.finishes).toEqual(['stop']);
        return wire.bodies.at(-1);
      };
      const plain = await bodyWith({});
      const asked = await bodyWith({ reasoningEffort: effort });
      const config = (body: unknown) =>
        (body as { generationConfig?: { thinkingConfig?: unknown } }).generationConfig?.thinkingConfig;
      const thinking = (body: unknown) => (body as { thinking?: unknown }).thinking;
      expect([thinking(plain), config(plain)]).toEqual([undefined, undefined]);
      // Each provider has its own option: a budget of tokens, a level, or the end of thinking.
      expect(name === 'anthropic' ? thinking(asked) : config(asked)).toBeDefined();
    },
  );

  it('is told the form that its answer must have', async () => {
    const { models, id, wire } = await provider(name);
    const schema = { type: 'object', properties: { NAMED_BY_THE_CALLER: { type: 'string' } }, required: ['NAMED_BY_THE_CALLER'] };
    const responseFormat = { type: 'json_schema', name: 'form', schema, strict: true } as const;
    await collect(models.stream(ask(id, 'Hi', { responseFormat }), never).deltas);
    expect(JSON.stringify(wire.bodies[0])).toContain('NAMED_BY_THE_CALLER');
  });

  it('is told who its user is in its own words, or not at all', async () => {
    const { models, id, wire } = await provider(name);
    const bodyWith = async (parameters: object) => {
      await collect(models.stream(ask(id, 'Hi', { parameters }), never).deltas);
      return wire.bodies.at(-1) as { metadata?: unknown };
    };
    const ofUser = (user_id: string) => (name === 'anthropic' ? { user_id } : undefined);
    const plain = await bodyWith({});
    expect(plain.metadata).toBeUndefined();
    for (const [parameters, told] of [
      [{ user: 'u' }, 'u'],
      [{ user: 'u', safetyIdentifier: 's', promptCacheKey: 'k' }, 's'],
    ] as const) {
      const { metadata, ...rest } = await bodyWith(parameters);
      expect(metadata).toEqual(ofUser(told));
      expect(rest).toEqual(plain);
    }
  });

  it('calls tools and answers from their outputs', async () => {
    const { models, id } = await provider(name);
    const first = await collect(models.stream(ask(id, '1 + 2?', { tools: [add] }), never).deltas);
    expect(first.finishes).toEqual(['tool_calls']);
    expect(first.calls).toEqual([{ id: expect.any(String), name: 'add', arguments: expect.any(String) }]);
    expect(JSON.parse(first.calls[0]?.arguments ?? '')).toEqual({ a: 1, b: 2 });
    const messages = [
      { role: 'user', content: '1 + 2?' },
      { role: 'assistant', content: null, toolCalls: first.calls },
      { role: 'tool', toolCallId: first.calls[0]?.id ?? '', content: '3' },
    ] as const;
    const second = await collect(models.stream(ask(id, '', { messages, tools: [add] }), never).deltas);
    expect(second).toMatchObject({ text: 'Hello "€"', finishes: ['stop'] });
  });

  it.each([
    [401, 'UPSTREAM_ERROR'],
    [429, 'RATE_LIMIT_EXCEEDED'],
    [500, 'UPSTREAM_ERROR'],
  ])('maps a %i', async (status, code) => {
    const { models, id, wire } = await provider(name);
    wire.fail(
      status,
      { type: 'error', error: { type: 'api_error', code: status, message: 'no', status: 'X' } },
      { 'retry-after': '7' },
    );
    expect(await failureOf(models.stream(ask(id, 'Hi'), never).deltas)).toMatchObject({ name: 'ModelError', code });
  });
});
