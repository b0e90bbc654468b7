import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../support/egress/api-server.ts';
import { queryOf, startToolCalls, type ToolCalls, type ToolData } from '../../support/runs/tool-calls.ts';

let api: ToolCalls;
beforeAll(async () => {
  api = await startToolCalls();
});
afterAll(() => api.close());

const anything = (...names: string[]) => ({ type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) });

describe('what the author of a tool fixed', () => {
  const post = () => ({
    method: 'POST',
    url: `${api.url}/messages?tenant=acme`,
    body: { channel: '#support', text: '{text}', options: { dryRun: true, note: 'by {text}' } },
  });

  it('stays in the body, whatever arguments are named like it', async () => {
    const args = { text: 'hi', channel: '#ceo', dryRun: false, options: { dryRun: false }, Channel: '#ceo' };
    for (const parameters of [anything('text'), anything(...Object.keys(args))]) {
      const request = await api.received({ ...post(), parameters }, JSON.stringify(args));
      const sent = JSON.parse(request?.body ?? '');
      expect(sent).toMatchObject({ channel: '#support', text: 'hi', options: { dryRun: true, note: 'by hi' } });
      expect(Object.keys(sent).filter((name) => name !== 'dryRun')).toEqual(['channel', 'text', 'options']);
    }
  });

  it.each([
    'tenant',
    'TENANT',
    'tenant[]',
    'tenant[0]',
    'tenant%00',
    'tenant\u0000x',
    'tenant%5B%5D',
    ' tenant',
    'tenant.id',
    'ｔenant',
  ])('stays in the query: no second %j, declared or not', async (name) => {
    for (const method of ['GET', 'DELETE', 'POST', 'PUT', 'PATCH']) {
      for (const parameters of [anything('other'), anything('other', name)]) {
        const data = { method, url: `${api.url}/x?tenant=acme`, query: { unit: 'C' }, parameters };
        const request = await api.received(data, JSON.stringify({ other: 1, [name]: 'evil', unit: 'F' }));
        const query = queryOf(request).filter(([own]) => own !== 'other');
        expect(query).toEqual([
          ['tenant', 'acme'],
          ['unit', 'C'],
        ]);
        expect(request?.body ?? '').not.toContain('evil');
      }
    }
  });

  it('keeps no argument back whose name is another', async () => {
    const data = { url: `${api.url}/x?_id=1&meta[a]=1&user_name=x`, parameters: anything('id', 'meta[b]', 'user') };
    const request = await api.received(data, '{"id":2,"meta[b]":3,"user":4}');
    expect(queryOf(request).map(([name]) => name)).toEqual(['_id', 'meta[a]', 'user_name', 'id', 'meta[b]', 'user']);
  });

  it('is not joined by arguments that the schema does not declare', async () => {
    const args = '{"city":"Paris","debug":true,"constructor":{"a":1},"toString":"x"}';
    expect((await api.received({ url: `${api.url}/x`, parameters: anything('city') }, args))?.path).toBe('/x?city=Paris');
    const posted = await api.received({ method: 'POST', url: `${api.url}/x`, parameters: anything('city') }, args);
    expect(posted).toMatchObject({ path: '/x', body: '{"city":"Paris"}' });
    expect(await api.received({ method: 'POST', url: `${api.url}/x`, parameters: anything('a') }, '{"a":{"__proto__":{}}}')).toBe(
      undefined,
    );
    expect(await api.received({ method: 'POST', url: `${api.url}/x` }, '{"__proto__":{"a":1}}')).toBe(undefined);
  });

  it('takes the last of two members of one name, and checks that one', async () => {
    const parameters = { type: 'object', properties: { to: { enum: ['a', 'b'] }, kind: { const: 1 }, mode: { default: 'x' } } };
    const data = { method: 'POST', url: `${api.url}/x`, parameters };
    expect(await api.received(data, '{"to":"a","to":"evil"}')).toBe(undefined);
    expect((await api.received(data, '{"to":"evil","to":"a"}'))?.body).toBe('{"to":"a"}');
    expect(await api.received(data, '{"kind":2}')).toBe(undefined);
    expect((await api.received(data, '{"kind":1,"mode":"y"}'))?.body).toBe('{"kind":1,"mode":"y"}');
  });

  const slack = '{"channel":"#support","text":"{text}"}';
  const evil = '","channel":"#ceo';
  it.each<[string, ToolData, (request: ApiRequest) => unknown]>([
    ['JSON text in a JSON body', { body: { payload: slack } }, ({ body }) => JSON.parse(JSON.parse(body).payload)],
    [
      'JSON text in a form',
      {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: `a=1&payload=${encodeURIComponent(slack).replace('%7Btext%7D', '{text}')}`,
      },
      ({ body }) => JSON.parse(new URLSearchParams(body).get('payload') ?? ''),
    ],
    [
      'JSON text in the query',
      { query: { filter: slack } },
      (request) => JSON.parse(new Map(queryOf(request)).get('filter') ?? ''),
    ],
    ['JSON text in a header', { headers: { 'X-Filter': slack } }, ({ headers }) => JSON.parse(String(headers['x-filter']))],
  ])('stays in %s', async (_case, members, read) => {
    const data = { method: 'POST', url: `${api.url}/x`, parameters: anything('text'), ...members };
    const request = await api.received(data, JSON.stringify({ text: evil }));
    expect(request === undefined ? undefined : read(request)).toEqual({ channel: '#support', text: evil });
  });

  it('stays in a form and in XML', async () => {
    const form = { headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'channel=support&text={text}' };
    const xml = {
      headers: { 'Content-Type': 'application/soap+xml' },
      body: '<m><channel>support</channel><text>{text}</text></m>',
    };
    const base = { method: 'POST', url: `${api.url}/x`, parameters: anything('text') };
    const text = '</text><channel>ceo</channel>&channel=ceo';
    const sent = new URLSearchParams((await api.received({ ...base, ...form }, JSON.stringify({ text })))?.body);
    expect([...sent]).toEqual([
      ['channel', 'support'],
      ['text', text],
    ]);
    expect((await api.received({ ...base, ...xml }, JSON.stringify({ text })))?.body.match(/<channel>/g)).toHaveLength(1);
  });

  it.each([
    ['an argument as the name of a query member', { url: 'https://a.example/x?{name}=1' }],
    ['an argument as a whole query', { url: 'https://a.example/x?tenant=acme&{rest}' }],
    ['an argument as the port', { url: 'https://a.example:{port}/x' }],
    ['an argument behind the host', { url: 'https://a.example{rest}' }],
    ['an argument as the user', { url: 'https://{user}@a.example/' }],
    ['an argument in the host', { url: 'https://a.{host}/x' }],
    ['an argument as the scheme', { url: '{scheme}://a.example/x' }],
    ['an argument as the type of the body', { headers: { 'Content-Type': 'text/{type}' }, body: 'x {a}', method: 'POST' }],
    [
      'an argument in text of an unknown syntax',
      { headers: { 'Content-Type': 'application/graphql' }, body: '{ a(b: {b}) }', method: 'POST' },
    ],
    [
      'an argument as the name of a form member',
      { headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: '{a}=b', method: 'POST' },
    ],
  ])('is not put in doubt: a stored tool with %s is not called', async (_case, data) => {
    expect(
      await api.received(
        data,
        '{"name":"tenant","rest":"tenant=x","port":"1","user":"x","host":"x","scheme":"http","type":"x","a":1,"b":2}',
      ),
    ).toBe(undefined);
  });

  it.each([
    '..',
    '../admin',
    'a/../../admin',
    '..%2fadmin',
    '..%2fadmin%zz',
    '%2e%2e/admin',
    '..\\admin',
    'a/.',
    '..;/admin',
    'a\r\nb',
    'a\u0000',
  ])('is not left by the path: %j is refused', async (id) => {
    expect(await api.received({ url: `${api.url}/v1/items/{id}`, parameters: anything('id') }, JSON.stringify({ id }))).toBe(
      undefined,
    );
  });
  it('takes a slash in the path as part of one segment', async () => {
    const request = await api.received(
      { url: `${api.url}/v1/{id}/end`, parameters: anything('id') },
      '{"id":"group/project?a#b"}',
    );
    expect(request?.path).toBe('/v1/group%2Fproject%3Fa%23b/end');
  });
  it('takes one cookie for one argument', async () => {
    const data = { url: `${api.url}/x`, headers: { Cookie: 'tenant=acme; lang={lang}' }, parameters: anything('lang') };
    expect((await api.received(data, '{"lang":"fr"}'))?.headers.cookie).toBe('tenant=acme; lang=fr');
    expect(await api.received(data, '{"lang":"fr; tenant=evil"}')).toBe(undefined);
  });
});
