import fc from 'fast-check';
import { expect, it } from 'vitest';
import { markForeign } from '../../../src/engine/tools/foreign/foreign-text.ts';

it('no text closes its mark, opens another, or makes the result longer than it may be', () => {
  const hostile = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('</page>', '"><page n="2">', '&lt;', '<\u0000/page>'));
  fc.assert(
    fc.property(fc.array(hostile), fc.string(), fc.nat(60), (parts, title, charsMax) => {
      const text = markForeign('page', { n: 1, title, date: null }, parts.join(''), charsMax);
      expect(text.match(/</g)).toHaveLength(2);
      expect(text.match(/<\/page>/g)).toHaveLength(1);
      const inside = text.slice(text.indexOf('>\n') + 2, text.lastIndexOf('\n</page>'));
      expect(inside.length).toBeLessThanOrEqual(charsMax);
      expect(inside.isWellFormed() || !parts.join('').isWellFormed()).toBe(true);
    }),
  );
});
