import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileArguments } from '../../../src/engine/tools/json-schema/arguments.ts';
import { createSchemaCheck } from '../../../src/engine/tools/json-schema/check.ts';
import { compileLinearPattern, PatternError } from '../../../src/engine/tools/json-schema/linear-pattern.ts';
import { readSchema, SchemaError } from '../../../src/engine/tools/json-schema/read-schema.ts';
import { cpuMs } from '../../support/processes/clock.ts';

const compiled = (source: string) => compileLinearPattern(source, () => undefined);

describe('a pattern', () => {
  // Syntax that RE2 reads differently, or not at all, unless it is rewritten.
  const odd = [
    '\\s',
    '\\S',
    '[\\s]',
    '[^\\s]',
    '[\\Sb]',
    '[\\w-]',
    '[[a]',
    '[[:a]',
    '\\b',
    '\\u00a0',
    '\\u{a0}',
    '(?<n>a)',
    '\\/',
    '-',
  ];
  const piece = fc.constantFrom('a', 'b', 'ab', '[ab]', '[^a]', '.', '\\d', '\\w', '(a|b)', '(?:ab)', '^', '$', ...odd);
  const quantifier = fc.constantFrom('', '*', '+', '?', '{2}', '{1,2}', '{1,}', '*?');
  const pattern = fc
    .array(fc.tuple(piece, quantifier), { minLength: 1, maxLength: 5 })
    .map((parts) => parts.map(([atom, times]) => (['^', '$', '\\b'].includes(atom) ? atom : atom + times)).join(''));

  it('matches what the engine of the language matches', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          pattern,
          fc.tuple(pattern, pattern).map((two) => two.join('|')),
        ),
        fc.string({
          unit: fc.constantFrom('a', 'b', '1', ' ', '\n', '\r', '\u00a0', '\u2028', '\u2029', '\ufeff', '[', '-', '/'),
        }),
        (source, text) => {
          // Two groups of one name are invalid in both.
          fc.pre(source.split('(?<n>').length < 3);
          expect(compiled(source).test(text), JSON.stringify([source, text])).toBe(new RegExp(source, 'u').test(text));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it.each(['^(a+)+$', '(x+x+)+y', '^(a|a)*$', '.*.*.*.*=.*'])('takes time in proportion to the text: %s', (source) => {
    const pattern = compiled(source);
    expect(cpuMs(() => expect(pattern.test(`${'a'.repeat(60_000)}!`)).toBe(false))).toBeLessThan(2_000);
  });

  it.each(['[\\w-\\.]+@a', '\\-\\@', 'a\\_'])('may be written in the older syntax: %s', (source) => {
    expect(compiled(source).test('x.-@a_')).toBe(new RegExp(source).test('x.-@a_'));
  });

  it.each([
    '(?=a)b',
    '(?<!a)b',
    '(a)\\1',
    '(a',
    'a)',
    '[z-a]',
    '*a',
    'a{500}',
    '(((a{100}){100}){100})',
    '(((((((){200}){200}){200}){200}){200}){200}){200}',
    `${'a'.repeat(600)}`,
  ])('is refused when it could not be walked that way: %s', (source) => {
    expect(() => compiled(source)).toThrow(PatternError);
  });
});

describe('a schema of a tool', () => {
  it('is checked with its local references written out', () => {
    const read = compileArguments({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { city: { $ref: '#/$defs/city' }, days: { type: 'integer', minimum: 1, maximum: 7 } },
      $defs: { city: { type: 'string', pattern: '^[A-Z][a-z]+$' } },
      required: ['city'],
      additionalProperties: false,
    });
    expect(read('{"city":"Paris","days":3}')).toEqual({ value: { city: 'Paris', days: 3 } });
    for (const wrong of [
      '{"city":"paris"}',
      '{}',
      '[]',
      'null',
      '{',
      '{"city":"Paris","days":9}',
      '{"city":"Paris","x":1}',
      '"Paris"',
    ]) {
      expect(read(wrong), wrong).toHaveProperty('fault');
    }
  });

  it('cannot grow by references that name references', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 30 }, (_, level) => [
        `d${level}`,
        { allOf: [{ $ref: `#/$defs/d${level + 1}` }, { $ref: `#/$defs/d${level + 1}` }] },
      ]),
    );
    expect(() => readSchema({ $defs: { ...$defs, d30: {} }, $ref: '#/$defs/d0' }, 'tool')).toThrow(SchemaError);
  });

  it.each(['(x{30}){30}', `${'a{1000}'.repeat(70)}`, `(?:${'[a-z]'.repeat(80)}){200}`])(
    'cannot take its time with many big patterns: %s',
    (source) => {
      const anyOf = Array.from({ length: 900 }, (_, n) => ({ pattern: `${n}${source}` }));
      expect(cpuMs(() => expect(() => readSchema({ anyOf }, 'tool')).toThrow(SchemaError))).toBeLessThan(3_000);
      const check = createSchemaCheck({ allOf: anyOf });
      expect(cpuMs(() => check('x'))).toBeLessThan(3_000);
    },
  );

  it('is compiled or refused, whatever it is, and never runs what it says', () => {
    const keyword = fc.constantFrom(
      'type',
      'properties',
      'items',
      'pattern',
      'enum',
      'const',
      '$ref',
      'format',
      'anyOf',
      'required',
      'minimum',
      '$id',
      'if',
      'default',
    );
    const hostile = fc.constantFrom(
      "'); process.exit(1); ('",
      '` + process.exit(1) + `',
      '\u2028',
      '__proto__',
      '*/ process.exit(1) /*',
    );
    const schema = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        hostile,
        fc.jsonValue({ maxDepth: 1 }),
        fc.dictionary(fc.oneof(keyword, hostile), tie('value'), { maxKeys: 4 }),
        fc.array(tie('value'), { maxLength: 3 }),
      ),
    })).value;
    fc.assert(
      fc.property(schema, fc.json(), (given, args) => {
        try {
          compileArguments({ type: 'object', properties: { a: given as object } })(args);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
      { numRuns: 300 },
    );
  });
});
