import { beforeAll, expect, it } from 'vitest';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

// A text or a list of the longest length is taken, and one that is longer by one is refused with the member and its bound.

const { make } = await withService('model');
let ann: Person;
let agentId = '';

beforeAll(async () => {
  ann = await make.person({ role: 'ADMIN' });
  agentId = (await make.agent({ owner: ann })).id;
});

type Send = (text: string) => Promise<{ readonly status: number; readonly body: { error?: { message: string; param: string } } }>;

const post =
  (path: () => string, toBody: (text: string) => object): Send =>
  (text) =>
    ann.post(path(), toBody(text));
const patchAgent =
  (toBody: (text: string) => object): Send =>
  (text) =>
    ann.patch(`/api/v1/ais/${agentId}`, toBody(text));
const connection = { provider: 'WIKI', accountName: 'Ann', accessToken: 'token', baseUrl: 'https://wiki.example.com' };

const texts: readonly (readonly [what: string, param: string, max: number, send: Send])[] = [
  ['the name of an agent', 'name', 200, patchAgent((name) => ({ name }))],
  [
    'the name of a flow',
    'name',
    200,
    post(
      () => `/api/v1/ais/${agentId}/flows`,
      (name) => ({ name, versions: [] }),
    ),
  ],
  [
    'a scope of a connection',
    'scopes[0]',
    500,
    post(
      () => '/api/v1/connections',
      (scope) => ({ ...connection, scopes: [scope] }),
    ),
  ],
  [
    'the account of a connection',
    'accountName',
    200,
    post(
      () => '/api/v1/connections',
      (accountName) => ({ ...connection, accountName }),
    ),
  ],
];
const lists: readonly (readonly [what: string, param: string, max: number, send: (items: number) => ReturnType<Send>])[] = [
  [
    'the sample conversations of a profile',
    'profile.conversations',
    100,
    (items) =>
      ann.patch(`/api/v1/ais/${agentId}`, {
        profile: { conversations: Array(items).fill({ question: 'Why?', answer: { text: 'So.' } }) },
      }),
  ],
  [
    'the features of a profile',
    'profile.features',
    50,
    (items) =>
      ann.patch(`/api/v1/ais/${agentId}`, { profile: { features: Array(items).fill({ title: 'a', description: 'b' }) } }),
  ],
  [
    'the scopes of a connection',
    'scopes',
    100,
    (items) => ann.post('/api/v1/connections', { ...connection, scopes: Array(items).fill('read') }),
  ],
];

it.each([
  ...texts.map(([what, param, max, send]) => [what, param, max, (size: number) => send('x'.repeat(size))] as const),
  ...lists,
])('%s is taken up to its bound, and refused above it', async (_what, param, max, send) => {
  expect(await send(max)).toMatchObject({ status: 200 });
  const { status, body } = await send(max + 1);
  expect([status, body.error?.param]).toEqual([400, param]);
  expect(body.error?.message.replaceAll(',', '')).toContain(String(max));
});

it('a document that is saved is taken up to its bound, and refused above it', async () => {
  const save = (size: number) => {
    const document = '{ viewer { keyId } }'.padEnd(size, ' ');
    const mutation = 'mutation ($input: SaveDocumentInput!) { saveDocument(input: $input) { id } }';
    return ann.graphql(mutation, { input: { name: 'long_document', description: 'Long', document } });
  };
  expect((await save(20_000)).errors).toBeUndefined();
  expect((await save(20_001)).errors).toMatchObject([
    { extensions: { faults: [{ path: 'input.document', allowed: { maxLength: 20_000 } }] } },
  ]);
});
