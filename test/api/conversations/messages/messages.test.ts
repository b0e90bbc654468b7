import { readFileSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { DomainError, publicError } from '../../../../src/entities/ground/errors.ts';
import { messagesBody } from '../../../../src/wire/messages/body.ts';
import { messagesError, toErrorBody } from '../../../../src/wire/messages/errors.ts';
import { startThinkingProvider } from '../../../support/runs/thinking-providers.ts';
import { withService } from '../../../support/service.ts';

/** What the Messages format carries beyond completions: signed thoughts, marks for caches, failed calls, refusals in its own words. */
const providers = {
  anthropic: await startThinkingProvider('anthropic'),
  google: await startThinkingProvider('google'),
  deepSeek: await startThinkingProvider('deepSeek'),
};
const env = Object.assign({}, ...Object.values(providers).map((provider) => provider.env));
const { service, make } = await withService('plain', { env: { ...env, EGRESS_ALLOW: '127.0.0.1', MODEL_RETRIES_MAX: '0' } });
const ann = await make.person();

beforeEach(() => {
  for (const provider of Object.values(providers)) provider.reset();
});
afterAll(() => Promise.all(Object.values(providers).map((provider) => provider.close())));

const client = () => new Anthropic({ baseURL: `${service.url}/api`, apiKey: ann.key, maxRetries: 0 });
const input_schema = { type: 'object' as const, properties: { item: { type: 'string' as const } } };
const tools = [{ name: 'look_up', description: 'Looks it up', input_schema }];
type Asked = Anthropic.MessageCreateParamsNonStreaming;
const ask = (way: string, request: Asked): Promise<Anthropic.Message> =>
  way === 'whole' ? client().messages.create(request) : client().messages.stream(request).finalMessage();

describe.each(Object.entries(providers))('thoughts of %s', (_name, provider) => {
  it.each([
    ['whole', undefined],
    ['stream', undefined],
    ['whole', 'omitted' as const],
    ['stream', 'omitted' as const],
  ])('come back with the results of calls as they came (%s, display %s)', async (way, display) => {
    const thinking = { type: 'enabled' as const, budget_tokens: 1_024, ...(display === undefined ? {} : { display }) };
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Look it up' }];
    for (const count of [0, 1, 2]) {
      const reply = await ask(way, { model: provider.modelId, max_tokens: 4_096, messages, tools, thinking });
      expect(provider.refusals).toEqual([]);
      if (count > 0) expect(provider.returned).toBeGreaterThanOrEqual(count);
      const [first] = reply.content;
      if (display === 'omitted' && first?.type === 'thinking') expect(first.thinking).toBe('');
      if (display === undefined && first?.type === 'thinking') expect(first.thinking).not.toBe('');
      const calls = reply.content.filter((block) => block.type === 'tool_use');
      expect(reply.stop_reason).toBe(calls.length > 0 ? 'tool_use' : 'end_turn');
      messages.push({ role: 'assistant', content: reply.content as Anthropic.ContentBlockParam[] });
      if (calls.length === 0) continue;
      const results = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: 'found' }));
      messages.push({ role: 'user', content: results });
    }
  });
});

describe('a model of the vendor', () => {
  const cache_control = { type: 'ephemeral' as const, ttl: '1h' as const };

  it('gets marks for its cache where the caller put them, the budget of thoughts, and failed calls as such', async () => {
    await client().messages.create({
      model: providers.anthropic.modelId,
      max_tokens: 8_000,
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      system: [{ type: 'text', text: 'Be brief.', cache_control }],
      tools: [{ name: 'other', input_schema, cache_control }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'A long text', cache_control: { type: 'ephemeral' } },
            { type: 'text', text: 'A question' },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'other', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'It broke', is_error: true }] },
        { role: 'assistant', content: 'I see.' },
        { role: 'user', content: 'Again' },
      ],
    });
    const [body] = providers.anthropic.bodies;
    expect(body).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      max_tokens: 8_000,
      tools: [{ name: 'other', cache_control: { ttl: '1h' } }],
    });
    const messages = body?.messages as readonly { readonly content: readonly object[] }[];
    expect(JSON.stringify(body?.system)).toContain('"ttl":"1h"');
    expect(messages[0]?.content).toMatchObject([{ text: 'A long text', cache_control: { ttl: '5m' } }, { text: 'A question' }]);
    expect(messages[0]?.content[1]).not.toHaveProperty('cache_control');
    expect(messages[2]?.content).toMatchObject([{ type: 'tool_result', is_error: true }]);
    expect(JSON.stringify(body).split('cache_control')).toHaveLength(4);
  });

  it('does not get thoughts of another service: the reply says so', async () => {
    const reply = await client().messages.create({
      model: providers.anthropic.modelId,
      max_tokens: 2_000,
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 'EqQB' },
            { type: 'text', text: 'Hi.' },
          ],
        },
        { role: 'user', content: 'Again' },
      ],
    });
    expect(providers.anthropic.refusals).toEqual([]);
    expect(reply).toMatchObject({ warnings: [{ code: 'option_not_supported', param: 'messages' }] });
  });
});

it('a model elsewhere gets no marks', async () => {
  await client().messages.create({
    model: providers.deepSeek.modelId,
    max_tokens: 100,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    tools: [{ name: 'other', input_schema, cache_control: { type: 'ephemeral' } }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] }],
  });
  expect(JSON.stringify(providers.deepSeek.bodies[0])).not.toContain('cache');
});

it.each(['messages', 'beta/messages'])('every member of a request of %s is taken, refused or warned of', (place) => {
  const types = readFileSync(`node_modules/@anthropic-ai/sdk/resources/${place}/messages.d.ts`, 'utf8');
  const declared = types.split('export interface MessageCreateParamsBase {')[1]?.split('\n}')[0] ?? '';
  const members = [...declared.matchAll(/^ {4}(\w+)\??:/gm)].map(([, name = '']) => name);
  expect(members.length).toBeGreaterThan(15);
  // The SDK sends it as a header.
  expect(members.filter((name) => name !== 'betas' && !(name in messagesBody.shape))).toEqual([]);
});

it('a full service answers as clients of the format know it', () => {
  const error = messagesError(publicError(new DomainError('OVERLOADED', 'The service is full', { retryAfterSeconds: 1 })));
  expect([error.status, toErrorBody(error, 'req_1')]).toEqual([
    529,
    { type: 'error', error: { type: 'overloaded_error', message: 'The service is full' }, request_id: 'req_1' },
  ]);
});
