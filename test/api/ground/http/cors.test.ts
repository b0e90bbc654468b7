import { describe, expect, it } from 'vitest';
import { parseCorsOrigins } from '../../../../src/lib/settings/cors-origins.ts';
import { withService } from '../../../support/service.ts';

const origin = 'https://app.example.com';
const stranger = 'https://other.example.com';
const { service: listed } = await withService('plain', { env: { CORS_ORIGINS: `${origin}, capacitor://localhost` } });
const { service: open } = await withService('plain', { env: { CORS_ORIGINS: '*' } });
const { service: closed } = await withService('plain');

const paths = [
  '/graphql',
  '/graphql/stream',
  '/api/v1/chat/completions',
  '/api/v1/nothing',
  '/nothing',
  '/openapi.json',
  '/readyz',
];

/** What a browser asks before a request with these headers. */
const preflight = (from: string, headers = 'authorization, content-type') => ({
  origin: from,
  'access-control-request-method': 'POST',
  'access-control-request-headers': headers,
});

describe('a preflight', () => {
  it.each(paths)('of a listed origin is answered at %s, without a key and without credentials', async (path) => {
    const { status, headers } = await listed.nobody.call('OPTIONS', path, undefined, preflight(origin));
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    expect(headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, PUT, PATCH, DELETE');
    expect(headers.get('access-control-max-age')).toBe('7200');
    expect(headers.get('vary')).toBe('Origin, Access-Control-Request-Headers');
    expect(headers.get('x-request-id')).toMatch(/./);
    expect(headers.has('access-control-allow-credentials')).toBe(false);
  });

  it('allows the headers of common clients, and no unknown ones', async () => {
    const common = [
      ...[
        'authorization',
        'content-type',
        'accept',
        'last-event-id',
        'idempotency-key',
        'x-request-id',
        'traceparent',
        'user-agent',
      ],
      ...['x-stainless-lang', 'x-stainless-retry-count', 'openai-organization', 'openai-beta', 'x-parley-extensions'],
      ...['x-graphql-event-stream-token', 'x-graphql-yoga-csrf', 'apollo-require-preflight', 'graphql-require-preflight'],
    ];
    const asked = preflight(origin, [...common, 'x-unknown'].join(','));
    const { headers } = await listed.nobody.call('OPTIONS', '/graphql', undefined, asked);
    const allowed = headers.get('access-control-allow-headers')?.split(', ') ?? [];
    expect(allowed).toEqual(expect.arrayContaining(common));
    expect(allowed).not.toContain('x-unknown');
  });

  it.each(paths)('of another origin is not allowed at %s', async (path) => {
    const { headers } = await listed.nobody.call('OPTIONS', path, undefined, preflight(stranger));
    expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    expect(headers.get('vary')).toBe('Origin');
  });
});

describe('a reply', () => {
  const requests: readonly (readonly [string, string, string, unknown, number])[] = [
    ['REST', 'GET', '/api/v1/models', undefined, 200],
    ['GraphQL', 'POST', '/graphql', { query: '{ __typename }' }, 200],
    ['a GraphQL document with a fault', 'POST', '/graphql', { query: '{ nothing }' }, 200],
    ['a body with a fault', 'POST', '/api/v1/chat/completions', { model: 7 }, 400],
    ['an unknown path', 'GET', '/nothing', undefined, 404],
    ['an unknown path of the API', 'GET', '/api/v1/nothing', undefined, 404],
    ['a wrong method', 'PUT', '/api/v1/models', undefined, 405],
    ['the description', 'GET', '/openapi.json', undefined, 200],
  ];
  it.each(requests)('of %s (%s %s) can be read by a listed origin', async (_what, method, path, body, status) => {
    const reply = await listed.client().call(method, path, body, { origin });
    expect(reply.status).toBe(status);
    expect(reply.headers.get('access-control-allow-origin')).toBe(origin);
    expect(reply.headers.get('vary')?.split(', ')).toContain('Origin');
    const exposed = reply.headers.get('access-control-expose-headers')?.split(', ') ?? [];
    expect(exposed).toEqual(
      expect.arrayContaining(['x-request-id', 'retry-after', 'x-ratelimit-remaining', 'content-disposition']),
    );
    // Every header of the service's own that this reply has can be read too.
    const own = [...reply.headers.keys()].filter((name) =>
      /^(x-(?!content-type-options)|retry-after|allow$|idempotency)/.test(name),
    );
    expect(exposed).toEqual(expect.arrayContaining(own));
  });

  it.each(['/api/v1/models', '/graphql', '/graphql/stream'])('of 401 at %s can be read by a listed origin', async (path) => {
    const reply = await listed.nobody.call(path === '/api/v1/models' ? 'GET' : 'POST', path, undefined, { origin });
    expect(reply.status).toBe(401);
    expect(reply.headers.get('access-control-allow-origin')).toBe(origin);
  });

  it('to an app with a scheme of its own can be read when it is listed', async () => {
    const reply = await listed.client().get('/api/v1/models', { origin: 'capacitor://localhost' });
    expect(reply.headers.get('access-control-allow-origin')).toBe('capacitor://localhost');
  });

  it.each([
    ['another origin', { origin: stranger }],
    ['an origin that begins alike', { origin: `${origin}.evil.test` }],
    ['the origin "null"', { origin: 'null' }],
    ['no origin', {}],
  ])('to %s says only that it depends on the origin', async (_who, headers: Record<string, string>) => {
    const reply = await listed.client().get('/api/v1/models', headers);
    expect([...reply.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    expect(reply.headers.get('vary')).toBe('Origin');
  });
});

it('CORS_ORIGINS=* allows every origin', async () => {
  const asked = await open.nobody.call('OPTIONS', '/graphql', undefined, preflight(stranger));
  const reply = await open.nobody.get('/api/v1/models', { origin: stranger });
  for (const { headers } of [asked, reply]) expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(reply.status).toBe(401);
});

it('without CORS_ORIGINS no other origin is allowed', async () => {
  const asked = await closed.nobody.call('OPTIONS', '/graphql', undefined, preflight(origin));
  const reply = await closed.client().get('/api/v1/models', { origin });
  for (const { headers } of [asked, reply]) {
    expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
  }
});

it('CORS_ORIGINS is read as browsers write origins', () => {
  const read = parseCorsOrigins('HTTPS://App.Example.com:443, http://localhost:5173 ,');
  expect(read).toEqual(new Set(['https://app.example.com', 'http://localhost:5173']));
  expect(parseCorsOrigins(' ')).toBeUndefined();
});
