import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOwnEngine, createOwnPatterns } from '../../../src/engine/tools/secrets/guards/own-patterns.ts';
import { GuardSession } from '../../../src/engine/tools/secrets/guards/session.ts';
import { guardKinds } from '../../../src/entities/agents/guard.ts';
import { cpuMs } from '../../support/processes/clock.ts';
import { passed, passedAsSaid } from '../../support/runs/passed.ts';

const toOwn = createOwnPatterns();
const ownOf = (sources: readonly string[], lengthMax = 1_000) =>
  sources.map((pattern, index) => toOwn({ name: `P${index}`, pattern, lengthMax }));
const anyText = fc.string({ unit: fc.constantFrom(...'aab1 -\n[', 'é', '漢', '😀'), maxLength: 60 });

describe('patterns of one’s own', () => {
  const piece = fc.constantFrom(
    'a',
    'b',
    'ab',
    '[ab]',
    '[^a]',
    '.',
    '\\d',
    '\\w',
    '(a|b)',
    '(?:ab)',
    '(?i:A)',
    '😀',
    '^',
    '$',
    '\\b',
    '\\B',
  );
  const quantifier = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,2}', '*?');
  const pattern = fc
    .array(fc.tuple(piece, quantifier), { minLength: 1, maxLength: 5 })
    .map((parts) => parts.map(([atom, times]) => (/^(?:\^|\$|\\[bB])$/.test(atom) ? atom : atom + times)).join(''));

  it('find what each of them finds by itself', () => {
    fc.assert(
      fc.property(fc.array(pattern, { minLength: 1, maxLength: 4 }), anyText, (sources, text) => {
        const patterns = ownOf(sources);
        const alone = patterns.flatMap(({ name, compile }) => {
          const places: string[] = [];
          compile().each(text, (start, end) => places.push(`${name} ${start} ${end}`));
          return places;
        });
        const together = createOwnEngine(patterns).find(text, '');
        expect(together.map(({ label, start, end }) => `${label} ${start} ${end}`).toSorted()).toEqual(alone.toSorted());
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['alone', []],
    ['beside the built-in ones', guardKinds],
  ] as const)('find the same in any pieces as in the whole: %s', (_name, kinds) => {
    const patterns = ownOf(
      ['\\bA-[0-9]{5}\\b', '(?:ab)*c', 'id [a-z]{2,8}\\d', '漢+', '😀-[a-z]+', '^first|last$', '[0-9]+(?: [0-9]{3})*'],
      40,
    );
    const session = () => new GuardSession({ kinds, patterns, putsBack: true, modelId: null }, () => undefined);
    const part = fc.oneof(
      fc.constantFrom(
        'A-12345',
        'xA-12345',
        'A-123456',
        'ababc',
        'abab',
        'id abc1',
        '漢漢',
        '😀-ab',
        'first',
        'last',
        '12 345 678',
        'a@b.example',
      ),
      fc.constantFrom(' ', ', ', ' and ', '.', '\n', '😀', '"', '[', '[X_1]', ' ('),
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 14 }),
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 }),
        (parts, sizes) => {
          const text = parts.join('');
          const whole = session();
          const masked = whole.mask(text);
          expect(passed(session().outMask().stream(), text, sizes)).toBe(masked);
          expect(passedAsSaid(session().outMask(), text, sizes)).toBe(masked);
        },
      ),
      { numRuns: 1_500 },
    );
  });

  it('leave the names of values as they are, also in pieces', () => {
    const patterns = ownOf(['A-[0-9]{5}', '[0-9]+', '[A-Z]+']);
    const session = new GuardSession({ kinds: [], patterns, putsBack: true, modelId: null }, () => undefined);
    const masked = session.mask('It is A-12345.');
    for (const size of [1, 2, 3, 20]) {
      expect(passed(session.outMask().stream(), masked, [size])).toBe(masked);
      expect(passedAsSaid(session.outMask(), masked, [size])).toBe(masked);
    }
  });

  it('let ordinary text pass at once', () => {
    const stream = new GuardSession(
      { kinds: [], patterns: ownOf(['A-[0-9]{5}'], 500), putsBack: false, modelId: null },
      () => undefined,
    ).outMask();
    const text = stream.stream();
    expect(text.feed('The order A')).toBe('The order ');
    expect(text.feed(' is')).toBe('A is');
    expect(text.feed(' A-12')).toBe(' ');
  });

  it.each(['(?:a|a)*b', '(x+x+)+y', '.{1,50}secret', '[a-z]+@corp', '\\w+\\s\\w+\\d'])(
    'take time in proportion to the text: %s',
    (source) => {
      const engine = createOwnEngine(ownOf([source, 'A-[0-9]{5}']));
      const text = 'The xxxx aaaa 12 of secre and so on. '.repeat(5_000);
      expect(cpuMs(() => engine.find(text, ''))).toBeLessThan(4_000);
    },
  );
});
