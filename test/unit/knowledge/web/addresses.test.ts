import picomatch from 'picomatch';
import { describe, expect, it } from 'vitest';
import { addressKey, readAddress } from '../../../../src/engine/knowledge/connectors/web/address/address.ts';
import { globTest } from '../../../../src/engine/knowledge/connectors/web/address/glob.ts';
import { findShape, isEndless } from '../../../../src/engine/knowledge/connectors/web/address/shapes.ts';
import { readRobotsDirectives } from '../../../../src/engine/knowledge/connectors/web/site/robots-directives.ts';

describe('addresses', () => {
  it.each([
    ['/a#b', 'https://ex.com/a'],
    ['HTTPS://EX.com:443/%7euser/%c3%a4?', 'https://ex.com/~user/%C3%A4'],
    ['/a?b=1&utm_source=x&PHPSESSID=1', 'https://ex.com/a?b=1'],
    ['/a;jsessionid=0A?x', 'https://ex.com/a?x'],
    ['/story?sid=42', 'https://ex.com/story?sid=42'],
    ['/story?sid=0123456789abcdef0123', 'https://ex.com/story'],
    ['mailto:ann@ex.com', undefined],
    ['javascript:void(0)', undefined],
    ['https://ann:secret@ex.com/', undefined],
    [`/${'x'.repeat(3_000)}`, undefined],
  ])('%s', (href, expected) => {
    expect(readAddress(href, 'https://ex.com/folder/')).toBe(expected);
  });

  it('are equal whatever the order of their parameters', () => {
    expect(addressKey('https://ex.com/?a=1&b=2')).toBe(addressKey('https://ex.com/?b=2&a=1'));
    expect(addressKey('https://ex.com/?a=1')).not.toBe(addressKey('https://ex.com/?a=2'));
  });

  it.each([
    ['https://ex.com/a/b/a/b/a/b/a/b', true],
    [`https://ex.com/${'x/y1/z/'.repeat(1)}a`, false],
    [`https://ex.com/${Array.from({ length: 25 }, (_, index) => `s${index}`).join('/')}`, true],
  ])('%s leads on for ever: %s', (address, expected) => {
    expect(isEndless(address)).toBe(expected);
  });

  it('have a limited shape only where a program makes them without end', () => {
    expect(findShape('https://ex.com/posts/1712')).toBeUndefined();
    expect(findShape('https://ex.com/2026/05/a-post')).toBeUndefined();
    expect(findShape('https://ex.com/list?page=17')?.isLimited).toBe(false);
    expect(findShape('https://ex.com/2026/05/')).toEqual({ name: 'https://ex.com/#/#/', isLimited: true });
    expect(findShape('https://ex.com/cal?year=2026&month=5')?.isLimited).toBe(true);
    expect(findShape('https://ex.com/cal?month=5')?.isLimited).toBe(true);
  });
});

describe('patterns of addresses', () => {
  const addresses = [
    ...[
      'https://ex.com/',
      'https://ex.com/docs',
      'https://ex.com/docs/',
      'https://ex.com/docs/a',
      'https://ex.com/docs/a/b.html',
    ],
    ...[
      'https://ex.com/docs/a?x=1',
      'https://ex.com/docs/v1/a',
      'https://ex.com/docs/v2/a',
      'http://ex.com/docs/a',
      'https://ex.com/x.pdf',
    ],
  ];
  it.each([
    ...['https://ex.com/docs/**', 'https://ex.com/docs/*', 'https://ex.com/**/*.html', '**/*.pdf', 'https://ex.com/docs/v?/a'],
    ...[
      'https://ex.com/docs/v[12]/a',
      'https://ex.com/docs/{v1,v2}/*',
      'https://ex.com/docs/a',
      '{http,https}://ex.com/docs/*',
      '**',
    ],
  ])('%s means what it means elsewhere', (glob) => {
    const isMatch = picomatch(glob, { dot: true });
    expect(addresses.filter(globTest([glob]))).toEqual(addresses.filter((address) => isMatch(address)));
  });

  it('take linear time', () => {
    const before = process.cpuUsage();
    const test = globTest([`https://ex.com/${'*a'.repeat(20)}b`]);
    for (let index = 0; index < 20; index += 1) expect(test(`https://ex.com/${'a'.repeat(1_900)}`)).toBe(false);
    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
  });
});

it.each([
  ['noindex', false, true],
  ['NONE', false, false],
  ['otherbot: noindex, nofollow', true, true],
  ['otherbot: noindex, parley: nofollow', true, false],
  ['max-snippet: 20, nofollow', true, false],
  [undefined, true, true],
])('the robots directives %s', (text, isIndexed, isFollowed) => {
  expect(readRobotsDirectives(text, 'parley')).toEqual({ isIndexed, isFollowed });
});
