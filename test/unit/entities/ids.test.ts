import { expect, it } from 'vitest';
import { isId, makeId, timeOfId } from '../../../src/entities/ground/ids.ts';

it('gives ids of one millisecond the order in which they are made, and each a number of its own', () => {
  const at = Date.now();
  const ids = Array.from({ length: 50_000 }, () => makeId('message', at));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of [ids[0] ?? '', ids.at(-1) ?? '']) {
    expect([isId('message', id), timeOfId(id).getTime()]).toEqual([true, at]);
  }
  expect(makeId('message', at + 1) > (ids.at(-1) ?? '')).toBe(true);
});
