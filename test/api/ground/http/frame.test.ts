import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DomainError } from '../../../../src/entities/ground/errors.ts';
import { eventOf, type Frame, type FrameOptions, startFrame, streamOf } from '../../../support/apis/rest-frame.ts';

const seen: Record<string, unknown>[] = [];
let frame: Frame;
/** A service that gives up slow bodies soon. */
let impatient: Frame;

beforeAll(async () => {
  const thing = {
    id: 'thing_1',
    name: 'Ada',
    color: 'RED',
    note: null,
    count: 3,
    tags: [],
    parts: { nodes: [{ id: 'p', note: null }] },
  };
  const resolvers: FrameOptions['resolvers'] = {
    thing: ({ id }) => {
      if (id === 'missing') throw new DomainError('NOT_FOUND', 'No such thing');
      if (id === 'broken') throw new Error('the secret reason');
      return { ...thing, id };
    },
    things: (args) => {
      seen.push(args);
      if (args.first === 999) throw new DomainError('INVALID_VALUE', 'first must be from 1 to 100', { param: 'first' });
      return { nodes: [thing], pageInfo: { hasNextPage: true, endCursor: 'c1' }, totalCount: 7 };
    },
    createThing: (args) => {
      seen.push(args);
      const input = args.input as Record<string, unknown>;
      if (input.name === 'refused') throw new DomainError('INVALID_VALUE', 'no', { param: 'isLoud' });
      return { ...thing, ...input, count: input.count ?? 1, tags: input.tags ?? [] };
    },
    uploadThing: async ({ id, file, name }) => {
      const { filename, mimeType, sizeBytes, stream } = file as {
        filename: string;
        mimeType: string;
        sizeBytes: number;
        stream(): AsyncIterable<Buffer>;
      };
      let count = 0;
      for await (const chunk of stream()) count += chunk.length;
      return { ...thing, id, name: name ?? filename, note: `${mimeType} ${sizeBytes}`, count };
    },
    runEvents: ({ input }) => {
      seen.push(input as Record<string, unknown>);
      return streamOf(async function* () {
        yield [eventOf(0), eventOf(1)];
        yield [eventOf(2)];
      });
    },
  };
  frame = await startFrame({ settings: { BODY_MAX_BYTES: '2000', CHAT_FILE_MAX_BYTES: '700000' }, resolvers });
  impatient = await startFrame({ settings: { BODY_IDLE_TIMEOUT_MS: '150' }, resolvers });
});
afterAll(() => Promise.all([frame.close(), impatient.close()]));

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

async function call(
  method: string,
  path: string,
  options: { key?: string; body?: unknown; headers?: Record<string, string>; at?: Frame } = {},
) {
  const { key = 'all', body, headers = {}, at = frame } = options;
  const isPlain =
    typeof body === 'string' || body instanceof FormData || body instanceof Uint8Array || body instanceof ReadableStream;
  const reply = await fetch(`${at.url}${path}`, {
    method,
    headers: {
      ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: (isPlain ? body : JSON.stringify(body)) as BodyInit, duplex: 'half' }),
  } as RequestInit);
  const text = await reply.text();
  const answer: Answer = { status: reply.status, headers: reply.headers, body: text.startsWith('{') ? JSON.parse(text) : text };
  return answer;
}

describe('authentication', () => {
  it.each([
    ['no header', {}],
    ['another scheme', { authorization: 'Basic YWxsOg==' }],
    ['an empty key', { authorization: 'Bearer ' }],
    ['two keys', { authorization: 'Bearer all all' }],
    ['an unknown key', { authorization: 'Bearer nobody' }],
    ['a key in another place', { 'x-api-key': 'all', cookie: 'authorization=all' }],
  ])('answers 401 to %s, before a bad body is looked at', async (_case, headers: Record<string, string>) => {
    const reply = await call('POST', '/api/v1/things?key=all', { key: '', body: '{{{', headers });
    expect(reply).toMatchObject({ status: 401, body: { error: { code: 'invalid_api_key', type: 'invalid_request_error' } } });
    expect(reply.headers.get('www-authenticate')).toBe('Bearer');
  });
  it('answers 401 while the body has not been sent', async () => {
    const never = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{')) });
    expect(await call('POST', '/api/v1/things', { key: 'nobody', body: never })).toMatchObject({ status: 401 });
  });
  it('answers 403 and names the scope, before a bad body is looked at', async () => {
    const reply = await call('POST', '/api/v1/things', { key: 'reader', body: '{{{' });
    expect(reply).toMatchObject({ status: 403, body: { error: { code: 'insufficient_scope', type: 'permission_error' } } });
    expect(JSON.stringify(reply.body)).toContain('AGENTS:WRITE');
  });
});

describe('every reply', () => {
  it('carries the request id of the caller, or a new one instead of a strange one', async () => {
    const given = await call('GET', '/api/v1/things', { headers: { 'x-request-id': 'abc-1' } });
    expect(given.headers.get('x-request-id')).toBe('abc-1');
    const strange = await call('GET', '/api/v1/nothing', { headers: { 'x-request-id': '<script>' } });
    expect(strange.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/);
  });
  it('forbids guessing, caching and framing, and reflects no origin', async () => {
    const { headers } = await call('GET', '/api/v1/things', { headers: { origin: 'https://example.com' } });
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });
  it('shows the members as its route says: nodes as a list, null as an empty text', async () => {
    const reply = await call('GET', '/api/v1/things/t1/parts');
    expect(reply).toMatchObject({ status: 200, body: { id: 't1', parts: [{ id: 'p', note: '' }] } });
  });
  it('hides internal errors', async () => {
    const reply = await call('GET', '/api/v1/things/broken');
    expect(reply).toMatchObject({ status: 500, body: { error: { code: 'server_error', type: 'server_error' } } });
    expect(JSON.stringify(reply.body)).not.toContain('secret');
  });
});

describe('paths and methods', () => {
  it('answers 404 in the common shape for a missing path', async () => {
    expect(await call('GET', '/api/v1/nothing')).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found', param: null } },
    });
    expect(await call('GET', '/api/v1/things/%E0%A4%A')).toMatchObject({ status: 404 });
    expect(await call('GET', '/api/v1/things/missing')).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  });
  it('answers 405 with what the path takes', async () => {
    const reply = await call('DELETE', '/api/v1/things');
    expect(reply).toMatchObject({ status: 405, body: { error: { code: 'method_not_allowed' } } });
    expect(reply.headers.get('allow')).toBe('GET, POST, HEAD, OPTIONS');
  });
  it('answers HEAD like GET without a body, and OPTIONS with what the path takes', async () => {
    expect(await call('HEAD', '/api/v1/things/a')).toMatchObject({ status: 200, body: '' });
    const options = await call('OPTIONS', '/api/v1/things', { key: '' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, POST, HEAD, OPTIONS']);
  });
  it.each([
    ['GET', '/api/v1/nothing'],
    ['GET', '/api/v1/things/%E0%A4%A'],
    ['DELETE', '/api/v1/things'],
  ])('says what is there to callers with a key only: %s %s', async (method, path) => {
    expect(await call(method, path, { key: '' })).toMatchObject({ status: 401, body: { error: { code: 'invalid_api_key' } } });
  });
  it('takes paths in their own case, with one slash at the end', async () => {
    expect(await call('GET', '/api/v1/Things')).toMatchObject({ status: 404 });
    expect(await call('GET', '/api/v1/things//')).toMatchObject({ status: 404 });
  });
  it('decodes path parameters and takes a slash at the end', async () => {
    expect(await call('GET', '/api/v1/things/a%2Fb%20c/')).toMatchObject({ status: 200, body: { id: 'a/b c' } });
  });
  it('leaves other paths to others', async () => {
    expect(await call('GET', '/console')).toMatchObject({ status: 418 });
  });
});

describe('replies', () => {
  it('leave out null members only where the route says so', async () => {
    const reply = await call('GET', '/api/v1/things/a');
    expect(reply.body).toEqual({ id: 'a', name: 'Ada', color: 'RED', count: 3, tags: [] });
  });
  it('wrap a connection with its next cursor', async () => {
    const reply = await call('GET', '/api/v1/things');
    expect(reply.body).toMatchObject({ data: [{ name: 'Ada' }], pagination: { nextCursor: 'c1' } });
  });
});

describe('parameters', () => {
  it('become variables of their types, and absent ones leave the defaults', async () => {
    await call('GET', '/api/v1/things?limit=5&color=RED&tags=a,b&tags=c&isLoud=true&unknown=1');
    expect(seen.at(-1)).toEqual({ first: 5, color: 'RED', tags: ['a', 'b', 'c'], isLoud: true });
    await call('GET', '/api/v1/things');
    expect(seen.at(-1)).toEqual({ first: 2 });
  });
  it.each([
    ['limit=x', 'limit', 'invalid_type'],
    ['limit=1.5', 'limit', 'invalid_type'],
    ['limit=', 'limit', 'invalid_type'],
    ['limit=1&limit=2', 'limit', 'invalid_value'],
    ['color=BLUE', 'color', 'invalid_value'],
    ['isLoud=yes', 'isLoud', 'invalid_type'],
    ['cursor=%00', 'cursor', 'invalid_value'],
    ['limit=999', 'limit', 'invalid_value'],
  ])('are refused by name: %s', async (query, param, code) => {
    expect(await call('GET', `/api/v1/things?${query}`)).toMatchObject({ status: 400, body: { error: { param, code } } });
  });
});

describe('bodies', () => {
  it('are read in snake case, and in camel case too; unknown members are dropped', async () => {
    const reply = await call('POST', '/api/v1/things', { body: { name: 'x', is_loud: true, nonsense: 1, __proto__x: 1 } });
    expect([reply.status, seen.at(-1)]).toEqual([201, { input: { name: 'x', isLoud: true, count: 1 } }]);
    await call('POST', '/api/v1/things', { body: { name: 'x', isLoud: false } });
    expect(seen.at(-1)).toEqual({ input: { name: 'x', isLoud: false, count: 1 } });
  });
  it('have members that the route keeps in camel case', async () => {
    await call('POST', '/api/v1/runs', { body: { prompt: 'p', metaData: 1 } });
    expect(seen.at(-1)).toEqual({ prompt: 'p', metaData: 1 });
    await call('POST', '/api/v1/runs', { body: { prompt: 'p', meta_data: 2 } });
    expect(seen.at(-1)).toEqual({ prompt: 'p', metaData: 2 });
    const { body } = await call('POST', '/api/v1/runs', { body: { prompt: 'p', max_tokens: 'x', metaData: 3 } });
    expect((body as { error: { param: string } }).error.param).toBe('max_tokens');
  });
  it('keep null apart from absent', async () => {
    await call('POST', '/api/v1/things', { body: { name: 'x', note: null } });
    expect(seen.at(-1)).toEqual({ input: { name: 'x', note: null, count: 1 } });
  });
  it.each([
    ['a number for a string', { name: 5 }, 'name', 'invalid_type'],
    ['nothing for a required member', {}, 'name', 'missing_required_parameter'],
    ['null for a required member', { name: null }, 'name', 'invalid_type'],
    ['a word for an enum', { name: 'x', color: 'BLUE' }, 'color', 'invalid_value'],
    ['a number for an enum', { name: 'x', color: 1 }, 'color', 'invalid_type'],
    ['a word for a boolean', { name: 'x', is_loud: 'yes' }, 'is_loud', 'invalid_type'],
    ['a fraction for an integer', { name: 'x', count: 1.5 }, 'count', 'invalid_type'],
    ['an object for an array', { name: 'x', tags: {} }, 'tags', 'invalid_type'],
    ['a null item', { name: 'x', tags: ['a', null] }, 'tags[1]', 'invalid_type'],
    ['a fault deep inside', { name: 'x', parts: [{ text: 't' }, { weight: 'w', text: 't' }] }, 'parts[1].weight', 'invalid_type'],
    ['a NUL character', { name: 'a\u0000b' }, 'name', 'invalid_value'],
    ['an array for the body', [], '', 'invalid_type'],
    ['a string for the body', '"x"', '', 'invalid_type'],
    ['null for the body', 'null', '', 'invalid_type'],
    ['what the domain refuses', { name: 'refused' }, 'is_loud', 'invalid_value'],
  ])('are refused by name: %s', async (_case, body, param, code) => {
    const reply = await call('POST', '/api/v1/things', { body });
    expect(reply).toMatchObject({ status: 400, body: { error: { param: param === '' ? null : param, code } } });
  });
  it('name the allowed values of an enum', async () => {
    const { body } = await call('POST', '/api/v1/things', { body: { name: 'x', color: 'BLUE' } });
    expect(JSON.stringify(body)).toContain('RED, GREEN');
  });
  it('have all their faults in one reply', async () => {
    const { body } = await call('POST', '/api/v1/things', { body: { color: 'BLUE', count: 'x', parts: [{}] } });
    const { errors } = (body as { error: { errors: { param: string }[] } }).error;
    expect(errors.map(({ param }) => param)).toEqual(['name', 'color', 'count', 'parts[0].text']);
  });
  it.each([
    ['{"name": "x",}', 'position 13'],
    ['{"name" "x"}', 'position 8'],
    ['{"name":"x"', 'position 11'],
    ['{\n "name": tru\n}', 'line 2, column 10'],
    ['[1, 2', 'position 5'],
    ['{"a":"\t"}', 'position 5'],
    [`${'['.repeat(1000)}`, 'position 1000'],
  ])('that are not JSON are told where: %s', async (body, place) => {
    const reply = await call('POST', '/api/v1/things', { body });
    expect(reply).toMatchObject({ status: 400, body: { error: { code: 'invalid_json' } } });
    expect(JSON.stringify(reply.body)).toContain(place);
  });
  it('must be UTF-8', async () => {
    const body = new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
    expect(await call('POST', '/api/v1/things', { body })).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_json' } },
    });
  });
  it.each([
    ['text/plain', {}],
    ['application/x-www-form-urlencoded', {}],
    ['application/json; charset=latin1', {}],
    ['application/json', { 'content-encoding': 'gzip' }],
  ])('of another type are refused: %s', async (type, extra) => {
    const headers = { 'content-type': type, ...extra };
    const reply = await call('POST', '/api/v1/things', { body: '{"name":"x"}', headers });
    expect(reply).toMatchObject({ status: 415, body: { error: { code: 'unsupported_media_type' } } });
  });
  it('pass up to the limit and not beyond, declared or in chunks', async () => {
    const body = (size: number) => JSON.stringify({ name: 'x'.repeat(size - 11) });
    const chunked = (text: string) => new Response(text).body;
    expect(await call('POST', '/api/v1/things', { body: body(2000) })).toMatchObject({ status: 201 });
    expect(await call('POST', '/api/v1/things', { body: chunked(body(2000)) })).toMatchObject({ status: 201 });
    const tooLarge = { status: 413, body: { error: { code: 'request_too_large' } } };
    expect(await call('POST', '/api/v1/things', { body: body(2001) })).toMatchObject(tooLarge);
    expect(await call('POST', '/api/v1/things', { body: chunked(body(2001)) })).toMatchObject(tooLarge);
  });
  it.each(['/api/v1/things', '/api/v1/things/t1/file'])('that stop arriving are refused in time: %s', async (path) => {
    const never = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('--b\r\n')) });
    const type = path.endsWith('file') ? 'multipart/form-data; boundary=b' : 'application/json';
    const reply = await call('POST', path, { body: never, headers: { 'content-type': type }, at: impatient });
    expect(reply).toMatchObject({ status: 408, body: { error: { code: 'request_timeout' } } });
  });
  it('cannot reach the prototype of anything', async () => {
    const body = '{"name":"x","extra":{"__proto__":{"polluted":1},"__proto\\u005f_":{"polluted":1},"constructor":{"a":1}}}';
    await call('POST', '/api/v1/things', { body });
    const { extra } = (seen.at(-1) as { input: { extra: Record<string, unknown> } }).input;
    expect(Object.keys(extra)).toEqual(['constructor']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('uploads', () => {
  const form = (size: number, filename = 'a.txt', extra: Record<string, string> = {}, field = 'file') => {
    const data = new FormData();
    data.append(field, new Blob([new Uint8Array(size)], { type: 'text/plain' }), filename);
    for (const [name, value] of Object.entries(extra)) data.append(name, value);
    return data;
  };
  it('hand over every byte, with fields that come after the file', async () => {
    const reply = await call('POST', '/api/v1/things/t1/file', { body: form(600_000, 'a.txt', { name: 'later' }) });
    expect(reply).toMatchObject({ status: 200, body: { id: 't1', name: 'later', note: 'text/plain 600000', count: 600_000 } });
  });
  it('pass at the limit and not one byte above it', async () => {
    expect(await call('POST', '/api/v1/things/t1/file', { body: form(700_000) })).toMatchObject({
      status: 200,
      body: { count: 700_000 },
    });
    const reply = await call('POST', '/api/v1/things/t1/file', { body: form(700_001) });
    expect(reply).toMatchObject({ status: 413, body: { error: { code: 'request_too_large', param: 'file' } } });
  });
  it('keep nothing of a path or of control characters in the name', async () => {
    const reply = await call('POST', '/api/v1/things/t1/file', { body: form(1, '../../etc/pass\u202ewd') });
    expect(reply).toMatchObject({ body: { name: 'passwd' } });
  });
  it.each([
    ['no file', () => new FormData(), 400, 'missing_required_parameter'],
    ['the file in another field', () => form(1, 'a', {}, 'other'), 400, 'invalid_value'],
    ['a bad field', () => form(1, 'a', { color: 'BLUE' }), 400, 'invalid_value'],
    ['JSON', () => ({ file: 'x' }), 415, 'unsupported_media_type'],
  ])('are refused: %s', async (_case, body, status, code) => {
    const reply = await call('POST', '/api/v1/things/t1/file', { body: body() });
    expect(reply).toMatchObject({ status, body: { error: { code } } });
  });
  it('are refused in words that name the field of the file, whatever else the body is', async () => {
    for (const type of ['application/json', 'multipart/form-data', 'multipart/mixed; boundary=b', 'text/plain']) {
      const reply = await call('POST', '/api/v1/things/t1/file', { body: '{}', headers: { 'content-type': type } });
      const message = 'The body must be multipart/form-data with a file in "file"';
      expect(reply, type).toMatchObject({ status: 415, body: { error: { message } } });
    }
  });
  it('that break off are refused and forgotten', async () => {
    const text = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nabc';
    const reply = await call('POST', '/api/v1/things/t1/file', {
      body: text,
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    });
    expect(reply).toMatchObject({ status: 400 });
  });
});

describe('bare files', () => {
  const put = (body: unknown, headers: Record<string, string> = { 'content-type': 'image/png; a=b' }, query = '', at = frame) =>
    call('PUT', `/api/v1/things/t1/content${query}`, { body, headers, at });
  const chunked = (size: number) => new Response(new Uint8Array(size)).body;

  it('hand over every byte and the declared type, whether the length is declared or not', async () => {
    const whole = { status: 200, body: { id: 't1', note: 'image/png 600000', count: 600_000 } };
    expect(await put(new Uint8Array(600_000))).toMatchObject(whole);
    expect(await put(chunked(600_000), undefined, '?color=RED')).toMatchObject(whole);
    expect(await put(new Uint8Array(0), { 'content-type': '' })).toMatchObject({ body: { note: 'application/octet-stream 0' } });
  });
  it('pass at the limit and not one byte above it, declared or in chunks', async () => {
    expect(await put(chunked(700_000))).toMatchObject({ status: 200, body: { count: 700_000 } });
    const tooLarge = { status: 413, body: { error: { code: 'request_too_large', param: 'file' } } };
    expect(await put(new Uint8Array(700_001))).toMatchObject(tooLarge);
    expect(await put(chunked(700_001))).toMatchObject(tooLarge);
  });
  it('are refused as a form, compressed, or with a bad parameter', async () => {
    expect(await put(new FormData(), {})).toMatchObject({ status: 415 });
    expect(await put('x', { 'content-encoding': 'gzip' })).toMatchObject({ status: 415 });
    expect(await put('x', {}, '?color=BLUE')).toMatchObject({ status: 400, body: { error: { param: 'color' } } });
  });
  it('that stop arriving are refused in time', async () => {
    const never = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(10)) });
    expect(await put(never, undefined, '', impatient)).toMatchObject({
      status: 408,
      body: { error: { code: 'request_timeout' } },
    });
  });
});

describe('runs', () => {
  it('are folded into one body when no stream is asked for', async () => {
    const reply = await call('POST', '/api/v1/runs', { body: { prompt: 'p', max_tokens: 3, stream: false } });
    expect(reply).toMatchObject({ status: 200, body: { count: 3, variables: { input: { prompt: 'p', maxTokens: 3 } } } });
    expect([reply.headers.get('x-model'), reply.headers.get('x-row')]).toEqual(['tiny', 'run']);
  });
  it('leave no count behind', async () => {
    await call('POST', '/api/v1/runs', { body: { prompt: 'p' } });
    await call('POST', '/api/v1/runs', { body: { prompt: 5 } });
    expect(frame.admission.activeCount).toBe(0);
  });
});
