import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ModelError } from '../../../src/engine/models/port.ts';
import type { ModelRouter } from '../../../src/engine/models/router.ts';
import { ask, collect, failureOf, makeRouter } from '../../support/runs/models.ts';
import { chatFrames } from '../../support/runs/upstream-frames.ts';
import { never as nothing, startUpstream, type Upstream, type UpstreamScript } from '../../support/upstream.ts';

let upstream: Upstream;
let other: Upstream;
const routers: ModelRouter[] = [];
const never = new AbortController().signal;

beforeAll(async () => {
  upstream = await startUpstream();
  other = await startUpstream();
});
beforeEach(() => {
  upstream.reset();
  other.reset();
});
afterEach(async () => {
  await Promise.all(routers.splice(0).map((router) => router.close()));
});
afterAll(async () => {
  await Promise.all([upstream.close(), other.close()]);
});

function router(environment: Readonly<Record<string, string>> = {}, now?: () => Date): ModelRouter {
  const made = makeRouter({ OPENAI_BASE_URL: upstream.url, ...environment }, now);
  routers.push(made);
  return made;
}
function modelsFile(content: object): string {
  const path = join(mkdtempSync(join(tmpdir(), 'parley-models-')), 'models.json');
  writeFileSync(path, JSON.stringify(content));
  return path;
}
const test = (question = 'Hi') => ask('openai/test-model', question);

describe('which models there are', () => {
  it('lists the models of a base URL and, last, the built-in one; the first is the default', async () => {
    upstream.listModels('one', 'two', 'text-embedding-3');
    const models = router();
    expect((await models.list()).map((model) => model.id)).toEqual(['openai/one', 'openai/two', 'parley/offline']);
    expect(models.defaultModelId()).toBe('openai/one');
    expect(await models.find('two')).toMatchObject({ id: 'openai/two' });
    expect(await models.find('openai/three')).toBeUndefined();
  });

  it('starts with a provider that is down, and takes its models at their word', async () => {
    const models = router({ OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' });
    expect((await models.list()).map((model) => model.id)).toEqual(['parley/offline']);
    expect(models.defaultModelId()).toBe('parley/offline');
    expect(await models.find('openai/anything')).toMatchObject({ id: 'openai/anything' });
    expect(await failureOf(models.stream(ask('openai/anything', 'Hi'), never).deltas)).toMatchObject({ code: 'UPSTREAM_ERROR' });
  });

  it('finds a model that appeared after the first listing', async () => {
    let nowMs = 0;
    const models = router({}, () => new Date(nowMs));
    expect(await models.find('openai/new')).toBeUndefined();
    upstream.listModels('new');
    nowMs += 6_000;
    expect(await models.find('openai/new')).toMatchObject({ id: 'openai/new' });
  });

  it('does not resolve a bare name that two providers have', async () => {
    other.listModels('test-model', 'only-here');
    const models = router({ OLLAMA_BASE_URL: other.url });
    await models.list();
    expect(await models.find('test-model')).toBeUndefined();
    expect(await models.find('only-here')).toMatchObject({ id: 'ollama/only-here' });
  });

  it('tells every fault of a models file at once', () => {
    const path = modelsFile({ providers: [{ id: 'A B', baseUrl: 'ftp://x' }], routes: [{ id: 'x' }] });
    expect(() => router({ MODELS_FILE: path })).toThrow(/providers\[0\]\.id[\s\S]*baseUrl[\s\S]*routes\[0\]/);
  });

  it('reads keys by the name of their variable, prices and limits from the file', async () => {
    const price = { inputPerMillionTokens: 1, outputPerMillionTokens: 2 };
    const path = modelsFile({
      providers: [
        {
          id: 'lab',
          baseUrl: other.url,
          apiKeyEnv: 'LAB_KEY',
          models: [{ name: 'm', contextTokensMax: 99, isPremium: true, price }],
        },
      ],
    });
    const models = router({ MODELS_FILE: path, LAB_KEY: 'secret-key' });
    expect(await models.list()).toContainEqual(
      expect.objectContaining({ id: 'lab/m', contextTokensMax: 99, isPremium: true, price }),
    );
    await collect(models.stream(ask('lab/m', 'Hi'), never).deltas);
    expect(other.requests[0]?.headers.authorization).toBe('Bearer secret-key');
  });
});

describe('an answer of an OpenAI-compatible provider', () => {
  const answer: UpstreamScript = {
    text: ['Hel', 'lo'],
    reasoning: 'hm',
    toolCalls: [{ id: 'call_1', name: 'add', arguments: '{"a":1,"b":2}' }],
    usage: { prompt_tokens: 5, completion_tokens: 6 },
  };

  it.each([true, false])('has the same parts streamed and whole (streaming %s)', async (isStreaming) => {
    upstream.next(answer);
    const got = await collect(router().stream({ ...test(), isStreaming }, never).deltas);
    expect(got).toMatchObject({
      text: 'Hello',
      reasoning: 'hm',
      calls: answer.toolCalls,
      usage: { inputTokens: 5, outputTokens: 6 },
      finishes: ['tool_calls'],
    });
    expect(got.all.at(-1)?.type).toBe('finish');
  });

  it('is never given an address to fetch, whoever makes the request', () => {
    const content = [{ type: 'image', url: 'https://example.com/a.png' }] as const;
    const request = ask('openai/test-model', 'Hi', { messages: [{ role: 'user', content }] });
    expect(() => router().stream(request, never)).toThrow('an image by address');
    expect(upstream.requests).toEqual([]);
  });

  it('is asked for in the words of the wire', async () => {
    await collect(
      router({ OPENAI_API_KEY: 'key' }).stream(
        ask('openai/test-model', 'Hi', {
          messages: [
            { role: 'system', content: 'Be kind.' },
            {
              role: 'user',
              content: [
                { type: 'text', text: 'Look' },
                { type: 'image', url: 'data:image/png;base64,AA==', detail: 'low' },
              ],
            },
            { role: 'assistant', content: null, toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] },
            { role: 'tool', toolCallId: 'c', content: '42' },
          ],
          tools: [{ name: 'f', description: 'F', parameters: { type: 'object' } }],
          toolChoice: { name: 'f' },
          parallelToolCalls: false,
          parameters: { temperature: 0, maxTokens: 7, topK: 3, stop: ['x'] },
          responseFormat: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true },
        }),
        never,
      ).deltas,
    );
    expect(upstream.requests[0]?.headers.authorization).toBe('Bearer key');
    expect(upstream.requests[0]?.body).toEqual({
      model: 'test-model',
      messages: [
        { role: 'system', content: 'Be kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: '42' },
      ],
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0,
      max_tokens: 7,
      top_k: 3,
      stop: ['x'],
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' }, strict: true } },
      tools: [{ type: 'function', function: { name: 'f', description: 'F', parameters: { type: 'object' } } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      parallel_tool_calls: false,
    });
  });

  it('ends well or as a ModelError wherever the upstream cuts it off', async () => {
    const models = router();
    const script = { text: ['ab', 'cd€'], usage: { prompt_tokens: 1, completion_tokens: 2 } };
    const whole = Buffer.byteLength(chatFrames(script, 'test-model', true).join(''));
    for (let cutAtByte = 0; cutAtByte < whole; cutAtByte += 7) {
      upstream.next({ ...script, cutAtByte });
      const seen: string[] = [];
      try {
        for await (const batch of models.stream(test(), never).deltas) for (const delta of batch) seen.push(delta.type);
        expect(seen.at(-1)).toBe('finish');
      } catch (error) {
        expect(error).toBeInstanceOf(ModelError);
        expect(error).toMatchObject({ code: 'UPSTREAM_ERROR' });
        expect(seen).not.toContain('finish');
      }
    }
    await upstream.until(({ openStreams }) => openStreams === 0);
  });

  it.each<[string, UpstreamScript, string, object]>([
    ['a rejected key is not the caller’s', { status: 401 }, 'UPSTREAM_ERROR', {}],
    ['forbidden', { status: 403 }, 'UPSTREAM_ERROR', {}],
    [
      'too long',
      { status: 400, body: '{"error":{"message":"x","code":"context_length_exceeded"}}' },
      'CONTEXT_LENGTH_EXCEEDED',
      {},
    ],
    [
      'too long, in words',
      { status: 400, body: '{"error":{"message":"This model\'s maximum context length is 8 tokens"}}' },
      'CONTEXT_LENGTH_EXCEEDED',
      {},
    ],
    ['filtered', { status: 400, body: '{"error":{"code":"content_filter"}}' }, 'CONTENT_FILTER', {}],
    [
      'a bad value',
      { status: 400, body: '{"error":{"message":"temperature is 9, key sk-abcdef123456"}}' },
      'INVALID_VALUE',
      { message: expect.not.stringContaining('abcdef') },
    ],
    ['unknown there', { status: 404 }, 'MODEL_NOT_FOUND', {}],
    ['rate limit', { status: 429, headers: { 'retry-after': '7' } }, 'RATE_LIMIT_EXCEEDED', { retryAfterSeconds: 7 }],
    ['500', { status: 500 }, 'UPSTREAM_ERROR', { isRetryable: true }],
    ['503 without a body', { status: 503, body: '' }, 'UPSTREAM_ERROR', { isRetryable: true }],
    ['504', { status: 504 }, 'UPSTREAM_TIMEOUT', {}],
    ['no JSON', { body: '<html>', headers: { 'content-type': 'application/json' } }, 'UPSTREAM_ERROR', {}],
  ])('is refused as: %s', async (_case, script, code, more) => {
    upstream.next(script);
    expect(await failureOf(router().stream(test(), never).deltas)).toMatchObject({ name: 'ModelError', code, ...more });
  });

  it.each([
    ['before the first byte', { gate: nothing }],
    ['in mid-stream', { text: ['a', 'b'], hangAtByte: 250 }],
  ])('times out when the upstream falls silent %s', async (_case, script) => {
    upstream.next(script);
    const models = router({ MODEL_FIRST_TOKEN_TIMEOUT_MS: '300', MODEL_IDLE_TIMEOUT_MS: '300' });
    expect(await failureOf(models.stream(test(), never).deltas)).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    await upstream.until(({ openStreams }) => openStreams === 0);
  });

  it('stops the upstream within a second when the caller aborts, and when the reader leaves', async () => {
    const models = router();
    upstream.otherwise({ text: ['x', 'y'], restGate: nothing });
    const controller = new AbortController();
    const { deltas } = models.stream(test(), controller.signal);
    const reading = failureOf(deltas);
    await upstream.until(({ openStreams }) => openStreams === 1);
    controller.abort(new Error('gone'));
    expect(await reading).toMatchObject({ message: 'gone' });
    await upstream.until(({ openStreams, aborted }) => openStreams === 0 && aborted === 1, 1_000);
    for await (const _batch of models.stream(test(), never).deltas) break;
    await upstream.until(({ openStreams, aborted }) => openStreams === 0 && aborted === 2, 1_000);
  });

  it('holds the upstream back while its reader is slow', async () => {
    const size = 64 * 1024;
    upstream.next({ text: Array.from({ length: 600 }, () => 'x'.repeat(size)) });
    const { deltas } = router().stream(test(), never);
    const iterator = deltas[Symbol.asyncIterator]();
    await iterator.next();
    const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed - before).toBeLessThan(20 * 1024 * 1024);
    await iterator.return?.();
    await upstream.until(({ openStreams }) => openStreams === 0);
  });
});

describe('routing', () => {
  const route = () =>
    modelsFile({
      providers: [{ id: 'spare', baseUrl: other.url, models: [{ name: 'b' }] }],
      routes: [{ id: 'auto/best', primary: 'openai/test-model', fallbacks: ['spare/b'] }],
    });

  it('tries again before the first token, and says nothing of it', async () => {
    upstream.next({ status: 500 }, { text: 'second' });
    const { deltas, selection } = router({ MODEL_RETRIES_MAX: '1' }).stream(test(), never);
    expect(await collect(deltas)).toMatchObject({ text: 'second' });
    expect(selection).toMatchObject({ provider: 'openai', model: 'test-model', fallbackChain: [] });
    expect(upstream.requests).toHaveLength(2);
  });

  it('falls back, and the selection tells what happened', async () => {
    upstream.next({ status: 503 });
    other.next({ text: 'from b' });
    const models = router({ MODELS_FILE: route() });
    expect(await models.find('auto/best')).toMatchObject({ id: 'auto/best' });
    const { deltas, selection } = models.stream(ask('auto/best', 'Hi'), never);
    expect(await collect(deltas)).toMatchObject({ text: 'from b' });
    expect(selection).toMatchObject({
      provider: 'spare',
      model: 'b',
      fallbackChain: [{ provider: 'openai', model: 'test-model', reason: 'upstream_error' }],
    });
    expect(selection.firstTokenMs).not.toBeNull();
  });

  it('leaves out thoughts of another provider, and says so', async () => {
    upstream.next({ status: 503 });
    other.next({ text: 'from b' });
    const thoughts = [{ text: 'Hm.', provider: 'openai' }];
    const toolCalls = [{ id: 'call_1', name: 'add', arguments: '{}' }];
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, toolCalls, thoughts },
      { role: 'tool', toolCallId: 'call_1', content: '3' },
    ] as const;
    const { deltas } = router({ MODELS_FILE: route() }).stream(ask('auto/best', 'Hi', { messages }), never);
    const told = (await Array.fromAsync(deltas)).flat().filter(({ type }) => type === 'warnings');
    expect(told).toMatchObject([{ warnings: [{ code: 'thoughts_left_out' }] }]);
    const sent = [upstream, other].map(({ requests }) =>
      JSON.stringify(requests.at(-1)?.body?.messages).includes('"reasoning_content":"Hm."'),
    );
    expect(sent).toEqual([true, false]);
  });

  it('does not fall back once a token is out', async () => {
    upstream.next({ text: ['a', 'b'], chunkDelayMs: 5, cutAtByte: 420 });
    expect(await failureOf(router({ MODELS_FILE: route() }).stream(ask('auto/best', 'Hi'), never).deltas)).toMatchObject({
      code: 'UPSTREAM_ERROR',
    });
    expect(other.requests).toHaveLength(0);
  });

  it('does not fall back for a fault of the request itself', async () => {
    upstream.next({ status: 400 });
    expect(await failureOf(router({ MODELS_FILE: route() }).stream(ask('auto/best', 'Hi'), never).deltas)).toMatchObject({
      code: 'INVALID_VALUE',
    });
    expect(other.requests).toHaveLength(0);
  });

  it('skips a provider that keeps failing, and comes back to it', async () => {
    let nowMs = 0;
    const models = router({ MODELS_FILE: route() }, () => new Date(nowMs));
    upstream.otherwise({ status: 500 });
    for (let turn = 0; turn < 5; turn += 1) await collect(models.stream(ask('auto/best', 'Hi'), never).deltas);
    expect(upstream.requests).toHaveLength(3);
    upstream.otherwise({ text: 'back' });
    nowMs += 11_000;
    expect(await collect(models.stream(ask('auto/best', 'Hi'), never).deltas)).toMatchObject({ text: 'back' });
  });
});
