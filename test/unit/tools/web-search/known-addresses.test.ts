import { describe, expect, it } from 'vitest';
import { AddressMemory } from '../../../../src/engine/tools/web-search/address-memory.ts';

const known = new AddressMemory([
  { role: 'user', content: 'See https://a.example/x?y=1, (http://b.example/z) and <https://c.example>.' },
  { role: 'user', content: [{ type: 'text', text: 'Or https://d.example/é.' }] },
  { role: 'assistant', content: 'I read https://evil.example/?said=secret' },
]);

describe('an address', () => {
  it.each([
    ['https://a.example/x?y=1', true],
    ['https://a.example/x?y=1#part', true],
    ['http://a.example/x?y=1', true],
    ['https://b.example/z', true],
    ['https://c.example/', true],
    ['https://d.example/%C3%A9', true],
    ['https://a.example/x?y=2', false],
    ['https://a.example/', false],
    ['https://evil.example/?said=secret', false],
  ])('%s is known: %s', (address, isKnown) => expect(known.has(new URL(address))).toBe(isKnown));
});
