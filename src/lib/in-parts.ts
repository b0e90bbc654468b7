/** Parts of a list, each of at most `size`. */
export function* inParts<T>(all: readonly T[], size: number): Generator<readonly T[], void, void> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
}
