import { describe, expect, it } from 'vitest';
import { InvalidatedCache } from '../../../src/storage/ground/invalidated-cache.ts';

function start(sizeMax = 100) {
  const feed = { isHealthy: true, gap: () => {} };
  const signals = {
    isHealthy: () => feed.isHealthy,
    onReset: (listener: () => void) => {
      feed.gap = listener;
      return () => {};
    },
  };
  const rows = new Map<string, string>();
  const reads: string[] = [];
  const cache = new InvalidatedCache<string>(signals, sizeMax);
  const load = async (key: string) => {
    reads.push(key);
    return rows.get(key);
  };
  return { feed, rows, reads, cache, find: (key: string, nowMs = 0) => cache.find(key, nowMs, load) };
}

describe('a cache entry', () => {
  it('answers without a promise and without a read', async () => {
    const { rows, reads, find } = start();
    rows.set('a', 'one');
    await find('a');
    expect(find('a')).toBe('one');
    expect(reads).toEqual(['a']);
  });

  it('is read once for concurrent calls', async () => {
    const { rows, reads, find } = start();
    rows.set('a', 'one');
    expect(await Promise.all([find('a'), find('a'), find('a')])).toEqual(['one', 'one', 'one']);
    expect(reads).toEqual(['a']);
  });

  it('is never older than a second while announcements are not healthy, and may be while they are', async () => {
    const { feed, rows, find } = start();
    rows.set('a', 'one');
    await find('a', 0);
    rows.set('a', 'two');
    expect(find('a', 60_000)).toBe('one');
    feed.isHealthy = false;
    expect(find('a', 1_000)).toBe('one');
    expect(await find('a', 1_001)).toBe('two');
  });

  it('is dropped when an announcement names it, and after a gap', async () => {
    const { feed, rows, reads, cache, find } = start();
    for (const key of ['a', 'b']) {
      rows.set(key, key);
      await find(key);
    }
    cache.forget((value) => value === 'a');
    await find('a');
    await find('b');
    expect(reads).toEqual(['a', 'b', 'a']);
    feed.gap();
    await find('b');
    expect(reads).toEqual(['a', 'b', 'a', 'b']);
  });

  it('does not keep a value that was read before an announcement', async () => {
    const { rows, cache, find } = start();
    rows.set('a', 'old');
    const reading = find('a');
    rows.set('a', 'new');
    cache.forget((value) => value === 'old');
    expect(await reading).toBe('old');
    expect(await find('a')).toBe('new');
  });

  it('may say that a thing is missing, until any announcement', async () => {
    const { rows, reads, cache, find } = start();
    expect(await find('a')).toBeUndefined();
    expect(find('a')).toBeUndefined();
    expect(reads).toEqual(['a']);
    rows.set('a', 'made');
    cache.forget(() => false);
    expect(await find('a')).toBe('made');
  });

  it('is dropped when it is the oldest of too many', async () => {
    const { rows, reads, find } = start(2);
    for (const key of ['a', 'b', 'c']) {
      rows.set(key, key);
      await find(key);
    }
    expect(find('c')).toBe('c');
    await find('a');
    expect(reads).toEqual(['a', 'b', 'c', 'a']);
  });

  it('is not made for a failure', async () => {
    const { cache, rows, find } = start();
    rows.set('a', 'one');
    await expect(cache.find('a', 0, () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await find('a')).toBe('one');
  });
});
