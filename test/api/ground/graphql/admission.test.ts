import { expect, it } from 'vitest';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const runsMax = 5;
const { make, upstream } = await withService('model', { env: { RUNS_ACTIVE_MAX: String(runsMax) } });

const ann = await make.person();
const bob = await make.person();

const input = { model: 'openai/test-model', messages: [{ user: { text: 'Hi' } }] };
const subscription = 'subscription ($input: CompletionInput!) { completionEvents(input: $input) { __typename } }';
const mutation = 'mutation ($input: CompletionInput!) { ... { createCompletion(input: $input) { id } } }';

it('runs over GraphQL count with those over REST: no key takes more than its share of a busy process', async () => {
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
  expect(
    (await ann.post('/api/v1/chat/completions', { model: input.model, messages: [{ role: 'user', content: 'Hi' }] })).status,
  ).toBe(429);
  expect((await ann.graphql('{ viewer { keyId } }')).status).toBe(200);
  upstream.otherwise({ text: 'Hello' });
  expect((await bob.graphql(mutation, { input })).data.createCompletion.id).toMatch(/^chatcmpl-/);
  leaving.abort();
  await Promise.all(open);
  await eventually(async () => expect((await ann.graphql(mutation, { input })).status).toBe(200));
});

it('a document whose fragments double is refused quickly', async () => {
  const doubled = Array.from({ length: 26 }, (_, n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`);
  const before = process.cpuUsage().user;
  const reply = await ann.graphql(`{ ...F0 } ${doubled.join(' ')} fragment F26 on Query { viewer { keyId } }`);
  expect(reply.errors?.[0].extensions.code).toBe('GRAPHQL_TOO_MANY_FIELDS');
  expect(process.cpuUsage().user - before).toBeLessThan(5_000_000);
});
