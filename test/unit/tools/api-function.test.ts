import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DataFault, readApiFunction } from '../../../src/engine/tools/api-function/api-function.ts';
import { buildRequest } from '../../../src/engine/tools/api-function/request.ts';

const secrets: Readonly<Record<string, string>> = { KEY: 'k 1/2', PAIR: 'ann:p@ss' };

function request(data: Readonly<Record<string, unknown>>, args: Readonly<Record<string, unknown>> = {}) {
  const faults: DataFault[] = [];
  const tool = readApiFunction({ url: 'https://api.example.com/', ...data }, faults);
  expect(faults).toEqual([]);
  return buildRequest(tool, { args, secret: (key) => secrets[key] ?? '' });
}

describe('the call of an API_FUNCTION', () => {
  it('fills path, query, headers and body, each encoded for its place', () => {
    const data = {
      method: 'POST',
      url: 'https://api.example.com/v1/{city}/days?day={day}',
      query: { units: 'metric', tag: '{tags}', gone: '{absent}' },
      headers: { 'X-City': 'in {city}', 'X-Gone': '{absent}' },
      body: { q: '{text}', n: '{count}', list: ['{text}', 'x {text}'], gone: '{absent}', fixed: true },
      auth: { type: 'bearerToken', value: '{{secret:KEY}}' },
      parameters: { type: 'object', properties: { extra: {} } },
    };
    const made = request(data, {
      city: 'a/b?c#d',
      day: 'x&y=z',
      tags: ['a', 'b'],
      text: '"}{{secret:KEY}}{city}',
      count: 3,
      extra: 1,
    });
    expect(made.url).toBe('https://api.example.com/v1/a%2Fb%3Fc%23d/days?day=x%26y%3Dz&units=metric&tag=a&tag=b');
    expect(made.headers).toEqual({ 'x-city': 'in a/b?c#d', authorization: 'Bearer k 1/2', 'content-type': 'application/json' });
    // An inserted value is never searched for placeholders.
    const text = '"}{{secret:KEY}}{city}';
    expect(JSON.parse(String(made.body))).toEqual({ q: text, n: 3, list: [text, `x ${text}`], fixed: true, extra: 1 });
  });

  const parameters = { type: 'object', properties: { a: {} }, allOf: [{ $ref: '#/$defs/more' }] };
  const $defs = { more: { properties: { b: {} } } };

  it('puts declared arguments that no template names where the method takes them, and no others', () => {
    const args = { a: 1, b: ['x', 'y'], c: 2, constructor: 3, 'a[]': 4 };
    const declared = { parameters: { ...parameters, $defs } };
    expect(request({ method: 'GET', ...declared }, args).url).toBe('https://api.example.com/?a=1&b=x&b=y');
    expect(request({ method: 'PUT', ...declared }, args)).toMatchObject({
      url: 'https://api.example.com/',
      body: '{"a":1,"b":["x","y"]}',
    });
    expect(request({ method: 'PUT' }, args)).not.toHaveProperty('body');
  });

  it.each([
    ['apiKey in a header', { type: 'apiKey', value: '{{secret:KEY}}' }, { 'x-api-key': 'k 1/2' }],
    ['a named header', { type: 'header', name: 'X-Own', value: '{{secret:KEY}}' }, { 'x-own': 'k 1/2' }],
    [
      'basicAuth with a user',
      { type: 'basicAuth', username: 'ann', value: '{{secret:KEY}}' },
      { authorization: `Basic ${btoa('ann:k 1/2')}` },
    ],
    ['basicAuth as a pair', { type: 'basicAuth', value: '{{secret:PAIR}}' }, { authorization: `Basic ${btoa('ann:p@ss')}` }],
  ])('authenticates: %s', (_case, auth, headers) => {
    expect(request({ auth }).headers).toEqual(headers);
  });
  it('authenticates in the query, and by the user of the address', () => {
    expect(request({ auth: { type: 'apiKey', in: 'query', name: 'key', value: '{{secret:KEY}}' } }).url).toBe(
      'https://api.example.com/?key=k+1%2F2',
    );
    const made = request({ url: 'https://{{secret:PAIR}}@api.example.com/x' });
    expect(made).toMatchObject({ url: 'https://api.example.com/x', headers: { authorization: `Basic ${btoa('ann:p@ss')}` } });
  });

  it.each(['.', '..', ''])('refuses to climb in the path: "%s"', (city) => {
    expect(() => request({ url: 'https://api.example.com/a/{city}/b' }, { city })).toThrow();
  });
  it.each(['a\r\nX-Evil: 1', 'a\nb', '\u0000', '💥'])('refuses a header that would hold %j', (value) => {
    expect(() => request({ headers: { 'X-A': '{value}' } }, { value })).toThrow('X-A');
  });

  it('stays at its host and under its path, whatever the arguments', () => {
    const nasty = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('//evil.example', '@evil.example', '..', '%2e%2e', '/../../x', ':80', '?x', '#x', '\\evil'),
      fc.jsonValue({ maxDepth: 2 }),
    );
    fc.assert(
      fc.property(nasty, nasty, (a, b) => {
        let url: URL;
        try {
          url = new URL(request({ url: 'https://api.example.com:8443/v1/{a}/x{b}?c={b}', query: { d: '{a}' } }, { a, b }).url);
        } catch {
          return;
        }
        expect(url.origin).toBe('https://api.example.com:8443');
        expect(url.pathname).toMatch(/^\/v1\/[^/]+\/x[^/]*$/);
      }),
      { numRuns: 500 },
    );
  });
});
