import type { DiffLine } from '../versions/Diff.tsx';

/** Longer texts are shown one after the other: the table of the comparison grows with the product of both. */
const linesMax = 1_000;

/** The lines of two texts: those of the first only, of the second only, and of both (longest common subsequence). */
export function compareLines(first: string, second: string): readonly DiffLine[] {
  const [one, two] = [first.split('\n'), second.split('\n')];
  if (one.length > linesMax || two.length > linesMax) return [...one.map(removed), ...two.map(added)];
  const common = countCommon(one, two);
  const at = (left: number, right: number) => common[left]?.[right] ?? 0;
  const lines: DiffLine[] = [];
  let [left, right] = [0, 0];
  while (left < one.length || right < two.length) {
    const [before = '', after = ''] = [one[left], two[right]];
    if (left < one.length && right < two.length && before === after) {
      lines.push({ kind: 'SAME', text: before });
      left += 1;
      right += 1;
    } else if (left < one.length && (right >= two.length || at(left + 1, right) >= at(left, right + 1))) {
      lines.push(removed(before));
      left += 1;
    } else {
      lines.push(added(after));
      right += 1;
    }
  }
  return lines;
}

/** How many lines the ends of both texts share, from each line of the one and each of the other. */
function countCommon(one: readonly string[], two: readonly string[]): readonly Uint16Array[] {
  const counts = Array.from({ length: one.length + 1 }, () => new Uint16Array(two.length + 1));
  for (let left = one.length - 1; left >= 0; left -= 1) {
    const [row, next] = [counts[left], counts[left + 1]];
    for (let right = two.length - 1; right >= 0 && row !== undefined && next !== undefined; right -= 1) {
      row[right] = one[left] === two[right] ? (next[right + 1] ?? 0) + 1 : Math.max(next[right] ?? 0, row[right + 1] ?? 0);
    }
  }
  return counts;
}

const removed = (text: string): DiffLine => ({ kind: 'REMOVED', text });
const added = (text: string): DiffLine => ({ kind: 'ADDED', text });
