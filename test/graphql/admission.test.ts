import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { makeFor, type Person } from '../support/make.ts';
import { startService, type TestService } from '../support/service.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const runsMax = 5;
let upstream: Upstream;
let service: TestService;
let ann: Person;
let bob: Person;

beforeAll(async () => {
  upstream = await startUpstream();
  service = await startService({
    env: { OPENAI_BASE_URL: upstream.url, RUNS_ACTIVE_MAX: String(runsMax), MODEL_RETRIES_MAX: '0' },
  });
  const make = makeFor(service);
  ann = await make.person();
  bob = await make.person();
});
afterAll(async () => {
  await service.close();
  await upstream.close();
});

const input = { model: 'openai/test-model', messages: [{ role: 'user', content: 'Hi' }] };
const subscription = 'subscription ($input: CompletionInput!) { completionEvents(input: $input) { __typename } }';
const mutation = 'mutation ($input: CompletionInput!) { ... { createCompletion(input: $input) { id } } }';

it('runs over GraphQL count with those over REST: no key takes more than its share of a busy process', {
  timeout: 30_000,
}, async () => {
  upstream.otherwise({ text: ['Hel', 'lo'], hangAtByte: 1 });
  const leaving = new AbortController();
  const body = { query: subscription, variables: { input } };
  const open = Array.from({ length: runsMax - 1 }, () =>
    ann.fetch('POST', '/graphql', body, { accept: 'text/event-stream' }, leaving.signal).catch(() => undefined),
  );
  await upstream.until(({ openStreams }) => openStreams === runsMax - 1);
  const refusal = { errors: [{ extensions: { code: 'RATE_LIMIT_EXCEEDED' } }] };
  expect(await ann.graphql(mutation, { input })).toMatchObject({ status: 429, ...refusal });
  expect((await ann.post('/graphql', body, { accept: 'text/event-stream' })).status).toBe(429);
  expect((await ann.post('/api/v1/chat/completions', input)).status).toBe(429);
  expect((await ann.graphql('{ viewer { keyId } }')).status).toBe(200);
  upstream.otherwise({ text: 'Hello' });
  expect((await bob.graphql(mutation, { input })).data.createCompletion.id).toMatch(/^chatcmpl/);
  leaving.abort();
  await Promise.all(open);
  await eventually(async () => expect((await ann.graphql(mutation, { input })).status).toBe(200));
});
