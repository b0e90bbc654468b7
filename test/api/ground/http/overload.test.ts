import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestClient } from '../../../support/client.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const runsMax = 4;
const load = runsMax * 10;
/** One organization alone leaves one place for another tenant. */
const share = 3;
const { make, upstream } = await withService('model', { env: { RUNS_ACTIVE_MAX: String(runsMax) } });
let noisy: Person;
let quiet: Person;
let late: Person;
/** Runs wait at this gate. */
let gate: PromiseWithResolvers<void>;

beforeAll(async () => {
  [noisy, quiet, late] = [await make.person(), await make.person(), await make.person()];
  for (const owner of [noisy, quiet, late]) agents.set(owner, (await make.agent({ owner, modelId: 'openai/test-model' })).id);
});
const agents = new Map<TestClient, string>();
beforeEach(() => {
  gate = Promise.withResolvers<void>();
  upstream.otherwise({ text: ['One', ' two', ' three'], gate: gate.promise });
});

interface Outcome {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}
const completion = { model: 'openai/test-model', messages: [{ role: 'user', content: 'Hi' }] };
const graphqlInput = { input: { model: 'openai/test-model', messages: [{ user: { text: 'Hi' } }] } };

const message = { ...completion, max_tokens: 100 };
const run = { threadId: 't', runId: 'r', messages: completion.messages };
/** What each sends, what a whole reply has in it, and the status of a full process. */
const apis: readonly (readonly [string, (who: TestClient) => Promise<Response>, string, number])[] = [
  ['REST', (who) => who.fetch('POST', '/api/v1/chat/completions', completion, {}), 'One two three', 503],
  [
    'a REST stream',
    (who) => who.fetch('POST', '/api/v1/chat/completions', { ...completion, stream: true }, {}),
    'data: [DONE]',
    503,
  ],
  ['Messages', (who) => who.fetch('POST', '/api/v1/messages', message, {}), 'One two three', 529],
  ['a Messages stream', (who) => who.fetch('POST', '/api/v1/messages', { ...message, stream: true }, {}), 'message_stop', 529],
  ['AG-UI', (who) => who.fetch('POST', `/api/v1/ag-ui/${agents.get(who)}`, run, {}), 'RUN_FINISHED', 503],
  [
    'GraphQL',
    (who) =>
      who.fetch(
        'POST',
        '/graphql',
        {
          query: 'mutation($input: CompletionInput!) { createCompletion(input: $input) { text } }',
          variables: graphqlInput,
        },
        {},
      ),
    'One two three',
    503,
  ],
  [
    'a GraphQL subscription',
    (who) =>
      who.fetch(
        'POST',
        '/graphql',
        {
          query: 'subscription($input: CompletionInput!) { completionEvents(input: $input) { __typename } }',
          variables: graphqlInput,
        },
        { accept: 'text/event-stream' },
      ),
    'event: complete',
    503,
  ],
];

/** Takes every place, first for the organization that takes many: beside another one it may get fewer. */
async function fill(send: (who: TestClient) => Promise<Response>): Promise<readonly Promise<Outcome>[]> {
  const begin = async (who: Person) => outcomeOf(await send(who));
  const running = Array<Person>(share).fill(noisy).map(begin);
  await upstream.until(({ openStreams }) => openStreams === share);
  running.push(begin(quiet));
  await upstream.until(({ openStreams }) => openStreams === runsMax);
  return running;
}

async function outcomeOf(response: Response): Promise<Outcome> {
  return { status: response.status, retryAfter: response.headers.get('retry-after'), text: await response.text() };
}

describe('a full process', () => {
  it('still replays the stored reply of an idempotency key', async () => {
    upstream.otherwise({ text: 'Said once' });
    const once = () => late.fetch('POST', '/api/v1/chat/completions', completion, { 'idempotency-key': 'asked-before' });
    const first = await outcomeOf(await once());
    expect(first.status).toBe(200);
    upstream.otherwise({ text: ['One', ' two', ' three'], gate: gate.promise });
    await upstream.until(({ openStreams }) => openStreams === 0);
    const running = await fill((who) => who.fetch('POST', '/api/v1/chat/completions', completion, {}));
    expect((await late.fetch('POST', '/api/v1/chat/completions', completion, {})).status).toBe(503);
    expect(await outcomeOf(await once())).toEqual(first);
    gate.resolve();
    for (const { status } of await Promise.all(running)) expect(status).toBe(200);
  });
});

describe('runs without a reader', () => {
  it('count for their organization: one cannot fill the process with them', async () => {
    const begin = async (who: TestClient) => {
      const reply = await who.post('/api/v2/responses', { model: 'openai/test-model', input: 'Hi', background: true });
      return { id: reply.body.id, status: reply.status, retryAfter: reply.headers.get('retry-after') };
    };
    for (let running = 1; running <= share; running += 1) {
      expect((await begin(noisy)).status).toBe(200);
      await upstream.until(({ openStreams }) => openStreams === running);
    }
    expect(await begin(noisy)).toMatchObject({ status: 429, retryAfter: '1' });
    expect((await begin(quiet)).status).toBe(200);
    await upstream.until(({ openStreams }) => openStreams === runsMax);
    expect(await begin(late)).toMatchObject({ status: 503, retryAfter: '1' });
    gate.resolve();
    await upstream.until(({ openStreams }) => openStreams === 0);
    const { id } = await eventually(async () => {
      const begun = await begin(noisy);
      expect(begun.status).toBe(200);
      return begun;
    });
    await eventually(async () => expect((await noisy.get(`/api/v2/responses/${id}`)).body.status).toBe('completed'));
  });
});

describe.each(apis)('ten times the load over %s', (_api, send, whole, status) => {
  it('refuses the excess, completes all admitted requests, and keeps room for another tenant', async () => {
    const order: Outcome[] = [];
    const flood = Array.from({ length: load }, async () => {
      order.push(await outcomeOf(await send(noisy)));
    });
    // No admitted request can end yet, so the refusals did not wait for them.
    await eventually(() => expect(order.length).toBe(load - share));
    const other = send(quiet);
    await upstream.until(({ openStreams }) => openStreams === runsMax);
    gate.resolve();
    const others = await outcomeOf(await other);
    await Promise.all(flood);

    const refused = order.slice(0, load - share);
    const good = [...order.slice(load - share), others];
    expect(refused.filter((one) => one.status !== 429 && one.status !== status)).toEqual([]);
    expect(refused.filter(({ retryAfter }) => !(Number(retryAfter) >= 1))).toEqual([]);
    expect(good.filter((one) => one.status !== 200 || !one.text.includes(whole))).toEqual([]);
    expect(upstream.aborted).toBe(0);
  });

  it('gives a tenant beyond the limit 503, and serves it once there is room', async () => {
    const running = await fill(send);
    const full = await outcomeOf(await send(late));
    expect(full.status).toBe(status);
    expect(Number(full.retryAfter)).toBeGreaterThanOrEqual(1);
    gate.resolve();
    for (const one of await Promise.all(running)) expect(one.status).toBe(200);
    const served = await eventually(async () => {
      const outcome = await outcomeOf(await send(late));
      expect(outcome.status).toBe(200);
      return outcome;
    });
    expect(served.text).toContain(whole);
  });
});
