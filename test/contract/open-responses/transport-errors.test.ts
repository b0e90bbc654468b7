import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { allRoutes } from '../../../src/rest/routes/index.ts';
import { type Reply, TestClient } from '../../support/client.ts';
import type { Person } from '../../support/make.ts';
import { gate } from '../../support/runs/research.ts';
import { errorReply } from '../../support/runs/response-schemas.ts';
import { responsesBench, responsesPath, testModel } from '../../support/runs/responses.ts';

/** Every refusal under /api/v2 has the format's shape, whether it happens before or after the request reaches its route. */
const bench = await responsesBench({ BODY_MAX_BYTES: '5000', BODY_IDLE_TIMEOUT_MS: '1000', RUNS_ACTIVE_MAX: '5' });
const one = `${responsesPath}/resp_none`;
const json = { 'content-type': 'application/json' };
const call =
  (method: string, path: string, body?: unknown, headers = {}) =>
  (who: TestClient) =>
    who.call(method, path, body, headers);
const stranger = () => new TestClient(() => bench.service.url, 'pk_unknown');

function errorOf({ status, headers, body }: Reply) {
  expect(headers.get('content-type')).toContain('application/json');
  expect(headers.get('x-request-id')).toMatch(/^req_/);
  const { type, code } = errorReply.parse(body).error;
  return [status, type, code];
}

describe('a request that reaches no route, or whose body is refused', () => {
  it.each<[string, (who: TestClient) => Promise<Reply>, unknown[]]>([
    ['the root', call('GET', '/api/v2'), [404, 'not_found', 'not_found']],
    ['a path of nothing', call('POST', '/api/v2/nothing', {}), [404, 'not_found', 'not_found']],
    ['a path behind a response', call('GET', `${one}/nothing?x=1`), [404, 'not_found', 'not_found']],
    ['a list of all', call('GET', responsesPath), [405, 'invalid_request', 'method_not_allowed']],
    ['another method', call('PUT', one, {}), [405, 'invalid_request', 'method_not_allowed']],
    ['reading what is done', call('GET', `${one}/cancel`), [405, 'invalid_request', 'method_not_allowed']],
    ['no JSON', call('POST', responsesPath, '{"input":', json), [400, 'invalid_request', 'invalid_json']],
    ['no UTF-8', call('POST', responsesPath, new Uint8Array([34, 255, 34]), json), [400, 'invalid_request', 'invalid_json']],
    ['no object', call('POST', responsesPath, '[]', json), [400, 'invalid_request', 'invalid_type']],
    [
      'another type',
      call('POST', responsesPath, 'input=Hi', { 'content-type': 'text/plain' }),
      [415, 'invalid_request', 'unsupported_media_type'],
    ],
    [
      'a compressed body',
      call('POST', responsesPath, '{}', { ...json, 'content-encoding': 'gzip' }),
      [415, 'invalid_request', 'unsupported_media_type'],
    ],
    ['a long body', call('POST', responsesPath, { input: 'x'.repeat(6_000) }), [413, 'invalid_request', 'request_too_large']],
    [
      'a long body to resume',
      call('POST', `${one}/resume`, { input: 'x'.repeat(6_000) }),
      [413, 'invalid_request', 'request_too_large'],
    ],
    ['a wrong query', call('GET', `${one}?stream=maybe`), [400, 'invalid_request', 'invalid_type']],
  ])('%s', async (_name, ask, expected) => {
    expect(errorOf(await ask(bench.ann))).toEqual(expected);
    // The key is checked first, on every path.
    expect(errorOf(await ask(bench.service.nobody))).toEqual([401, 'invalid_request', 'invalid_api_key']);
    expect(errorOf(await ask(stranger()))).toEqual([401, 'invalid_request', 'invalid_api_key']);
  });

  it('a method that is not there names those that are', async () => {
    expect((await bench.ann.put(one, {})).headers.get('allow')).toBe('GET, DELETE, HEAD, OPTIONS');
  });

  it('a body that stops coming', async () => {
    const { hostname, port } = new URL(bench.service.url);
    const socket = connect(Number(port), hostname);
    const head = [`POST ${responsesPath} HTTP/1.1`, 'host: x', `authorization: Bearer ${bench.ann.key}`];
    socket.write([...head, 'content-type: application/json', 'content-length: 10', '', '{'].join('\r\n'));
    let text = '';
    for await (const bytes of socket) {
      text += bytes;
      if (text.endsWith('}}')) break;
    }
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    const { error } = errorReply.parse(JSON.parse(text.slice(text.indexOf('\r\n\r\n'))));
    expect([error.type, error.code]).toEqual(['invalid_request', 'request_timeout']);
  });

  it('a key without scopes, at every route', async () => {
    const idle = await bench.make.withKey(bench.ann, { scopes: ['GROUPS:READ'] });
    const rows = allRoutes.filter(({ path }) => path.startsWith('/api/v2/'));
    expect(rows.length).toBeGreaterThan(7);
    for (const { method, path } of rows) {
      const reply = await idle.call(method, path.replace('{responseId}', 'resp_none'), method === 'post' ? {} : undefined);
      expect(errorOf(reply)).toEqual([403, 'invalid_request', 'insufficient_scope']);
    }
  });
});

it.each(['/api/v1', '/api/v1/nothing', '/api/v20/responses'])('%s keeps the words of the other formats', async (path) => {
  const { error } = (await bench.service.nobody.get(path)).body;
  expect(error).toMatchObject({ type: 'invalid_request_error', code: 'invalid_api_key' });
});

describe('a busy service', () => {
  const ask = (who: Person, members = {}) => bench.create({ store: false, ...members }, who);

  it.each([false, true])('429 for the key that has its share, 503 for all when it is full (stream %s)', async (stream) => {
    const hold = gate();
    bench.upstream.otherwise({ gate: hold.opened, text: 'Done.' });
    const busy = Array.from({ length: 4 }, () => ask(bench.ann));
    await bench.upstream.until(({ requests }) => requests.length === 4);
    const share = await ask(bench.ann, { stream });
    expect(errorOf(share)).toEqual([429, 'too_many_requests', 'rate_limit_exceeded']);
    const last = ask(bench.bob);
    await bench.upstream.until(({ requests }) => requests.length === 5);
    const full = await ask(bench.bob, { stream });
    expect(errorOf(full)).toEqual([503, 'server_error', 'overloaded']);
    for (const { headers } of [share, full]) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    hold.open();
    for (const { status } of await Promise.all([...busy, last])) expect(status).toBe(200);
  });

  it('429 for an organization that has used up its limit', async () => {
    const poor = await bench.make.person();
    await bench.service.client().patch(`/api/v1/admin/organizations/${poor.orgId}`, { apiUsageTokenLimit: 0 });
    expect(errorOf(await ask(poor))).toEqual([429, 'too_many_requests', 'insufficient_quota']);
  });
});

it('an idempotency key that came with another body', async () => {
  const headers = { 'idempotency-key': 'one' };
  const body = { model: testModel, input: 'Hi', store: false };
  expect((await bench.ann.post(responsesPath, body, headers)).status).toBe(200);
  const other = await bench.ann.post(responsesPath, { ...body, input: 'Ho' }, headers);
  expect(errorOf(other)).toEqual([422, 'invalid_request', 'idempotency_mismatch']);
});

describe('a request that offers another protocol', () => {
  const offer = async (path: string, key: string | undefined) => {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const socket = new WebSocket(`${bench.service.url.replace('http', 'ws')}${path}`, { headers });
    const [, reply] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    const text = (await Array.fromAsync(reply)).join('');
    const { type, code } = errorReply.parse(JSON.parse(text)).error;
    expect(reply.headers['x-request-id']).toMatch(/^req_/);
    return [reply.statusCode, type, code];
  };

  it('is refused in the words of the format', async () => {
    const reader = await bench.make.withKey(bench.ann, { scopes: ['CHATS:READ'] });
    expect(await offer(responsesPath, undefined)).toEqual([401, 'invalid_request', 'invalid_api_key']);
    expect(await offer(responsesPath, reader.key)).toEqual([403, 'invalid_request', 'insufficient_scope']);
    expect(await offer('/api/v2/nothing', bench.ann.key)).toEqual([404, 'not_found', 'not_found']);
    expect(await offer(one, bench.ann.key)).toEqual([404, 'not_found', 'not_found']);
  });

  it('is answered normally when the protocol is not supported: some clients offer h2c each time', async () => {
    const { hostname, port } = new URL(bench.service.url);
    const socket = connect(Number(port), hostname);
    const body = JSON.stringify({ model: testModel, input: 'Hi', store: false });
    const head = [`POST ${responsesPath} HTTP/1.1`, 'host: x', `authorization: Bearer ${bench.ann.key}`];
    const offered = ['connection: close, Upgrade, HTTP2-Settings', 'upgrade: h2c', 'http2-settings: AAMAAABk'];
    socket.write(
      [...head, ...offered, 'content-type: application/json', `content-length: ${body.length}`, '', body].join('\r\n'),
    );
    const text = (await Array.fromAsync(socket)).join('');
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toContain('It is 3.');
  });
});
