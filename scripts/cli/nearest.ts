import { editDistance } from '../../src/lib/text/edit-distance.ts';

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

/** The edit distance; 1 when one text holds the other. */
function distanceOf(one: string, other: string): number {
  if (one.length > 2 && other.length > 2 && (other.includes(one) || one.includes(other))) return one === other ? 0 : 1;
  return editDistance(one, other);
}
