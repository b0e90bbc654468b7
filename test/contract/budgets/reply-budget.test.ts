import { beforeAll, describe, expect, it } from 'vitest';
import { everything } from '../../../src/entities/ground/filter.ts';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

const replyMaxBytes = 300_000;
const description = 'd'.repeat(10_000);
const { service, make } = await withService('web', { env: { REPLY_MAX_BYTES: String(replyMaxBytes) } });
let ann: Person;
let agentId: string;
let chatId: string;
beforeAll(async () => {
  ann = await make.person();
  for (const _index of Array(11)) {
    agentId = (await make.agent({ owner: ann, description, instructions: 'i'.repeat(20_000) })).id;
  }
  await make.agent({ owner: ann, name: 'Escapes', instructions: '\u0001'.repeat(30_000) });
  const data = { text: 't'.repeat(20_000) };
  await ann.post(`/api/v1/ais/${agentId}/tools`, {
    name: 'big',
    type: 'CLIENT_FUNCTION',
    data: { description: 'x'.repeat(10_000), parameters: { type: 'object', description: 'x'.repeat(10_000) } },
  });
  await make.apiDataSource({ owner: ann, agentId, data });
  chatId = (await make.chat({ owner: ann, agentId })).id;
});

const aliases = (field: string, count = 49) => Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ');
const tooLarge = { data: null, errors: [{ extensions: { code: 'REPLY_TOO_LARGE' } }] };
const large = `{ agents(first: 12) { nodes { ${aliases('instructions')} } } }`;
const json = 'application/json';

describe('a reply that would be larger than REPLY_MAX_BYTES', () => {
  it.each([
    ['aliases of a long text, which may be null', large],
    [
      'behind variables that switch fields',
      `query (${[1, 2, 3, 4, 5].map((n) => `$v${n}: Boolean = true`).join()}) { agents(first: 12) { nodes { ${[1, 2, 3, 4, 5].map((n) => `v${n}: id @include(if: $v${n})`).join(' ')} ${aliases('instructions', 40)} } } }`,
    ],
    ['beside introspection', `{ __schema { queryType { name } } agents(first: 12) { nodes { ${aliases('instructions')} } } }`],
    [
      'beside the name of the prototype',
      `{ __proto__: __typename agents(first: 12) { nodes { ${aliases('instructions', 48)} } } }`,
    ],
    [
      'values of JSON',
      `{ agentTools(agentId: "AGENT") { settings { ... on ClientFunctionSettings { ${aliases('parameters')} } } } }`,
    ],
    [
      'many names of short fields',
      `{ agents(first: 12) { nodes { ${aliases('id').replaceAll('a', 'long_name_'.repeat(60))} } } }`,
    ],
    [
      'text that is written as escapes',
      `{ agents(first: 12, filter: { search: "Escapes" }) { nodes { instructions again: instructions } } }`,
    ],
  ])('is refused: %s', async (_case, text) => {
    const query = text.replace('AGENT', agentId);
    const { status, body } = await ann.post('/graphql', { query });
    expect({ status, body }).toMatchObject({ status: 200, body: tooLarge });
    expect(body.errors).toHaveLength(1);
    expect(body.errors[0].message).toContain(`larger than ${replyMaxBytes} bytes`);
  });

  it.each([
    ['what is answered at once', json],
    ['what Yoga negotiates', `${json};q=0.9, text/plain;q=0.1`],
    ['the media type of GraphQL', 'application/graphql-response+json'],
  ])('is refused in %s', async (_case, accept) => {
    expect((await ann.post('/graphql', { query: large }, { accept })).body).toMatchObject(tooLarge);
  });

  it('is refused by GET, as an event, and on a single connection', async () => {
    expect((await ann.get(`/graphql?${new URLSearchParams({ query: large })}`)).body).toMatchObject(tooLarge);
    const [frame] = await ann.stream('/graphql/stream', { query: large });
    expect(JSON.parse(frame?.data ?? '')).toMatchObject(tooLarge);
    const { body: token } = await ann.call('PUT', '/graphql/stream');
    const frames = ann.sse('GET', `/graphql/stream?token=${token}`);
    const request = { query: large, extensions: { operationId: 'one' } };
    expect((await ann.post(`/graphql/stream?token=${token}`, request, { accept: json })).status).toBe(202);
    for await (const { event, data } of frames) {
      if (event !== 'next') continue;
      expect(JSON.parse(data).payload).toMatchObject(tooLarge);
      break;
    }
  });

  it('is refused as an event of a subscription, which goes on', async () => {
    const query = `subscription { chatUpdated(chatId: "${chatId}") { agent { ${aliases('description', 40)} } } }`;
    const results = ann.subscribe(query);
    expect((await results.next()).value).toMatchObject(tooLarge);
    await ann.patch(`/api/v1/chats/${chatId}`, { name: 'Renamed' });
    expect((await results.next()).value).toMatchObject(tooLarge);
    await results.return(undefined);
  });

  it('is refused on REST, with what to ask for instead', async () => {
    const { status, body } = await ann.get('/api/v1/ais?limit=12');
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'reply_too_large' });
    expect(body.error.message).toContain('limit');
    expect((await ann.get('/api/v1/ais?limit=3')).status).toBe(200);
  });

  it('is refused on REST for members that are shown as they are stored', async () => {
    const bob = await make.person();
    const profile = { description: 'p'.repeat(100_000) };
    for (const _index of Array(4)) await make.agent({ owner: bob, profile });
    expect((await bob.get('/api/v1/ais')).body).toMatchObject({ error: { code: 'reply_too_large' } });
    expect((await bob.get('/api/v1/ais?limit=1')).status).toBe(200);
  });
});

it('a reply within it is whole', async () => {
  const shorter = await ann.graphql(`{ agents(first: 5) { nodes { ${aliases('description', 2)} } } }`);
  expect(shorter.errors).toBeUndefined();
  expect(shorter.data.agents.nodes.length).toBe(5);
});

it('the default refuses 49 times 400,000 characters of twelve agents', async () => {
  await service.restart({ REPLY_MAX_BYTES: String(64 * 1024 * 1024) });
  const { agents } = service.deps.storage;
  for (const { id } of (await ann.get('/api/v1/ais?limit=12')).body.data) {
    await agents.update(id, { instructions: 'x'.repeat(400_000) }, { userId: ann.userId, groups: everything });
  }
  const before = process.memoryUsage.rss();
  expect((await ann.post('/graphql', { query: large })).body).toMatchObject(tooLarge);
  // Without the budget: 235 MB of text, and as much again while it is made.
  expect(process.memoryUsage.rss() - before).toBeLessThan(150 * 1024 * 1024);
});
