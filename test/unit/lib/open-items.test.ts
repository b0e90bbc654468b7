import { describe, expect, it } from 'vitest';
import { type OpenItem, OpenItems } from '../../../src/lib/flow/open-items.ts';
import { seededRandom } from '../../support/property/random.ts';

describe('open items', () => {
  it('are those that were added and not removed, whatever the order of the removals', () => {
    const random = seededRandom(11);
    const items = new OpenItems<number>();
    const places = new Map<number, OpenItem<number>>();
    for (let turn = 0; turn < 2_000; turn += 1) {
      if (random() < 0.5) places.set(turn, items.add(turn));
      else {
        const [item = -1, place] = [...places][Math.floor(random() * places.size)] ?? [];
        if (place !== undefined) items.remove(place);
        places.delete(item);
      }
      expect(items.size).toBe(places.size);
      expect([...items.values()].sort((one, other) => one - other)).toEqual([...places.keys()]);
    }
  });

  it('stay when one of them is removed twice', () => {
    const items = new OpenItems<string>();
    const first = items.add('first');
    items.add('second');
    items.remove(first);
    items.remove(first);
    expect(items.values()).toEqual(['second']);
  });

  it('may go while they are walked through', () => {
    const items = new OpenItems<string>();
    const all = ['one', 'two', 'three'].map((text) => items.add(text));
    const visited: string[] = [];
    for (const text of items.values()) {
      visited.push(text);
      for (const item of all) items.remove(item);
    }
    expect(visited).toEqual(['one', 'two', 'three']);
    expect(items.size).toBe(0);
  });
});
