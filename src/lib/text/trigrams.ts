/**
 * The similarity of two words, 0 to 1: shared trigrams by all trigrams, with two spaces before and one after each word. Equal to
 * the result of the database extension pg_trgm, which is not needed.
 */
export function trigramSimilarity(left: string, right: string): number {
  const a = trigrams(left);
  const b = trigrams(right);
  const shared = a.intersection(b).size;
  return shared === 0 ? 0 : shared / (a.size + b.size - shared);
}

function trigrams(word: string): Set<string> {
  const padded = `  ${word} `;
  return new Set(Array.from({ length: padded.length - 2 }, (_, index) => padded.slice(index, index + 3)));
}
