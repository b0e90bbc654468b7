import fc from 'fast-check';
import { Kind, OverlappingFieldsCanBeMergedRule, parse, specifiedRules, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { FieldConflicts } from '../../../src/graphql/server/documents/field-conflicts.ts';
import { MergedDocument } from '../../../src/graphql/server/documents/merged-fields.ts';
import { oddSchema } from '../../support/apis/odd-schema.ts';
import { propertyRuns } from '../../support/property-runs.ts';

/** Mostly the same field under a name; the others conflict in kind, in arguments, or not at all. */
const often = (text: string) => Array.from({ length: 12 }, () => text);
const leaves = [
  ...often('a: text'),
  'a: plain',
  'a: mustText',
  ...often('b: id'),
  'b: number',
  ...often('id'),
  ...often('c: texts'),
];
const echoes = [...often('d: echo(must: 1)'), 'd: echo(must: 2)', 'e: echo(number: 3, must: 1)', 'e: echo(must: 1, number: 3)'];
const parents = [...often('p: child'), 'p: later', ...often('q: maybe'), 'q: mustChild', ...often('r: children'), 'both'];
const types = ['A', 'B', 'Base'];
const fragmentNames = ['F0', 'F1', 'F2'];
/** Valid wherever an object is, whatever its type. */
const anywhere = (inner: string) => `... on Base { ${inner} }`;

/** Selections whose fields share a few names, on types that exclude each other and types that do not. */
const { selection } = fc.letrec<{ selection: string; item: string }>((tie) => ({
  selection: fc.array(tie('item'), { minLength: 1, maxLength: 4 }).map((items) => items.join(' ')),
  item: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { arbitrary: fc.constantFrom(...leaves, ...echoes), weight: 6 },
    { arbitrary: fc.constantFrom(...fragmentNames).map((name) => anywhere(`...${name}`)), weight: 1 },
    {
      arbitrary: fc
        .tuple(fc.constantFrom(...parents), tie('selection'))
        .map(([field, inner]) => `${field} { ${anywhere(inner)} }`),
      weight: 4,
    },
    {
      arbitrary: fc
        .tuple(fc.constantFrom(...types), tie('selection'))
        .map(([type, inner]) => anywhere(`... on ${type} { ${inner} }`)),
      weight: 4,
    },
  ),
}));
const documents = fc
  .tuple(selection, fc.array(fc.tuple(fc.constantFrom(...types), selection), { minLength: 3, maxLength: 3 }))
  .map(([body, bodies]) => {
    // A fragment spreads later ones only: no cycles.
    const later = (inner: string, index: number) => inner.replaceAll(/\.\.\.F(\d)/g, (spread, n) => (n > index ? spread : 'id'));
    const fragments = bodies.map(([type, inner], index) => `fragment F${index} on ${type} { ${later(inner, index)} }`);
    return `{ child { ${body} ...F0 ...F1 ...F2 } } ${fragments.join(' ')}`;
  });
const otherRules = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);

function hasConflicts(document: ReturnType<typeof parse>): boolean {
  const merged = new MergedDocument(oddSchema, document, 100_000);
  const rule = new FieldConflicts(merged);
  return document.definitions.some(
    (node) => node.kind === Kind.OPERATION_DEFINITION && rule.errorsOf(merged.root(node)).length > 0,
  );
}

describe('the rule of fields that merge', () => {
  it('refuses what the rule of graphql-js refuses, and nothing else', () => {
    const seen = { refused: 0, taken: 0 };
    fc.assert(
      fc.property(documents, (text) => {
        const document = parse(text);
        expect(validate(oddSchema, document, otherRules)).toEqual([]);
        const isRefused = validate(oddSchema, document, [OverlappingFieldsCanBeMergedRule]).length > 0;
        expect(hasConflicts(document)).toBe(isRefused);
        seen[isRefused ? 'refused' : 'taken'] += 1;
      }),
      { numRuns: propertyRuns(1_000) },
    );
    expect(Math.min(seen.refused, seen.taken)).toBeGreaterThan(propertyRuns(100));
  });

  it.each([
    ['other fields', '{ child { a: text a: kind } }', '"text" and "kind" are different fields'],
    ['other arguments', '{ child { a: echo(must: 1) a: echo(must: 2) } }', 'they have differing arguments'],
    [
      'types of another shape on objects that exclude each other',
      '{ child { ... on A { a: text } ... on B { a: number } } }',
      'they return conflicting types "String" and "Int!"',
    ],
  ])('tells of %s', (_case, text, reason) => {
    const document = parse(text);
    const merged = new MergedDocument(oddSchema, document, 100);
    const [node] = document.definitions;
    if (node?.kind !== Kind.OPERATION_DEFINITION) return expect.fail();
    const messages = new FieldConflicts(merged).errorsOf(merged.root(node)).map(({ message }) => message);
    expect(messages[0]).toContain(reason);
  });
});
