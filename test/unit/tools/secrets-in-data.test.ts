import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { masker } from '../../../src/engine/tools/secrets/masking.ts';
import { extractSecrets } from '../../../src/engine/tools/secrets/secrets-in-data.ts';
import type { JsonObject } from '../../../src/entities/agents/part.ts';

const nobody = () => false;
const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJlLW9mLWNhbmFyeQ';

/** Data with a canary at a place where secrets go. */
const places: readonly (readonly [string, (canary: string) => JsonObject])[] = [
  ['auth.value', (canary) => ({ auth: { type: 'apiKey', value: canary } })],
  ['auth.token', (canary) => ({ auth: { type: 'bearerToken', token: canary } })],
  ['auth.password', (canary) => ({ auth: { type: 'basicAuth', username: 'ann', password: canary } })],
  ['auth, deeper', (canary) => ({ auth: { type: 'apiKey', config: { deep: [canary] } } })],
  ['Authorization', (canary) => ({ headers: { Authorization: `Bearer ${canary}` } })],
  ['Basic', (canary) => ({ headers: { authorization: `Basic ${canary}` } })],
  ['X-Api-Key', (canary) => ({ headers: { 'X-Api-Key': canary } })],
  ['X-Functions-Key', (canary) => ({ headers: { 'x-functions-key': canary } })],
  ['Cookie', (canary) => ({ headers: { Cookie: `sid=${canary}` } })],
  ['X-Auth-Token', (canary) => ({ headers: { 'X-Auth-Token': canary } })],
  ['a list of headers', (canary) => ({ headers: [{ name: 'Authorization', value: canary }] })],
  ['query', (canary) => ({ query: { api_key: canary } })],
  ['query key', (canary) => ({ query: { key: canary } })],
  ['the query of an address', (canary) => ({ url: `https://a.example/x?units=m&access_token=${canary}&q={q}` })],
  ['the user of an address', (canary) => ({ url: `https://${canary}:x@a.example/` })],
  ['the password of an address', (canary) => ({ server: { url: `postgres://u:${canary}@db/x` } })],
  ['a body', (canary) => ({ body: { login: { client_secret: canary } } })],
  ['a body as text', (canary) => ({ body: JSON.stringify({ a: [{ password: canary }] }) })],
  ['a form', (canary) => ({ body: `grant=x&client_secret=${canary}` })],
  ['an environment', (canary) => ({ env: { GITHUB_TOKEN: canary } })],
  ['arguments of a command', (canary) => ({ args: ['--api-key', canary] })],
  ['an argument of a command', (canary) => ({ args: [`--token=${canary}`] })],
  ['a default of a parameter', (canary) => ({ parameters: { properties: { password: { type: 'string', default: canary } } } })],
  ['an object of credentials', (canary) => ({ credentials: { one: { two: canary } } })],
  ['a private key', (canary) => ({ privateKey: canary })],
];

describe('secrets in the data of a tool', () => {
  it.each(places)('are taken out: %s', (_place, make) => {
    const { data, secrets } = extractSecrets('weather', make('CANARY-4711'), nobody);
    expect(JSON.stringify(data)).not.toContain('CANARY');
    expect(JSON.stringify(data)).toContain('{{secret:WEATHER_');
    expect(secrets.map(({ value }) => value).join(' ')).toContain('CANARY');
  });

  it.each([
    'sk-proj-abcdefghijklmnop1234',
    'ghp_abcdefghijklmnopqrst1234',
    'github_pat_abcdefghijklmnopqrst1234',
    'xoxb-1234567890-abcdef',
    'AKIAIOSFODNN7EXAMPLE',
    'AIzaSyA1234567890abcdefghijklmnopqrstuv',
    jwt,
    'Bearer abc123def456',
    '-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----',
  ])('are known by their form at any depth: %s', (secret) => {
    const { data } = extractSecrets('t', { a: [{ b: { note: `use ${secret} for it` } }] }, nobody);
    expect(JSON.stringify(data)).not.toContain(secret.replace('Bearer ', '').slice(0, 12));
  });

  it('leave a fixed point behind, and the same keys for the same data', () => {
    const given = Object.assign({}, ...places.map(([, make], index) => ({ [`p${index}`]: make(`CANARY-${index}`) })));
    const first = extractSecrets('t', given, nobody);
    expect(extractSecrets('t', given, nobody)).toEqual(first);
    expect(extractSecrets('t', first.data, nobody)).toEqual({ data: first.data, secrets: [], badNames: [] });
    expect(new Set(first.secrets.map(({ key }) => key)).size).toBe(first.secrets.length);
  });

  it('leave alone what is none', () => {
    const data = {
      description: 'Tells the weather of a city by its name',
      parameters: { type: 'object', properties: { token: { type: 'string', description: 'A word' }, city: { type: 'string' } } },
      method: 'POST',
      url: 'https://api.example.com/v1/{city}/days?units=metric&max_tokens=100&page_token={page}',
      headers: { Accept: 'application/json', 'X-User': '{user}', Authorization: 'Bearer {{secret:MINE}}' },
      query: { limit: '10', key: '{key}' },
      body: { maxTokens: 500, text: '{text}' },
      auth: { type: 'apiKey', in: 'header', name: 'X-Key', secretKey: 'WEATHER_KEY' },
    };
    const { data: clean, secrets } = extractSecrets('t', data, nobody);
    expect(secrets).toEqual([]);
    expect(clean).toEqual({ ...data, auth: { ...data.auth, value: '{{secret:WEATHER_KEY}}' } });
  });

  it('never throw, and never leave a value that stood under a telling name', () => {
    const canary = 'CANARY-8472';
    const name = fc.constantFrom(
      'headers',
      'auth',
      'password',
      'a',
      'token',
      'items',
      'query',
      'apiKey',
      'value',
      'name',
      'type',
    );
    const tree = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.string(),
        fc.integer(),
        fc.constant(null),
        fc.dictionary(name, tie('value'), { maxKeys: 4 }),
        fc.array(tie('value'), { maxLength: 3 }),
      ),
    })).value;
    fc.assert(
      fc.property(tree, (around) => {
        const { data } = extractSecrets('t', { around, api_secret: canary, list: [around, { password: canary }] }, nobody);
        expect(JSON.stringify(data)).not.toContain(canary);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a mask', () => {
  it('takes a secret out in every way it may be written', () => {
    const secret = 'pa"ss wörd/42';
    const mask = masker([secret]);
    const forms = [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret),
      Buffer.from(secret).toString('base64'),
      Buffer.from(secret).toString('hex'),
    ];
    for (const form of forms) expect(mask(`before ${form} after`)).toContain('[secret]');
    expect(masker(['Bearer abcdef'])('x abcdef y')).toBe('x [secret] y');
    expect(mask('nothing to hide')).toBe('nothing to hide');
  });
});

describe('headers', () => {
  it.each(['X-Acme-Auth', 'X-Team', 'Acme', 'X-User', 'tenant'])('%s carries a secret, however short', (name) => {
    const { data, secrets } = extractSecrets('desk', { headers: { [name]: 'pw-3-hunter' } }, () => false);
    expect(secrets.map(({ value }) => value)).toEqual(['pw-3-hunter']);
    expect(JSON.stringify(data)).not.toContain('hunter');
  });

  it.each(['Accept', 'content-type', 'User-Agent', 'anthropic-version', 'OpenAI-Beta', 'If-None-Match', 'Prefer'])(
    '%s carries none',
    (name) => {
      expect(extractSecrets('desk', { headers: { [name]: 'plain' } }, () => false).secrets).toEqual([]);
    },
  );

  it('that arguments fill stay templates', () => {
    const given = { headers: { 'X-Tenant': '{tenant}' } };
    expect(extractSecrets('desk', given, () => false)).toEqual({ data: given, secrets: [], badNames: [] });
  });
});
