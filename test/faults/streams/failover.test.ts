import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { graphqlCompletion } from '../../support/apis/graphql-inputs.ts';
import { makeFor, type Person } from '../../support/make.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { startService, type TestService } from '../../support/service.ts';
import { startUpstream, type Upstream, type UpstreamScript } from '../../support/upstream.ts';

/** The first provider of the route; the second one answers. */
let primary: Upstream;
let fallback: Upstream;
let service: TestService;
let ann: Person;
let agent: { readonly id: string };
/** A model that fails is passed over for some time, so each test asks a route of its own. */
const routesCount = 200;
let model = '';
let asked = 0;
const folder = mkdtempSync(join(tmpdir(), 'parley-failover-'));
const answer = 'The fallback says hello';
const said = 'Half an ans';

beforeAll(async () => {
  primary = await startUpstream();
  fallback = await startUpstream();
  const names = Array.from({ length: routesCount }, (_, index) => `model-${index}`);
  const models = names.map((name) => ({ name }));
  const provider = (id: string, baseUrl: string) => ({ id, wire: 'openai-compatible', baseUrl, models });
  const file = join(folder, 'models.json');
  writeFileSync(
    file,
    JSON.stringify({
      providers: [provider('first', primary.url), provider('second', fallback.url)],
      routes: names.map((name) => ({ id: `safe/${name}`, primary: `first/${name}`, fallbacks: [`second/${name}`] })),
    }),
  );
  const env = { MODELS_FILE: file, MODEL_RETRIES_MAX: '0', MODEL_FIRST_TOKEN_TIMEOUT_MS: '700', MODEL_IDLE_TIMEOUT_MS: '700' };
  service = await startService({ env: { ...env, LOG_LEVEL: 'fatal' } });
  const make = makeFor(service);
  ann = await make.person();
  agent = await make.agent({ owner: ann, modelId: 'safe/model-0' });
});
afterAll(async () => {
  await service.close();
  await primary.close();
  await fallback.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  primary.reset();
  fallback.reset();
  fallback.otherwise({ text: answer });
  model = `safe/model-${asked}`;
  asked += 1;
});

const frame = (json: object) => `data: ${JSON.stringify(json)}\n\n`;
const delta = (content: string) => frame({ choices: [{ delta: { content } }] });
const stream = { 'content-type': 'text/event-stream' };
const comments = Array.from({ length: 2_000 }, () => ': still working\n\n');

/** Faults before the first token. Refusals of the request itself are the caller's: no other model is asked. */
const before: readonly (readonly [string, UpstreamScript])[] = [
  ['a connection that is cut before the head', { cutAtByte: 0 }],
  ['401', { status: 401 }],
  ['403', { status: 403 }],
  ['404', { status: 404 }],
  ['408', { status: 408 }],
  ['429', { status: 429 }],
  ['429 with Retry-After', { status: 429, headers: { 'retry-after': '30' } }],
  ['500', { status: 500 }],
  ['503', { status: 503, body: '' }],
  ['529', { status: 529, body: '{"error":{"type":"overloaded_error","message":"Overloaded"}}' }],
  ['malformed JSON', { raw: '{"choices":[', headers: { 'content-type': 'application/json' } }],
  ['a page', { raw: '<html>Sorry</html>', headers: { 'content-type': 'text/html' } }],
  ['an empty body', { raw: '' }],
  ['an error inside the stream', { raw: frame({ error: { message: 'Overloaded', code: 503 } }), headers: stream }],
  ['comments only', { raw: comments, chunkDelayMs: 20, headers: stream }],
  ['silence behind the head', { raw: [': hello\n\n', delta('x')], hangAtByte: 9, headers: stream }],
];
/** Faults behind the first token. */
const midway: readonly (readonly [string, UpstreamScript])[] = [
  ['a cut', { raw: [delta(said), delta('wer')], cutAtByte: delta(said).length, headers: stream }],
  ['an end without a finish', { raw: delta(said), headers: stream }],
  ['an error', { raw: [delta(said), frame({ error: { message: 'Overloaded' } })], headers: stream }],
  ['silence', { raw: [delta(said), delta('wer')], hangAtByte: delta(said).length, headers: stream }],
  ['comments only', { raw: [delta(said), ...comments], chunkDelayMs: 20, headers: stream }],
];

const messages = [{ role: 'user', content: 'Hi' }];
interface Outcome {
  readonly text: string;
  /** Everything that the caller reads, with the headers of the reply. */
  readonly told: string;
  /** What the API calls a success. */
  readonly isSuccess: boolean;
}
async function wholeOf(path: string, body: object, isSuccess: (reply: { status: number; body: { status?: string } }) => boolean) {
  const reply = await ann.post(path, body);
  const told = JSON.stringify([reply.body, [...reply.headers]]);
  return { text: told, told, isSuccess: isSuccess(reply) };
}
async function streamOf(path: string, body: object, success: string): Promise<Outcome> {
  const response = await ann.fetch('POST', path, body, { accept: 'text/event-stream' });
  const told = await response.text();
  return { text: told, told, isSuccess: told.includes(success) };
}
async function newChat(): Promise<string> {
  const { body } = await ann.post(`/api/v1/ais/${agent.id}/chats`, {});
  return `/api/v1/chats/${body.id}/messages`;
}
const isCompleted = ({ status, body }: { status: number; body: { status?: string } }) =>
  status === 200 && body.status === 'completed';
const ways: readonly (readonly [string, boolean, () => Promise<Outcome>])[] = [
  ['a completion', true, () => wholeOf('/api/v1/chat/completions', { model, messages }, ({ status }) => status === 200)],
  [
    'a streamed completion',
    false,
    () => streamOf('/api/v1/chat/completions', { model, messages, stream: true }, '"finish_reason":"stop"'),
  ],
  ['a chat message', true, async () => wholeOf(await newChat(), { prompt: 'Hi', modelId: model }, isCompleted)],
  [
    'a streamed chat message',
    false,
    async () => streamOf(await newChat(), { prompt: 'Hi', modelId: model, stream: true }, 'run.completed'),
  ],
  ['a response', true, () => wholeOf('/api/v2/responses', { model, input: 'Hi' }, isCompleted)],
  ['a streamed response', false, () => streamOf('/api/v2/responses', { model, input: 'Hi', stream: true }, 'response.completed')],
  [
    'a response in the background',
    false,
    async () => {
      const { body: begun } = await ann.post('/api/v2/responses', { model, input: 'Hi', background: true });
      return eventually(async () => {
        const reply = await ann.get(`/api/v2/responses/${begun.id}`);
        expect(reply.body.status).not.toBe('in_progress');
        const told = JSON.stringify(reply.body);
        return { text: told, told, isSuccess: reply.body.status === 'completed' };
      });
    },
  ],
  [
    'GraphQL',
    true,
    async () => {
      const query = `mutation ($input: CompletionInput!) { createCompletion(input: $input) { text selection { provider model } } }`;
      const { body } = await ann.post('/graphql', { query, variables: { input: graphqlCompletion({ model, messages }) } });
      const told = JSON.stringify(body);
      return { text: told, told, isSuccess: body.errors === undefined };
    },
  ],
];

describe.each(ways)('%s', (_way, isWhole, ask) => {
  it.each(before)('is answered by the fallback, which is named: %s', async (_fault, script) => {
    primary.otherwise(script);
    const { told, isSuccess } = await ask();
    expect(isSuccess).toBe(true);
    expect(told).toMatch(/fallback|says/);
    expect(told).toContain('second');
  });

  it.each(midway)(
    'behind its first token is answered by the fallback where nothing was given, else it fails: %s',
    async (_fault, script) => {
      primary.otherwise(script);
      const { text, told, isSuccess } = await ask();
      expect(isSuccess).toBe(isWhole);
      if (isWhole) expect([text.includes(answer), text.includes(said), told.includes('second')]).toEqual([true, false, true]);
      else expect([text.includes(answer), fallback.requests]).toEqual([false, []]);
    },
  );
});

it('an answer that was asked for twice is charged once, and a charge that was estimated says so', async () => {
  const make = makeFor(service);
  const bob = await make.person();
  primary.otherwise({ raw: [delta(said)], headers: stream });
  fallback.otherwise({ text: answer, usage: { prompt_tokens: 10, completion_tokens: 4 } });
  const own = await make.agent({ owner: bob, modelId: model });
  const { body: chat } = await bob.post(`/api/v1/ais/${own.id}/chats`, {});
  const reply = await bob.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi' });
  expect(reply.body.usage).toEqual({ inputTokens: 10, outputTokens: 4, cachedTokens: 0, reasoningTokens: 0, totalTokens: 14 });
  const rows = async () => {
    const { rows: found } = await service.deps.storage.db.pool.query(
      'select "modelId", "inputTokens", "isEstimated" from usage_entries where "orgId" = $1 order by "createdAt", id',
      [bob.orgId],
    );
    return found;
  };
  const name = model.replace('safe', 'second');
  await eventually(async () => expect(await rows()).toEqual([{ modelId: name, inputTokens: 10, isEstimated: false }]));
  fallback.otherwise({ text: answer, usage: null });
  const estimated = await bob.post('/api/v1/chat/completions', { model, messages });
  expect(estimated.body.usage).toMatchObject({ estimated: true });
  await eventually(async () => {
    expect((await rows()).map(({ isEstimated }: { isEstimated: boolean }) => isEstimated)).toEqual([false, true]);
  });
});

it('the error of a provider names it, and neither its address nor its key', async () => {
  primary.otherwise({ status: 500 });
  fallback.otherwise({ status: 500 });
  const reply = await ann.post('/api/v1/chat/completions', { model, messages });
  expect([reply.status, reply.body.error.message]).toEqual([502, 'The model provider "second" failed (500)']);
});
