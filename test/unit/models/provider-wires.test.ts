import { afterEach, describe, expect, it } from 'vitest';
import { requestBody } from '../../../src/engine/models/openai/request.ts';
import type { ModelMessage, ModelRequest } from '../../../src/engine/models/port.ts';
import type { ModelRouter } from '../../../src/engine/models/router.ts';
import { ask, collect, failureOf, makeRouter } from '../../support/runs/models.ts';
import {
  anthropicMessage,
  anthropicText,
  googleStream,
  sse,
  startAnthropic,
  startGoogle,
  type WireStandIn,
} from '../../support/runs/upstream-wires.ts';

const open: { close(): Promise<void> }[] = [];
const never = new AbortController().signal;
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function provider(name: 'anthropic' | 'google', env: Readonly<Record<string, string>> = {}) {
  const wire = await (name === 'anthropic' ? startAnthropic() : startGoogle());
  const upper = name.toUpperCase();
  const models = makeRouter({ [`${upper}_API_KEY`]: 'test-key', [`${upper}_BASE_URL`]: wire.url, ...env });
  open.push(models, wire);
  const run = (model: string, more: Partial<ModelRequest> = {}) =>
    models.stream(ask(`${name}/${model}`, 'Hi', more), never).deltas;
  return { wire, models, run };
}
interface SentBody {
  readonly max_tokens: number;
  readonly thinking?: { readonly type: string; readonly budget_tokens: number };
  readonly system: unknown;
  readonly systemInstruction: unknown;
  readonly messages: readonly { readonly role: string }[];
  readonly contents: readonly { readonly role: string }[];
}
const bodyOf = (wire: WireStandIn) => wire.bodies.at(-1) as unknown as SentBody;
const warningsOf = async (deltas: ReturnType<ModelRouter['stream']>['deltas']) =>
  (await collect(deltas)).all.flatMap((delta) => (delta.type === 'warnings' ? delta.warnings : []));

describe('the body of a chat completion', () => {
  const thoughts = [{ text: 'Hm.' }];
  const toolCalls = [{ id: 'call_1', name: 'add', arguments: '{}' }];
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: null, toolCalls, thoughts },
    { role: 'tool', toolCallId: 'call_1', content: '3' },
  ] as const;

  it.each([
    ['a server that demands them', 'compatible', {}, true],
    ['one that refuses the member, as Mistral does', 'compatible', { refusesThoughts: true }, false],
    ['OpenAI', 'openai', {}, false],
  ] as const)('gives thoughts back with their calls: %s', (_server, dialect, options, isGiven) => {
    const body = JSON.parse(requestBody(ask('any/model', 'Hi', { messages }), dialect, options));
    expect(body.messages[1]).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'add', arguments: '{}' } }],
      ...(isGiven ? { reasoning_content: 'Hm.' } : {}),
    });
  });
});

describe('the cap of an answer of Anthropic', () => {
  const efforts = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
  const models = ['model-one', 'claude-sonnet-4-5', 'claude-opus-4-1', 'claude-opus-4-6', 'claude-opus-5-5', 'claude-haiku-5-5'];
  it.each(models.flatMap((model) => efforts.map((effort) => [model, effort] as const)))(
    'holds thinking and answer together: %s, %s',
    async (model, reasoningEffort) => {
      const { wire, run } = await provider('anthropic');
      for (const maxTokens of [16, 500, 1_300, 5_000, 20_000]) {
        await collect(run(model, { parameters: { maxTokens, reasoningEffort } }));
        const { max_tokens, thinking } = bodyOf(wire);
        expect(max_tokens).toBe(maxTokens);
        if (thinking?.type === 'enabled') {
          expect(thinking.budget_tokens).toBeGreaterThanOrEqual(1_024);
          expect(thinking.budget_tokens).toBeLessThan(maxTokens);
        }
      }
    },
  );

  it('says that no room is left to think', async () => {
    const { wire, run } = await provider('anthropic');
    const warnings = await warningsOf(run('claude-sonnet-4-5', { parameters: { maxTokens: 500, reasoningEffort: 'high' } }));
    expect(warnings).toEqual([expect.objectContaining({ code: 'option_not_supported', param: 'reasoning_effort' })]);
    expect(bodyOf(wire).thinking).toBeUndefined();
  });
});

describe.each(['anthropic', 'google'] as const)('instructions behind the first turn for %s', (name) => {
  it.each([
    [
      'between turns',
      [
        { role: 'system', content: 'Only French.' },
        { role: 'user', content: 'And now?' },
      ],
    ],
    ['at the end', [{ role: 'system', content: 'Only French.' }]],
  ] satisfies readonly [string, readonly ModelMessage[]][])('stay instructions: %s', async (_where, later) => {
    const { wire, run } = await provider(name);
    const messages: readonly ModelMessage[] = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Good day' },
      ...later,
    ];
    expect(await collect(run('claude-3-haiku-20240307', { messages }))).toMatchObject({ finishes: ['stop'] });
    const body = bodyOf(wire);
    const instructions = JSON.stringify(name === 'anthropic' ? body.system : body.systemInstruction);
    expect(instructions).toMatch(/Be kind.*Only French/);
    const turns = name === 'anthropic' ? body.messages : body.contents;
    expect(JSON.stringify(turns)).not.toContain('Only French');
    expect(turns.some(({ role }) => role === 'system')).toBe(false);
    expect(wire.headers.at(-1)?.['anthropic-beta'] ?? '').not.toContain('mid-conversation');
  });
});

describe('what changes with each request, for Anthropic', () => {
  const tools = [{ name: 'get_weather', description: '', parameters: { type: 'object', properties: {} } }];
  const messages: readonly ModelMessage[] = [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Weather?' },
  ];
  const asked: readonly ModelMessage[] = [
    ...messages,
    { role: 'assistant', content: null, toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: '{}' }] },
    { role: 'tool', toolCallId: 'call_1', content: 'sunny' },
  ];

  it.each([
    ['a question', messages, 'text'],
    ['the result of a tool', asked, 'tool_result'],
  ])('stands behind %s and the mark of the cache', async (_where, conversation, type) => {
    const { wire, run } = await provider('anthropic');
    await collect(run('claude-sonnet-4-5', { messages: conversation, tools, ending: 'Current date: today' }));
    const { system, messages: sent } = bodyOf(wire);
    const mark = { type: 'ephemeral', ttl: '5m' };
    expect(system).toMatchObject([{ text: 'Be kind.', cache_control: mark }]);
    expect(sent.at(-1)).toMatchObject({
      role: 'user',
      content: [
        { type, cache_control: mark },
        { type: 'text', text: 'Current date: today' },
      ],
    });
    expect(JSON.stringify(sent).split('cache_control')).toHaveLength(2);
  });

  it('is marked for as long as PROMPT_CACHE_LIFE says', async () => {
    const { wire, run } = await provider('anthropic', { PROMPT_CACHE_LIFE: '1h' });
    await collect(run('claude-sonnet-4-5', { messages }));
    expect(bodyOf(wire).system).toMatchObject([{ cache_control: { ttl: '1h' } }]);
    const off = await provider('anthropic', { PROMPT_CACHE_LIFE: 'off' });
    await collect(off.run('claude-sonnet-4-5', { messages }));
    expect(JSON.stringify(bodyOf(off.wire))).not.toContain('cache_control');
  });
});

describe('what Anthropic adds to its format', () => {
  const news = ['news', { type: 'news', index: 4, what: { ever: true } }] as const;
  const block = (index: number) =>
    [
      ['content_block_start', { type: 'content_block_start', index, content_block: { type: 'hologram', text: '' } }],
      ['content_block_delta', { type: 'content_block_delta', index, delta: { type: 'text_delta', text: 'BEAM' } }],
      ['content_block_stop', { type: 'content_block_stop', index }],
    ] as const;
  const delta = ['content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'hue_delta', hue: 3 } }] as const;
  const [start, piece, stop] = anthropicText('Hello');
  if (start === undefined || piece === undefined || stop === undefined) throw new Error('three events');
  it.each([
    ['an event before the message', sse([news]) + anthropicMessage(anthropicText('Hello'))],
    ['an event behind the first', anthropicMessage([news, ...anthropicText('Hello')])],
    ['an event in a block', anthropicMessage([start, news, piece, stop])],
    ['an event at the end', anthropicMessage(anthropicText('Hello'), { stop_reason: 'end_turn', novelty: {} }) + sse([news])],
    ['a kind of block', anthropicMessage([...block(0), ...anthropicText('Hello', 1)])],
    ['a kind of delta', anthropicMessage([start, delta, piece, stop])],
    ['an unknown reason to stop', anthropicMessage(anthropicText('Hello'), { stop_reason: 'tea_time' })],
  ])('leaves an answer whole: %s', async (_what, stream) => {
    const { wire, run } = await provider('anthropic');
    wire.next(stream, stream.replaceAll('\n', '\r\n'));
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await collect(run('claude-sonnet-4-5'))).toMatchObject({ text: 'Hello', finishes: ['stop'] });
    }
  });

  it('does not hide an event that is broken', async () => {
    const { wire, run } = await provider('anthropic');
    wire.next(
      anthropicMessage([
        start,
        ['content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta' } }],
      ]),
    );
    expect(await failureOf(run('claude-sonnet-4-5'))).toMatchObject({ code: 'UPSTREAM_ERROR', message: /malformed/ });
  });
});

describe('an error in mid-stream', () => {
  it.each([
    ['rate_limit_error', 'RATE_LIMIT_EXCEEDED', 'limits the rate'],
    ['overloaded_error', 'UPSTREAM_ERROR', 'failed (529)'],
    ['invalid_request_error', 'INVALID_VALUE', 'refused the request'],
    ['authentication_error', 'UPSTREAM_ERROR', 'credentials'],
    ['timeout_error', 'UPSTREAM_TIMEOUT', 'too long'],
    ['strange_error', 'UPSTREAM_ERROR', 'The model provider "anthropic" failed'],
  ])('of Anthropic is told by its type: %s', async (type, code, words) => {
    const { wire, run } = await provider('anthropic');
    const error = ['error', { type: 'error', error: { type, message: 'no' } }] as const;
    wire.next(anthropicMessage([...anthropicText('Hel'), error]), sse([error]));
    for (let turn = 0; turn < 2; turn += 1) {
      const failure = (await failureOf(run('claude-sonnet-4-5'))) as Error;
      expect(failure).toMatchObject({ name: 'ModelError', code });
      expect(failure.message).toContain(words);
    }
  });

  it.each([
    [{ code: 429, status: 'RESOURCE_EXHAUSTED', message: 'no' }, 'RATE_LIMIT_EXCEEDED'],
    [{ code: null, status: 'RESOURCE_EXHAUSTED', message: 'no' }, 'RATE_LIMIT_EXCEEDED'],
    [{ code: 503, status: 'UNAVAILABLE', message: 'no' }, 'UPSTREAM_ERROR'],
  ])('of Google is told by its status: %o', async (error, code) => {
    const { wire, run } = await provider('google');
    const first = { candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Hel' }] } }] };
    wire.next(googleStream(first, { error }));
    expect(await failureOf(run('gemini-2.5-pro'))).toMatchObject({ name: 'ModelError', code });
  });
});

describe('how an answer of Gemini ends', () => {
  const ending = (finishReason: string, parts: readonly object[] = [], more: object = {}) =>
    googleStream({ candidates: [{ index: 0, content: { role: 'model', parts }, finishReason, ...more }] });
  it.each(['UNEXPECTED_TOOL_CALL', 'MISSING_THOUGHT_SIGNATURE', 'TOO_MANY_TOOL_CALLS', 'MALFORMED_RESPONSE', 'OTHER', 'NEW_ONE'])(
    'is no empty answer: %s',
    async (reason) => {
      const { wire, run } = await provider('google');
      wire.next(ending(reason), ending(reason, [{ text: 'Let me' }]));
      for (let turn = 0; turn < 2; turn += 1) {
        expect(await failureOf(run('gemini-2.5-pro'))).toMatchObject({
          code: 'UPSTREAM_ERROR',
          message: expect.stringContaining(reason),
        });
      }
    },
  );

  it.each(['SAFETY', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII'])('is a refusal when nothing was said: %s', async (reason) => {
    const { wire, run } = await provider('google');
    wire.next(ending(reason, [], { finishMessage: 'Not this.' }), ending(reason, [{ text: 'It is' }]));
    const refused = await collect(run('gemini-2.5-pro'));
    expect(refused.all).toContainEqual({ type: 'refusal', json: '"Not this."' });
    expect(refused.finishes).toEqual(['stop']);
    expect(await collect(run('gemini-2.5-pro'))).toMatchObject({ text: 'It is', finishes: ['content_filter'] });
  });

  it('is a refusal when the prompt is blocked', async () => {
    const { wire, run } = await provider('google');
    wire.next(googleStream({ promptFeedback: { blockReason: 'SAFETY' } }));
    const refused = await collect(run('gemini-2.5-pro'));
    expect(refused.all).toContainEqual({ type: 'refusal', json: '"The model declined to answer this."' });
  });
});

describe('a refusal of Anthropic', () => {
  it('is told in its own words', async () => {
    const { wire, run } = await provider('anthropic');
    const stop_details = { type: 'refusal', category: 'cyber', explanation: 'I will not help with that.' };
    wire.next(anthropicMessage([], { stop_reason: 'refusal', stop_details }), anthropicMessage([], { stop_reason: 'refusal' }));
    const refused = await collect(run('claude-sonnet-4-5'));
    expect(refused.all).toContainEqual({ type: 'refusal', json: '"I will not help with that."' });
    expect(refused.finishes).toEqual(['stop']);
    const silent = await collect(run('claude-sonnet-4-5'));
    expect(silent.all).toContainEqual({ type: 'refusal', json: '"The model declined to answer this."' });
  });
});

describe('what has no effect at a provider', () => {
  it('is told with the first delta, by the names of the caller', async () => {
    const { run } = await provider('anthropic');
    const parameters = {
      temperature: 1.5,
      topP: 0.5,
      seed: 1,
      frequencyPenalty: 1,
      presencePenalty: 1,
      verbosity: 'low',
      logprobs: 2,
    } as const;
    const { all } = await collect(run('claude-sonnet-4-5', { parameters: { ...parameters, serviceTier: 'flex' } }));
    const [first] = all;
    if (first?.type !== 'warnings') throw new Error('no warnings');
    const named = first.warnings.map(({ param }) => param).sort();
    const wanted = [
      'frequency_penalty',
      'logprobs',
      'presence_penalty',
      'seed',
      'service_tier',
      'temperature',
      'top_p',
      'verbosity',
    ];
    expect(named).toEqual(expect.arrayContaining(wanted));
    expect(JSON.stringify(first.warnings)).not.toMatch(/topP|frequencyPenalty|maxOutputTokens/);
  });

  it('is the name of a speaker', async () => {
    const { run } = await provider('anthropic');
    const messages = [{ role: 'user', name: 'ann', content: 'Hi' }] as const;
    expect(await warningsOf(run('claude-sonnet-4-5', { messages, parameters: { maxTokens: 100 } }))).toEqual([
      expect.objectContaining({ code: 'option_not_supported', param: 'messages.name' }),
    ]);
  });

  it('is nothing in a plain request', async () => {
    const { run } = await provider('anthropic');
    expect(await warningsOf(run('claude-sonnet-4-5', { parameters: { maxTokens: 100, temperature: 0.5 } }))).toEqual([]);
  });

  it('is told of a forced call that thinking makes free', async () => {
    const { run } = await provider('anthropic');
    const tools = [{ name: 'add', description: 'Adds', parameters: { type: 'object', properties: {} } }];
    const request = { tools, toolChoice: 'required', parameters: { maxTokens: 8_000, reasoningEffort: 'high' } } as const;
    expect(await warningsOf(run('claude-sonnet-4-5', request))).toContainEqual(
      expect.objectContaining({ code: 'option_not_supported', param: 'tool_choice' }),
    );
  });

  it('is not JSON without a schema: the instructions ask for it', async () => {
    const { wire, run } = await provider('anthropic');
    expect(await warningsOf(run('claude-sonnet-4-5', { responseFormat: { type: 'json_object' } }))).toEqual([]);
    expect(JSON.stringify(bodyOf(wire).system)).toContain('one JSON object');
  });
});

describe('a fault of this service', () => {
  const broken = {
    get text(): string {
      throw new TypeError('our own fault');
    },
  };
  it.each(['anthropic', 'google'] as const)('is no fault of %s: not retried, and its circuit stays closed', async (name) => {
    const { wire, models, run } = await provider(name, { MODEL_RETRIES_MAX: '2' });
    const content = [
      {
        type: 'text' as const,
        get text() {
          return broken.text;
        },
      },
    ];
    for (let turn = 0; turn < 4; turn += 1) {
      const failure = await failureOf(run('model-one', { messages: [{ role: 'user', content }] }));
      expect(failure).toBeInstanceOf(TypeError);
      expect(failure).not.toHaveProperty('code');
    }
    expect(wire.bodies).toEqual([]);
    expect(await collect(models.stream(ask(`${name}/model-one`, 'Hi'), never).deltas)).toMatchObject({ finishes: ['stop'] });
  });

  it('a cut connection is the provider’s', async () => {
    const { wire, run } = await provider('anthropic');
    await wire.close();
    expect(await failureOf(run('model-one'))).toMatchObject({
      code: 'UPSTREAM_ERROR',
      isRetryable: true,
      message: /cannot be reached/,
    });
  });
});
