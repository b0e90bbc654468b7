import { createClient } from 'graphql-sse';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();

const query =
  'subscription ($input: CompletionInput!) { completionEvents(input: $input) { sequence __typename ... on TextDelta { delta } ... on RunEnded { run { status } } } }';
const variables = { input: { model: 'parley/offline', messages: [{ user: { text: 'Who are you?' } }] } };

describe.each([
  ['distinct connections', false],
  ['a single connection', true],
])('completionEvents through the graphql-sse client with %s', (_mode, singleConnection) => {
  it('streams an answer in order to its one end', async () => {
    const headers = { authorization: `Bearer ${service.adminKey}` };
    const client = createClient({ url: `${service.url}/graphql/stream`, singleConnection, headers, retryAttempts: 0 });
    // biome-ignore lint/suspicious/noExplicitAny: what is found is what is checked.
    const results = await Array.fromAsync(client.iterate<any>({ query, variables }));
    client.dispose();
    const events = results.map((result) => result.data?.completionEvents);
    expect(events.map((event) => event.sequence)).toEqual(events.map(({ sequence }) => sequence).toSorted((a, b) => a - b));
    expect(events.map((event) => event.delta ?? '').join('')).not.toBe('');
    expect(events.at(-1)).toMatchObject({ __typename: 'RunCompleted', run: { status: 'COMPLETED' } });
  });
});

describe('a key that is revoked', () => {
  it('loses its open subscription within five seconds', async () => {
    const ann = await make.person();
    const reserved = await ann.call('PUT', '/graphql/stream');
    const stream = await ann.fetch('GET', `/graphql/stream?token=${reserved.body}`, undefined, { accept: 'text/event-stream' });
    let isEnded = false;
    void stream.text().then(() => {
      isEnded = true;
    });
    expect((await service.client().delete(`/api/v1/api-keys/${ann.keyId}`)).status).toBeLessThan(300);
    await eventually(() => expect(isEnded).toBe(true), 5_000);
  });
});
