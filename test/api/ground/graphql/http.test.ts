import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GraphqlFrame, startGraphqlFrame } from '../../../support/apis/graphql-frame.ts';
import { timed } from '../../../support/processes/clock.ts';

let frame: GraphqlFrame;
beforeAll(async () => {
  frame = await startGraphqlFrame({ UPLOAD_MAX_BYTES: '2000000', BODY_MAX_BYTES: '1000000', GRAPHQL_COST_MAX: '5000' });
});
afterAll(() => frame.close());
const post = (body: unknown, headers: Record<string, string> = {}) => frame.client('all').post('/graphql', body, headers);

describe('authentication', () => {
  it.each([
    ['POST', '/graphql'],
    ['GET', '/graphql?query={hello}'],
    ['PUT', '/graphql/stream'],
    ['GET', '/graphql/stream'],
    ['DELETE', '/graphql/stream'],
  ])('%s %s answers 401 before it reads anything', async (method, path) => {
    const reply = await frame.client('wrong').call(method, path, method === 'POST' ? '{not json' : undefined);
    expect(reply).toMatchObject({ status: 401, body: { errors: [{ extensions: { code: 'INVALID_API_KEY' } }] } });
    expect(reply.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('reflects no origin', async () => {
    const reply = await post({ query: '{hello}' }, { origin: 'https://evil.example' });
    const preflight = await frame.client('all').call('OPTIONS', '/graphql', undefined, { origin: 'https://evil.example' });
    for (const { headers } of [reply, preflight]) expect(headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('operations', () => {
  it('answers a query by POST and by GET alike', async () => {
    const answers = [await post({ query: '{ hello }' }), await frame.client('all').get('/graphql?query=%7Bhello%7D')];
    for (const { status, body } of answers) expect({ status, body }).toEqual({ status: 200, body: { data: { hello: 'world' } } });
  });

  it('runs no mutation by GET', async () => {
    const reply = await frame.client('all').get('/graphql?query=mutation%7Bbump%7D');
    expect(reply.status).toBe(405);
  });

  it('picks the operation by its name', async () => {
    const query = 'query A { a: hello } query B { b: hello }';
    expect((await post({ query, operationName: 'B' })).body).toEqual({ data: { b: 'world' } });
    expect((await post({ query })).body.errors[0].extensions.code).toBe('OPERATION_RESOLUTION_FAILURE');
  });

  it.each([
    ['an array', [{ query: '{hello}' }]],
    ['no query', {}],
    ['a query that is no text', { query: 1 }],
    ['variables that are no object', { query: '{hello}', variables: [1] }],
    ['broken JSON', '{"query'],
  ])('refuses %s with 400', async (_case, body) => {
    const reply = await post(body, { 'content-type': 'application/json' });
    expect(reply).toMatchObject({ status: 400, body: { errors: [{ extensions: { code: 'BAD_REQUEST' } }] } });
  });
});

describe('errors', () => {
  it('shows a refusal with its code, member and faults', async () => {
    const { status, body } = await post({ query: '{ refuse }' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      data: { refuse: null },
      errors: [{ message: 'input.name is bad', path: ['refuse'], extensions: { code: 'INVALID_VALUE' } }],
    });
    expect(body.errors[0].extensions.faults).toEqual([
      { path: 'input.name', code: 'INVALID_VALUE', message: 'input.name is bad', allowed: { maxLength: 9 } },
    ]);
    expect(Object.keys(body.errors[0].extensions).sort()).toEqual(['code', 'faults', 'requestId']);
  });

  it('masks a bug and logs it whole under the request id', async () => {
    const { body, headers } = await post({ query: '{ fail }' });
    expect(body.errors[0].extensions.code).toBe('SERVER_ERROR');
    expect(JSON.stringify(body)).not.toContain('swordfish');
    const requestId = headers.get('x-request-id');
    expect(body.errors[0].extensions.requestId).toBe(requestId);
    expect(frame.logs.filter((line) => line.includes('swordfish') && line.includes(String(requestId)))).toHaveLength(1);
  });
});

describe('limits, before any resolver runs', () => {
  const deep = (levels: number) => `{ node { ${'child { '.repeat(levels)} id ${'} '.repeat(levels)} } }`;
  const doubled = Array.from(
    { length: 11 },
    (_, i) => `fragment F${i} on Node { a: child { ...F${i + 1} } b: child { ...F${i + 1} } }`,
  );
  it.each([
    ['depth', deep(20), {}, 'GRAPHQL_TOO_DEEP'],
    [
      'depth through fragments',
      '{ node { ...A } } fragment A on Node { child { child { child { child { child { child { ...B } } } } } } } fragment B on Node { child { child { child { child { child { child { id } } } } } } }',
      {},
      'GRAPHQL_TOO_DEEP',
    ],
    ['tokens', `{ ${'hello '.repeat(5_000)} }`, {}, 'GRAPHQL_TOO_MANY_TOKENS'],
    ['aliases', `{ ${Array.from({ length: 51 }, (_, i) => `a${i}: hello`).join(' ')} }`, {}, 'GRAPHQL_TOO_MANY_ALIASES'],
    ['directives', `{ hello ${'@include(if: true) '.repeat(21)} }`, {}, 'GRAPHQL_TOO_MANY_DIRECTIVES'],
    [
      'list sizes',
      '{ node { children(first: 100) { nodes { children(first: 100) { nodes { id } } } } } }',
      {},
      'GRAPHQL_TOO_COSTLY',
    ],
    [
      'list sizes by variable',
      'query ($n: Int) { node { children(first: $n) { nodes { children(first: $n) { nodes { id } } } } } }',
      { n: 100 },
      'GRAPHQL_TOO_COSTLY',
    ],
    ['lists in lists', '{ node { parts { parts { parts { parts { id } } } } } }', {}, 'GRAPHQL_TOO_COSTLY'],
    [
      'fragments that double',
      `{ node { ...F0 } } ${doubled.join(' ')} fragment F11 on Node { parts { id } }`,
      {},
      'GRAPHQL_TOO_',
    ],
    [
      'introspection many times over',
      `{ ${Array.from({ length: 20 }, (_, i) => `a${i}: __schema { types { name } }`).join(' ')} }`,
      {},
      'GRAPHQL_TOO_COSTLY',
    ],
    [
      'introspection in circles',
      '{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }',
      {},
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'fragments',
      `{ hello } ${Array.from({ length: 101 }, (_, i) => `fragment F${i} on Query { hello }`).join(' ')}`,
      {},
      'GRAPHQL_TOO_MANY_FRAGMENTS',
    ],
    [
      'fragments in circles',
      '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }',
      {},
      'GRAPHQL_VALIDATION_FAILED',
    ],
    ['brackets', `{ long(size: ${'['.repeat(1_900)}${']'.repeat(1_900)}) }`, {}, 'GRAPHQL_TOO_DEEP'],
    ['a few brackets too many', `{ long(size: ${'['.repeat(199)}${']'.repeat(199)}) }`, {}, 'GRAPHQL_TOO_DEEP'],
    ['as many brackets as may be', `{ long(size: ${'['.repeat(198)}${']'.repeat(198)}) }`, {}, 'GRAPHQL_VALIDATION_FAILED'],
  ])('%s', async (_case, query, variables, code) => {
    const { result: reply, elapsedMs } = await timed(() => post({ query, variables }));
    expect(reply.body.data).toBeUndefined();
    expect(reply.body.errors[0].extensions.code).toContain(code);
    expect(elapsedMs).toBeLessThan(1_000);
  });

  it('the same list is served when it is asked for in short pages', async () => {
    const query = 'query ($n: Int) { node { children(first: $n) { nodes { children(first: $n) { nodes { id } } } } } }';
    expect((await post({ query, variables: { n: 5 } })).body.errors).toBeUndefined();
  });

  it('a body above BODY_MAX_BYTES', async () => {
    // Not longer than what the service reads of a refused body: a client that sends more may be disconnected before it reads the reply.
    const reply = await post({ query: '{hello}', variables: { text: 'x'.repeat(1_000_000) } });
    expect(reply).toMatchObject({ status: 413, body: { errors: [{ extensions: { code: 'REQUEST_TOO_LARGE' } }] } });
  });

  it('answers the introspection query of tools', async () => {
    const { getIntrospectionQuery } = await import('graphql');
    const reply = await post({ query: getIntrospectionQuery() });
    expect(reply.body.errors).toBeUndefined();
    expect(reply.body.data.__schema.queryType.name).toBe('Query');
  });
});

describe('what another site could make a browser send', () => {
  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    '%s is refused',
    async (type) => {
      const reply = await post('{"query":"{hello}"}', { 'content-type': type });
      expect(reply).toMatchObject({ status: 403, body: { errors: [{ extensions: { code: 'FORBIDDEN' } }] } });
    },
  );
});

describe('uploads', () => {
  const mutation = 'mutation ($file: File!, $name: String) { upload(file: $file, name: $name) }';
  function form(content: string, map: unknown = { 0: ['variables.file'] }) {
    const data = new FormData();
    data.append('operations', JSON.stringify({ query: mutation, variables: { file: null, name: 'n' } }));
    data.append('map', JSON.stringify(map));
    data.append('0', new File([content], '../../etc/passwd.txt', { type: 'text/plain' }));
    return data;
  }
  const csrf = { 'x-graphql-yoga-csrf': '1' };

  it('hands a file to the resolver, its name made harmless, its size counted', async () => {
    const { body } = await post(form('hello file'), csrf);
    expect(body).toEqual({ data: { upload: 'n passwd.txt text/plain 10 hello file' } });
  });

  it('takes exactly the allowed size and not a byte more', async () => {
    expect((await post(form('x'.repeat(2_000_000)), csrf)).body.data.upload).toContain('2000000');
    const refused = await post(form('x'.repeat(2_000_001)), csrf);
    expect(refused).toMatchObject({ status: 413, body: { errors: [{ extensions: { code: 'REQUEST_TOO_LARGE' } }] } });
  });

  it.each([
    ['a file that is not there', { 7: ['variables.file'] }, 'MISSING_REQUIRED_PARAMETER'],
    ['a place that is not there', { 0: ['variables.input.file'] }, 'INVALID_VALUE'],
    ['a place that is taken', { 0: ['variables.name'] }, 'INVALID_VALUE'],
    ['a prototype', { 0: ['variables.__proto__.file'] }, 'INVALID_VALUE'],
    ['the query', { 0: ['query'] }, 'INVALID_VALUE'],
    ['a number in place of places', { 0: 5 }, 'INVALID_TYPE'],
    ['a place outside of a list', { 0: 'variables.file' }, 'INVALID_TYPE'],
  ])('refuses a map that names %s', async (_case, map, code) => {
    expect(await post(form('x', map), csrf)).toMatchObject({ status: 400, body: { errors: [{ extensions: { code } }] } });
  });
});

describe('GraphiQL', () => {
  it('is a page that loads nothing from elsewhere and needs no key', async () => {
    const reply = await fetch(`${frame.url}/graphql`, { headers: { accept: 'text/html,*/*' } });
    const page = await reply.text();
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page).not.toMatch(/<(script|link)[^>]+(src|href)="https?:/);
    expect(page).toContain('GraphiQL');
    expect(page.slice(0, 1_000)).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
  });
});
