import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileArguments } from '../../../src/engine/tools/json-schema/arguments.ts';
import { cleanSchema, SchemaError } from '../../../src/engine/tools/json-schema/clean-schema.ts';
import { compileLinearPattern } from '../../../src/engine/tools/json-schema/linear-pattern.ts';
import { PatternError } from '../../../src/engine/tools/json-schema/pattern-syntax.ts';
import { cpuMs } from '../../support/clock.ts';

describe('a pattern', () => {
  const piece = fc.constantFrom('a', 'b', 'ab', '[ab]', '[^a]', '.', '\\d', '\\w', '(a|b)', '(?:ab)', '^', '$');
  const quantifier = fc.constantFrom('', '*', '+', '?', '{2}', '{1,2}', '{1,}', '*?');
  const pattern = fc
    .array(fc.tuple(piece, quantifier), { minLength: 1, maxLength: 5 })
    .map((parts) => parts.map(([atom, times]) => (atom === '^' || atom === '$' ? atom : atom + times)).join(''));

  it('matches what the engine of the language matches', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          pattern,
          fc.tuple(pattern, pattern).map((two) => two.join('|')),
        ),
        fc.string({ unit: fc.constantFrom('a', 'b', '1', ' ') }),
        (source, text) => {
          expect(compileLinearPattern(source).test(text)).toBe(new RegExp(source, 'u').test(text));
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each(['^(a+)+$', '(x+x+)+y', '^(a|a)*$', '.*.*.*.*=.*'])('takes time in proportion to the text: %s', (source) => {
    const compiled = compileLinearPattern(source);
    expect(cpuMs(() => expect(compiled.test(`${'a'.repeat(60_000)}!`)).toBe(false))).toBeLessThan(2_000);
  });

  it.each([
    '(?=a)b',
    '(?<!a)b',
    '(a)\\1',
    '\\ba',
    '(a',
    'a)',
    '[z-a]',
    '*a',
    'a{500}',
    '(((a{100}){100}){100})',
    '(((((((){200}){200}){200}){200}){200}){200}){200}',
    `${'a'.repeat(600)}`,
  ])('is refused when it could not be walked that way: %s', (source) => {
    expect(() => compileLinearPattern(source)).toThrow(PatternError);
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
    expect(() => cleanSchema({ $defs: { ...$defs, d30: {} }, $ref: '#/$defs/d0' })).toThrow(SchemaError);
  });

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
