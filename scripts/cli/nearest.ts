/** Those of `known` that were probably meant, best first; at most three. A part of a name counts as near. */
export function nearest(typed: string, known: readonly string[]): readonly string[] {
  const given = typed.toLowerCase();
  return known
    .map((name) => ({ name, distance: distanceOf(given, name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(Math.max(given.length, name.length) / 3)))
    .sort((one, other) => one.distance - other.distance)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** ` Did you mean "a" or "b"?`, or '' when nothing is near. */
export function suggestion(typed: string, known: readonly string[]): string {
  const names = nearest(typed, known).map((name) => `"${name}"`);
  return names.length === 0 ? '' : ` Did you mean ${names.join(' or ')}?`;
}

/** Letters to insert, delete, replace or swap with their neighbour; 1 when one text holds the other. */
function distanceOf(one: string, other: string): number {
  if (one.length > 2 && other.length > 2 && (other.includes(one) || one.includes(other))) return one === other ? 0 : 1;
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_value, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1;
      let cost = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      next.push(cost);
    }
    before = row;
    row = next;
  }
  return row[other.length] ?? 0;
}
