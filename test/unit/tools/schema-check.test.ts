import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSchemaCheck } from '../../../src/engine/tools/json-schema/check.ts';
import { readSchema } from '../../../src/engine/tools/json-schema/read-schema.ts';
import { cpuMs } from '../../support/processes/clock.ts';

type Schema = Readonly<Record<string, unknown>>;

const ajv = new Ajv2020({ strict: false, validateFormats: true, logger: false });
addFormats.default(ajv, { mode: 'fast' });

describe('a schema of a tool is bounded', () => {
  const properties = (count: number): Schema => ({
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: count }, (_, place) => [`p${place}`, {}])),
  });
  const nested = (depth: number): Schema => (depth === 0 ? {} : { items: nested(depth - 1) });

  it('to 1,000 schemas, also where references repeat them', () => {
    expect(() => readSchema(properties(999), 'tool')).not.toThrow();
    expect(() => readSchema(properties(1_000), 'tool')).toThrow('at most 1000 schemas');
    const repeats = Object.fromEntries(Array.from({ length: 12 }, (_, place) => [`r${place}`, { $ref: '#/$defs/big' }]));
    const repeated = { $defs: { big: properties(90) }, type: 'object', properties: repeats };
    expect(() => readSchema(repeated, 'tool')).toThrow('references written out');
    expect(() => readSchema(properties(1_000), 'answer')).not.toThrow();
  });

  it.each([
    ['a number', { properties: { a: 5 } }],
    ['null', { items: null }],
    ['a list', { not: [] }],
    ['a text in a list', { anyOf: ['string'] }],
  ])('to schemas: %s in place of one is refused', (_what, schema) => {
    expect(() => readSchema(schema, 'tool')).toThrow('must be a JSON Schema: an object');
  });

  it('to 48 schemas within each other', () => {
    expect(() => readSchema(nested(24), 'tool')).not.toThrow();
    expect(() => readSchema(nested(60), 'tool')).toThrow('at most 48 schemas deep');
  });
});

describe('a schema is read as the reference checker reads it', () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const name = fc.constantFrom('a', 'b', 'c');
  const object = fc.dictionary(name, fc.oneof(value, fc.constantFrom(1, 2, 'x', 'ab', '2026-01-02', null, [1, 1], { a: 1 })));
  const count = fc.integer({ min: 0, max: 3 });
  const type = fc.constantFrom('object', 'array', 'string', 'number', 'integer', 'boolean', 'null');
  const { schema } = fc.letrec((tie) => {
    const one = tie('schema');
    const some = fc.array(one, { minLength: 1, maxLength: 3 });
    const keywords: readonly (readonly [readonly string[], fc.Arbitrary<unknown>])[] = [
      [['type'], fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 }))],
      [['enum'], fc.uniqueArray(value, { minLength: 1, maxLength: 3, selector: (literal) => JSON.stringify(literal) })],
      [['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength', 'minItems', 'maxItems'], count],
      [['minProperties', 'maxProperties', 'minContains', 'maxContains'], count],
      [['multipleOf'], fc.integer({ min: 1, max: 3 })],
      [['pattern'], fc.constantFrom('^a', 'b+$', '[0-9]{2}')],
      [['format'], fc.constantFrom('date', 'email', 'uuid')],
      [['uniqueItems'], fc.boolean()],
      [['required'], fc.uniqueArray(name)],
      [['properties', 'dependentSchemas'], fc.dictionary(name, one)],
      [['patternProperties'], fc.dictionary(fc.constantFrom('^a', 'b'), one)],
      [['dependentRequired'], fc.dictionary(name, fc.uniqueArray(name))],
      [['additionalProperties', 'propertyNames', 'items', 'contains', 'not', 'if', 'then', 'else'], one],
      [['prefixItems', 'anyOf', 'oneOf', 'allOf'], some],
      [['$ref'], fc.constant('#/$defs/d')],
    ];
    const member = fc.oneof(...keywords.map(([names, arbitrary]) => fc.tuple(fc.constantFrom(...names), arbitrary)));
    const members = fc.array(member, { maxLength: 5 }).map((pairs) => {
      const { contains, ...rest } = Object.fromEntries(pairs) as Schema;
      // The reference checker ignores `contains` for arrays that are shorter than `prefixItems` of the same schema.
      return (contains === undefined || rest.prefixItems !== undefined ? rest : { ...rest, contains }) as unknown;
    });
    return { schema: fc.oneof({ maxDepth: 3 }, fc.boolean(), members) };
  });

  it('whatever the schema and the value', () => {
    fc.assert(
      fc.property(schema, schema, fc.oneof(object, value, fc.array(object)), (given, definition, generated) => {
        // The reference checker does not accept 1e21 as a whole number.
        const json: unknown = JSON.parse(JSON.stringify(generated), (_key, member: unknown) =>
          typeof member === 'number' ? Math.round((member % 10) * 2) / 2 : member,
        );
        const root = { allOf: [given], $defs: { d: definition } } as Schema;
        // The reference checker never ends for a definition that refers to itself.
        fc.pre(!JSON.stringify(definition).includes('$ref'));
        expect(createSchemaCheck(root)(json) === undefined, JSON.stringify([root, json])).toBe(ajv.validate(root, json));
      }),
      { numRuns: 400 },
    );
  });

  const formats: Readonly<Record<string, readonly string[]>> = {
    date: ['2026-01-31', '2026-19-39', '2026-02-30'],
    'date-time': ['2026-01-31T10:20:30Z', '2026-01-31t23:59:60.5+01:30', '2026-01-31T10:20:30+0130', '2026-01-31T10:20:30-05'],
    time: ['10:20:30Z', '23:59:60z', '29:00:00.123-0500', '10:20:30+05'],
    email: ['ann.b+c@mail.example.com', '_{}~@x', 'a@a-b.c1', '.a.@b'],
    uri: ['https://example.com/a?b#c', 'urn:a', 'a+b-.c:', 'x://'],
    uuid: ['123e4567-e89b-12d3-a456-426614174000', 'urn:uuid:123E4567-E89B-12D3-A456-426614174000'],
    ipv4: ['127.0.0.1', '255.249.199.10', '1.2.3.04', '256.1.1.1'],
    ipv6: ['::1', 'fe80::1%eth0', '1:2:3:4:5:6:7:8', '::ffff:1.2.3.4', '1:2:3:4:5:6:1.2.3.4', '1::8', '::'],
    hostname: ['a', 'xn--a.b-c.example.', `${'a'.repeat(63)}.b`, 'a..b', '-a', `${'ab.'.repeat(84)}ab`],
  };

  it.each(Object.entries(formats))(
    'in the format %s, of right texts and of such that are wrong in a place or two',
    (format, texts) => {
      const change = fc.tuple(
        fc.nat(80),
        fc.nat(2),
        fc.string({ maxLength: 2, unit: fc.constantFrom(...'0159azAZ.:-_@/+%T Zé\n\ud83d') }),
      );
      const changedText = fc.tuple(fc.constantFrom(...texts), fc.array(change, { maxLength: 2 })).map(([text, changes]) =>
        changes.reduce((rest, [at, removed, added]) => {
          const place = at % (rest.length + 1);
          return rest.slice(0, place) + added + rest.slice(place + removed);
        }, text),
      );
      const check = createSchemaCheck({ format });
      const reference = ajv.compile({ format });
      fc.assert(
        fc.property(changedText, (text) => {
          expect(check(text) === undefined, text).toBe(reference(text));
        }),
        { numRuns: 3_000, examples: texts.map((text) => [text]) },
      );
    },
  );

  it('but for one thing: a list that is shorter than its first items must contain what it must contain', () => {
    const given = { prefixItems: [{ type: 'string' }], contains: {} };
    expect(createSchemaCheck(given)([])).toMatchObject({ schema: '.contains' });
    expect(createSchemaCheck(given)(['x'])).toBeUndefined();
  });
});

describe('a fault', () => {
  const item = { type: 'object', properties: { price: { type: ['number', 'null'] } }, required: ['price'] };
  const order = { type: 'object', properties: { items: { type: 'array', items: item } }, additionalProperties: false };
  it.each<[string, unknown, unknown, object]>([
    [
      'names both places',
      order,
      { items: [{ price: 1 }, { price: 'x' }] },
      { value: '.items[1].price', schema: '.properties.items.items.properties.price.type', message: 'must be number, null' },
    ],
    ['names what is missing', order, { items: [{}] }, { value: '.items[0]', message: "must have required property 'price'" }],
    ['names what is too much', order, { more: 1 }, { value: '', message: "must NOT have the additional property 'more'" }],
    [
      'is of the alternative that came furthest',
      { anyOf: [{ type: 'null' }, order] },
      { items: [{ price: true }] },
      { value: '.items[0].price' },
    ],
  ])('%s', (_name, given, json, expected) => {
    expect(createSchemaCheck(given as Schema)(json)).toMatchObject(expected);
  });
});

describe('the work of a check is bounded', () => {
  const tree = {
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, additionalProperties: false } },
  };
  const list = (length: number) => JSON.parse(`${'{"next":'.repeat(length)}{}${'}'.repeat(length)}`) as unknown;

  it('a schema that names itself is followed as deep as the value goes', () => {
    const check = createSchemaCheck({ ...tree, $ref: '#/$defs/node' });
    expect(check(list(50))).toBeUndefined();
    expect(check({ next: { next: { other: 1 } } })).toMatchObject({ value: '.next.next' });
    expect(check(list(5_000))).toMatchObject({ message: expect.stringContaining('too deep') });
  });

  it.each<[string, Schema, unknown]>([
    ['a schema that names nothing but itself', { $ref: '#' }, 1],
    [
      'alternatives that double with every level',
      {
        $defs: {
          n: {
            anyOf: [
              { items: { $ref: '#/$defs/n' }, maxItems: 0 },
              { items: { $ref: '#/$defs/n' }, not: {} },
            ],
          },
        },
        $ref: '#/$defs/n',
      },
      JSON.parse(`${'['.repeat(60)}${']'.repeat(60)}`),
    ],
    ['a pattern that could go back for ever', { items: { pattern: '^(a+)+$' } }, Array(200).fill(`${'a'.repeat(9_000)}!`)],
    ['many patterns', { allOf: Array.from({ length: 20_000 }, (_, n) => ({ pattern: `^${n}[a-z]{1,200}` })) }, 'x'],
    [
      'literals that are never reached',
      { items: { anyOf: Array(50).fill({ const: Array(20_000).fill(1) }) } },
      Array(1_000).fill('x'),
    ],
    ['big literals held against many values', { items: { enum: [Array(20_000).fill(1), [2]] } }, Array(3_000).fill([3])],
  ])('%s', (_name, given, json) => {
    expect(cpuMs(() => expect(createSchemaCheck(given)(json)).toBeDefined())).toBeLessThan(3_000);
  });

  it('alternatives within alternatives cost no more than they are many', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [
        `d${n}`,
        { oneOf: [{ type: 'null' }, n === 59 ? { type: 'object' } : { $ref: `#/$defs/d${n + 1}` }] },
      ]),
    );
    expect(createSchemaCheck({ $ref: '#/$defs/d0', $defs })({ a: 1 })).toBeUndefined();
  });

  it('patterns that need more than linear time say nothing, nor does what is not known', () => {
    const check = createSchemaCheck({ type: 'string', pattern: '(?=.*[A-Z]).+', unevaluatedItems: false, format: 'iri' });
    expect(check('no capitals')).toBeUndefined();
    expect(check(1)).toBeDefined();
  });
});
