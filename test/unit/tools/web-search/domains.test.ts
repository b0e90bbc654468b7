import { describe, expect, it } from 'vitest';
import { mayVisit, parseDomain } from '../../../../src/engine/tools/web-search/domains.ts';

describe('a domain of a filter', () => {
  it.each([
    ['example.com', 'example.com'],
    ['  EXAMPLE.com. ', 'example.com'],
    ['https://www.example.com/', 'www.example.com'],
    ['*.example.com', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['127.0.0.1', '127.0.0.1'],
  ])('%s is %s', (given, domain) => expect(parseDomain(given)).toBe(domain));

  it.each(['', 'two words', 'example.com/path', 'http://a@b.c', 'ftp://example.com', 'example.com:81', 'a?b'])(
    '%j is none',
    (given) => expect(parseDomain(given)).toBeUndefined(),
  );
});

describe('a host', () => {
  it.each([
    ['example.com', true],
    ['news.example.com', true],
    ['NEWS.example.com.', true],
    ['badexample.com', false],
    ['example.com.evil.test', false],
    ['shop.example.com', false],
    ['deep.shop.example.com', false],
  ])('%s passes: %s', (host, passes) => {
    expect(mayVisit({ allowed: ['example.com'], blocked: ['shop.example.com'] }, host)).toBe(passes);
  });

  it('passes where nothing is named', () => expect(mayVisit({ allowed: [], blocked: [] }, 'example.org')).toBe(true));
});
