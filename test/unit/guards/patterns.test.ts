import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOwnPatterns } from '../../../src/engine/tools/secrets/guards/own-patterns.ts';
import { createPatternEngine } from '../../../src/engine/tools/secrets/guards/patterns.ts';
import { GuardSession } from '../../../src/engine/tools/secrets/guards/session.ts';
import { guardKinds } from '../../../src/entities/agents/guard.ts';
import { cpuMs } from '../../support/processes/clock.ts';
import { passed, passedAsSaid } from '../../support/runs/passed.ts';

const newSession = () => new GuardSession({ kinds: guardKinds, patterns: [], putsBack: true, modelId: null }, () => undefined);
const block = `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEow+/'.repeat(100)}\n-----END RSA PRIVATE KEY-----`;
const jwt = `eyJ${'hbGciOi'.repeat(60)}.eyJ${'zdWIiOi'.repeat(90)}.${'dozjgNry'.repeat(6)}`;
const values: readonly (readonly [string, string])[] = [
  ['EMAIL', 'first.last+tag@mail.example.co.uk'],
  ['EMAIL', 'jürgen@müller.example'],
  ['PHONE', '+49 (30) 901-820'],
  ['PHONE', '0041 44 668 18 00'],
  ['IBAN', 'GB29 NWBK 6016 1331 9268 19'],
  ['IBAN', 'DE89370400440532013000'],
  ['CARD', '4111-1111-1111-1111'],
  ['CARD', '378282246310005'],
  ['IP_ADDRESS', '10.0.0.7'],
  ['IP_ADDRESS', '2001:db8::ff00:42:8329'],
  ['API_KEY', `sk-proj-${'Ab1'.repeat(12)}`],
  ['API_KEY', `ghp_${'a1B2'.repeat(9)}`],
  ['API_KEY', 'AKIAIOSFODNN7EXAMPLE'],
  ['API_KEY', 'xoxb-0123456789'],
  ['API_KEY', jwt],
  ['PRIVATE_KEY', block],
];

describe('the patterns of a guard', () => {
  it.each(values.map(([kind, value]) => [kind, value.slice(0, 40), value] as const))('find %s: %s', (kind, _start, value) => {
    expect(newSession().mask(`It is ${value}, I think.`)).toBe(`It is [${kind}_1], I think.`);
  });

  it.each([
    'FR12 ABCD EFGH IJKL MNOP QRST 123',
    '4111 1111 1111 1112',
    '256.1.1.1 and 1.2.3',
    'version 1.2.3.4.5',
    'a@b and @home, x@y.z',
    '+1 23 and 2026-11-29 12:00:00',
    'sk-short, key AKIA123',
    '-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----',
    'std::vector and 10:30:00',
  ])('leave what is none: %s', (text) => {
    expect(newSession().mask(text)).toBe(text);
  });

  it('find a value that is the whole text', () => {
    for (const [kind, value] of values) expect(newSession().mask(value)).toBe(`[${kind}_1]`);
  });

  it('find the same in any pieces as in the whole, and come back so', () => {
    const piece = fc.oneof(
      fc.constantFrom(...values.map(([, value]) => value)),
      fc.constantFrom(
        ' and ',
        ', ',
        '. ',
        '\n',
        ' [',
        ' the order 12 of 2026 ',
        '2026-11-29',
        ' (4.2) ',
        '12:30',
        ' - ',
        '--',
        'A1 ',
        '/',
        '=',
        '漢字',
        '😀',
        '"',
        'Donaudampfschifffahrt',
      ),
      fc.string({ unit: fc.constantFrom(...'aZ0 19.-+@:/_[()\n'), maxLength: 12 }),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        fc.constantFrom(' ; ', ' '),
        (parts, sizes, joint) => {
          const text = parts.join(joint);
          const [whole, streamed] = [newSession(), newSession()];
          const masked = whole.mask(text);
          expect(passed(streamed.outMask().stream(), text, sizes)).toBe(masked);
          expect(passedAsSaid(newSession().outMask(), text, sizes)).toBe(masked);
          expect(passed(whole.restoring(false), masked, sizes)).toBe(text);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['CARD', '4111 1111 1111 1111', '4012 8888 8888 1881'],
    ['IBAN', 'GB29 NWBK 6016 1331 9268 19', 'DE89370400440532013000'],
    ['PHONE', '0049 30 901821', '0033 1 42 68 53 00'],
  ])('find two that stand side by side: %s', (kind, one, other) => {
    expect(newSession().mask(`${one} ${other}`)).toBe(`[${kind}_1] [${kind}_2]`);
  });

  it.each([
    ['CARD', '12 4111 1111 1111 1111'],
    ['PHONE', '00 49 30 901820, 0049 30 901820'],
  ])('find one behind other digits: %s', (kind, text) => {
    expect(newSession().mask(text)).toMatch(new RegExp(` \\[${kind}_1\\]$`));
  });

  it('hold back a word of ordinary text, no more', () => {
    const stream = newSession().outMask().stream();
    expect(stream.feed('These are ordinary words of an answ')).toBe('These are ordinary words of an ');
    expect(stream.feed('er. ')).toBe('answer. ');
  });

  it.each(['敏捷的棕色狐狸，', 'q7ZkT0sk'])('hold back little of a text without spaces: %s', (unit) => {
    const stream = newSession().outMask().stream();
    const text = unit.repeat(4_000);
    let [leftChars, heldMax] = [0, 0];
    for (let at = 0; at < text.length; at += 4) {
      leftChars += stream.feed(text.slice(at, at + 4)).length;
      heldMax = Math.max(heldMax, Math.min(at + 4, text.length) - leftChars);
    }
    expect(leftChars + stream.flush().length).toBe(text.length);
    expect(heldMax).toBeLessThanOrEqual(96);
  });

  it('leave no part of a value that reaches into another one, also in pieces', () => {
    const toOwn = createOwnPatterns();
    const patterns = [
      { name: 'LEFT', pattern: 'aaa-bbb', lengthMax: 7 },
      { name: 'RIGHT', pattern: 'bbb-c+', lengthMax: 20 },
    ].map(toOwn);
    const session = () => new GuardSession({ kinds: [], patterns, putsBack: false, modelId: null }, () => undefined);
    const text = 'It is aaa-bbb-cccccc, really.';
    expect(session().mask(text)).toBe('It is [LEFT_1], really.');
    for (const size of [1, 2, 5, 11]) expect(passed(session().outMask().stream(), text, [size])).toBe('It is [LEFT_1], really.');
  });

  it.each(['a', '@', '1', '1 ', '+1', ':', 'A1 ', '-----BEGIN ', 'sk-', 'eyJa.'])(
    'take time in proportion to the text: %s',
    (unit) => {
      const engine = createPatternEngine(guardKinds);
      const text = unit.repeat(Math.ceil(400_000 / unit.length));
      expect(cpuMs(() => engine.find(text, ''))).toBeLessThan(2_000);
    },
  );
});
