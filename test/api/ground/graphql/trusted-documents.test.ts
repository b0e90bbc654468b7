import { createHash } from 'node:crypto';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { cacheExchange, createClient, fetchExchange, type OperationResult } from '@urql/core';
import { persistedExchange } from '@urql/exchange-persisted';
import { createClient as createStreamClient } from 'graphql-sse';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TestClient } from '../../../support/client.ts';
import type { Person } from '../../../support/make.ts';
import { TestBrowser } from '../../../support/people/browser.ts';
import { withService } from '../../../support/service.ts';

/** Who may run which documents, with requests of every form and with the persisted queries of stock clients. */
const { service, make } = await withService('plain', { env: { TRUSTED_DOCUMENTS: 'sessions' } });

/** As urql and Apollo Client send it: they ask for `__typename`, and print it so. */
const saved = 'query Me {\n  viewer {\n    keyId\n    __typename\n  }\n}';
const other = '{ viewer { user { id } } }';
const stream = 'subscription Chats { chatsChanged { id } }';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const persistedQuery = (text: string) => ({ persistedQuery: { version: 1, sha256Hash: sha256(text) } });
const ask = (who: TestClient, body: object, headers = {}) => who.post('/graphql', body, headers);
const codeOf = (reply: { readonly body: { readonly errors?: readonly { readonly extensions: { readonly code: string } }[] } }) =>
  reply.body.errors?.[0]?.extensions.code;

const admin = await make.person({ role: 'ADMIN' });
const browser = new TestBrowser(() => service.url);
const { body } = await admin.post('/api/v1/admin/sign-in-links', { email: admin.email });
await browser.signInBy(body.url);
await admin.put('/api/v1/documents', { name: 'me', description: 'Who calls.', document: saved });

/** What a stock client sends, and the documents that it did send. */
function recorded(): {
  readonly fetch: typeof fetch;
  readonly bodies: { readonly query?: string; readonly extensions?: object }[];
} {
  const bodies: { readonly query?: string; readonly extensions?: object }[] = [];
  return {
    bodies,
    fetch: (input, init) => {
      const query = new URL(String(input)).searchParams;
      bodies.push(init?.body === undefined ? Object.fromEntries(query) : JSON.parse(String(init.body)));
      return fetch(input, init);
    },
  };
}

function urql({ key }: Person, own: object = {}) {
  const { fetch: send, bodies } = recorded();
  const client = createClient({
    url: `${service.url}/graphql`,
    preferGetMethod: false,
    exchanges: [cacheExchange, persistedExchange({ preferGetForPersistedQueries: false, ...own }), fetchExchange],
    fetchOptions: { headers: { authorization: `Bearer ${key}` } },
    fetch: send,
  });
  return { bodies, query: (text: string): Promise<OperationResult> => client.query(text, {}).toPromise() };
}

function apollo({ key }: Person) {
  const { fetch: send, bodies } = recorded();
  const http = new HttpLink({ uri: `${service.url}/graphql`, headers: { authorization: `Bearer ${key}` }, fetch: send });
  const client = new ApolloClient({ cache: new InMemoryCache(), link: new PersistedQueryLink({ sha256 }).concat(http) });
  return { bodies, query: (text: string) => client.query({ query: gql(text), errorPolicy: 'all' }) };
}

describe('TRUSTED_DOCUMENTS=sessions', () => {
  it('lets a session run what its organization has saved, by its text and by its hash', async () => {
    expect(await ask(browser, { query: saved })).toMatchObject({ status: 200, body: { data: { viewer: {} } } });
    expect(await ask(browser, { extensions: persistedQuery(saved) })).toMatchObject({ body: { data: { viewer: {} } } });
    const address = `/graphql?extensions=${encodeURIComponent(JSON.stringify(persistedQuery(saved)))}`;
    expect(await browser.get(address)).toMatchObject({ body: { data: { viewer: {} } } });
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a query', () => ask(browser, { query: other })],
    ['a query that differs by a blank', () => ask(browser, { query: `${saved} ` })],
    ['a GET', () => browser.get(`/graphql?query=${encodeURIComponent(other)}`)],
    ['introspection', () => ask(browser, { query: '{ __schema { queryType { name } } }' })],
    ['a subscription', () => ask(browser, { query: stream }, { accept: 'text/event-stream' })],
    ['a subscription of graphql-sse', () => browser.post('/graphql/stream', { query: stream }, { accept: 'text/event-stream' })],
    [
      'an upload',
      () => {
        const form = new FormData();
        form.append('operations', JSON.stringify({ query: other }));
        form.append('map', '{}');
        return browser.post('/graphql', form);
      },
    ],
  ])('refuses %s of a session that nobody has saved', async (_case, send) => {
    const reply = (await send()) as Parameters<typeof codeOf>[0] & { readonly status: number };
    expect([codeOf(reply), reply.status < 500]).toEqual(['UNTRUSTED_DOCUMENT', true]);
  });

  it('leaves keys every document', async () => {
    expect((await ask(admin, { query: other })).body).toMatchObject({ data: { viewer: { user: { id: admin.userId } } } });
  });

  it('trusts a document from the moment it is saved to the moment it is deleted', async () => {
    const document = 'query Late { viewer { role } }';
    expect(codeOf(await ask(browser, { query: document }))).toBe('UNTRUSTED_DOCUMENT');
    await admin.put('/api/v1/documents', { name: 'late', description: 'Late.', document });
    expect((await ask(browser, { query: document })).body.data).toEqual({ viewer: { role: 'ADMIN' } });
    await admin.delete('/api/v1/documents/late');
    expect(codeOf(await ask(browser, { query: document }))).toBe('UNTRUSTED_DOCUMENT');
  });
});

describe('a hash', () => {
  it.each([
    ['that names nothing', { extensions: persistedQuery(other) }, 'PERSISTED_QUERY_NOT_FOUND'],
    ['of another text than the request has', { query: other, extensions: persistedQuery(saved) }, 'BAD_REQUEST'],
  ])('%s is refused', async (_case, body, code) => {
    expect(codeOf(await ask(admin, body))).toBe(code);
    expect(codeOf(await admin.post('/graphql/stream', body, { accept: 'text/event-stream' }))).toBe(code);
  });

  it('of another organization names nothing', async () => {
    const stranger = await make.person();
    expect((await ask(stranger, { extensions: persistedQuery(saved) })).body.errors[0].message).toBe('PersistedQueryNotFound');
  });

  it.each([true, false])('names a document of graphql-sse, with a single connection: %s', async (singleConnection) => {
    const headers = { authorization: `Bearer ${admin.key}` };
    const client = createStreamClient({ url: `${service.url}/graphql/stream`, singleConnection, headers, retryAttempts: 0 });
    // A request of this protocol has a text, which may be empty.
    const [result] = await Array.fromAsync(client.iterate({ query: '', extensions: persistedQuery(saved) }));
    client.dispose();
    expect(result).toMatchObject({ data: { viewer: { keyId: admin.keyId } } });
  });
});

describe('stock clients with persisted queries', () => {
  it.each([
    ['urql', urql],
    ['Apollo Client', apollo],
  ])('%s sends the hash alone of a document that was saved', async (_name, create) => {
    const client = create(admin);
    const { data } = await client.query('query Me { viewer { keyId } }');
    expect(data).toMatchObject({ viewer: { keyId: admin.keyId } });
    expect(client.bodies).toHaveLength(1);
    expect(client.bodies[0]).toMatchObject({ extensions: persistedQuery(saved) });
    expect(client.bodies[0]?.query).toBeUndefined();
  });

  it.each([
    ['urql', urql],
    ['Apollo Client', apollo],
  ])('%s sends the text of another one, which a key may run', async (_name, create) => {
    const client = create(admin);
    const { data } = await client.query('query Other { viewer { role } }');
    expect(data).toMatchObject({ viewer: { role: 'ADMIN' } });
    expect(client.bodies.map(({ query }) => query !== undefined)).toEqual([false, true]);
  });
});

describe('TRUSTED_DOCUMENTS=only', () => {
  beforeAll(() => service.restart({ TRUSTED_DOCUMENTS: 'only' }));

  it('refuses every other document of keys too', async () => {
    expect(codeOf(await ask(admin, { query: other }))).toBe('UNTRUSTED_DOCUMENT');
    expect((await ask(admin, { query: saved })).body.data).toMatchObject({ viewer: { keyId: admin.keyId } });
    expect((await admin.post('/api/v1/documents/me')).body.data).toMatchObject({ viewer: { keyId: admin.keyId } });
    expect((await admin.get('/api/v1/ais')).status).toBe(200);
  });

  it.each([
    ['urql', urql],
    ['Apollo Client', apollo],
  ])('%s runs what was saved, and gets the refusal of what was not', async (_name, create) => {
    const client = create(admin);
    expect((await client.query('query Me { viewer { keyId } }')).data).toMatchObject({ viewer: { keyId: admin.keyId } });
    const { error } = await client.query('query Other { viewer { role } }');
    expect(String(error)).toContain('TRUSTED_DOCUMENTS');
  });
});
