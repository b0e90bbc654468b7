import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiMethods } from '../../../src/engine/tools/api-function/api-function.ts';
import { propertyRuns } from '../../support/property/sample.ts';
import { queryOf, startToolCalls, type ToolCalls, type ToolData } from '../../support/runs/tool-calls.ts';

let api: ToolCalls;
beforeAll(async () => {
  api = await startToolCalls();
});
afterAll(() => api.close());

/** Random tools, and arguments of a hostile model. Fixed texts begin with F. */
const names = ['a', 'b', 'c'];
const fixedText = fc.integer({ min: 0, max: 99 }).map((n) => `F${n}`);
const holes = fc.constantFrom('{a}', '{b}', 'x {c} y', '{a.k}', '{"f":"F1","h":"{b}"}');
const memberName = fc.constantFrom('tenant', 'channel', 'dryRun', 'text', 'q', 'options', 'x.y', 'list[]');
const { body } = fc.letrec<{ body: unknown; leaf: unknown }>((tie) => ({
  leaf: fc.oneof(fixedText, fc.integer(), fc.boolean(), holes),
  body: fc.dictionary(
    memberName,
    fc.oneof({ depthSize: 'small' }, tie('leaf'), tie('body'), fc.array(tie('leaf'), { maxLength: 3 })),
    {
      maxKeys: 4,
    },
  ),
}));
const pairs = fc.uniqueArray(fc.tuple(memberName, fc.oneof(fixedText, fc.constantFrom('{a}', '{b}'))), {
  maxLength: 3,
  selector: ([name]) => name,
});
const hostileName = fc.oneof(
  fc.constantFrom(...names, 'tenant', 'Tenant', 'tenant[]', 'channel', 'CHANNEL', 'dryRun', 'options', 'x_y', 'list', 'list[1]'),
  fc.constantFrom('constructor', 'tenant%00', 'tenant&tenant', 'q=1&tenant', 'free', 'text\u0000'),
);
const hostileValue = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(
    '","tenant":"evil',
    '&tenant=evil',
    '/../../x',
    '..',
    '?tenant=evil#',
    '\r\nX-Evil: 1',
    '{a}',
    '{{secret:KEY}}',
    '#',
  ),
  fc.jsonValue({ maxDepth: 2 }),
  fc.constant({ k: 'v', tenant: 'evil' }),
);
const tools = fc.record({
  method: fc.constantFrom(...apiMethods.filter((method) => method !== 'HEAD')),
  body: fc.option(body, { nil: undefined }),
  search: pairs,
  query: pairs,
  declared: fc.uniqueArray(hostileName, { maxLength: 6 }),
});
/** Harmless values for most holes, so that most calls are made. Of two members of one name the last one counts. */
const harmless = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constant<[string, unknown][]>([
      ['a', 'ok'],
      ['b', 1],
    ]),
  },
  { weight: 1, arbitrary: fc.constant<[string, unknown][]>([['a', 'ok']]) },
  { weight: 1, arbitrary: fc.constant<[string, unknown][]>([]) },
);
const hostile = fc.array(fc.tuple(hostileName, hostileValue), { maxLength: 8 });
const entries = fc.tuple(hostile, harmless).map(([one, other]) => [...one, ...other]);
const jsonObject = (members: readonly (readonly [string, unknown])[]) =>
  `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;
const isHole = (text: string) => /\{[abc]/.test(text);

/** Whether a received value is what the author wrote, except for the holes. */
function expectFixed(written: unknown, got: unknown, args: ToolData): void {
  if (typeof written === 'string' && written.startsWith('{"f"')) expectFixed({ f: 'F1' }, JSON.parse(String(got)), args);
  else if (typeof written === 'string' && isHole(written)) return;
  else if (Array.isArray(written)) {
    const fixed = written.filter((one) => typeof one !== 'string' || !isHole(one));
    const rest = [...(got as unknown[])];
    for (const one of fixed) expect(rest.splice(0, rest.indexOf(one) + 1).at(-1)).toBe(one);
  } else if (typeof written === 'object' && written !== null) {
    for (const [name, one] of Object.entries(written)) {
      if (typeof one === 'string' && isHole(one) && !Object.hasOwn(got as object, name)) continue;
      expectFixed(one, (got as ToolData)[name], args);
    }
  } else expect(got).toBe(written);
}
/** A name as a lenient server reads it. */
const lenient = (name: string) =>
  name.toLowerCase().replace('%00', '\u0000').split('\u0000')[0]?.replace(/\[.*$/, '').trim() ?? '';

it('whatever the tool and the arguments, every fixed member arrives as it was written, and once', async () => {
  let arrived = 0;
  await fc.assert(
    fc.asyncProperty(tools, entries, async ({ method, body: written, search, query, declared }, members) => {
      const data = {
        method,
        url: `${api.url}/v1/fixed/s{a}/end?${search.map(([name, value]) => `${name}=${value}`).join('&')}`,
        query: Object.fromEntries(query),
        headers: { 'X-Fixed': 'F', 'X-Open': 'F {b}' },
        parameters: {
          type: 'object',
          properties: Object.fromEntries([...declared, ...names].map((name) => [name, {}])),
        },
        ...(written === undefined ? {} : { body: written }),
      };
      const request = await api.received(data, jsonObject(members));
      if (request === undefined) return;
      arrived += 1;
      const args = Object.fromEntries(members);
      const path = new URL(`http://a${request.path}`).pathname;
      expect(path).toMatch(/^\/v1\/fixed\/s[^/]+\/end$/);
      expect(request.headers['x-fixed']).toBe('F');
      expect(request.headers).not.toHaveProperty('x-evil');
      const sent = queryOf(request);
      for (const pair of [...search, ...query]) {
        const [name, value] = pair;
        const own = sent.filter(([other]) => other === name).map(([, text]) => text);
        if (!isHole(value)) expect(own).toContain(value);
        // Except for the author's own members, none has such a name, however a server parses it.
        const allowed = [...search, ...query].filter(([other]) => lenient(other) === lenient(name));
        const others = sent.filter(([other]) => lenient(other) === lenient(name));
        for (const [other] of others) expect(allowed.map(([known]) => known)).toContain(other);
        if (allowed.every(([, text]) => !isHole(text))) expect(others).toHaveLength(allowed.length);
      }
      const known = new Set([...[...search, ...query].map(([name]) => name), ...declared, ...names]);
      for (const [name] of sent) expect(known).toContain(name);
      if (written === undefined || request.body === '') return;
      const got = JSON.parse(request.body);
      expectFixed(written, got, args);
      for (const name of Object.keys(got))
        if (!Object.hasOwn(written as object, name)) expect([...declared, ...names]).toContain(name);
      for (const name of Object.keys(written as object)) {
        const alike = Object.keys(got).filter(
          (other) => lenient(other) === lenient(name) && !Object.hasOwn(written as object, other),
        );
        expect(alike).toEqual([]);
      }
    }),
    { numRuns: propertyRuns(400) },
  );
  expect(arrived).toBeGreaterThan(propertyRuns(100));
});
