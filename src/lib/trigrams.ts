/**
 * How alike two words are, 0 to 1: trigrams they share by trigrams they have, with two spaces before and one behind each word. The same
 * figure as the database extension pg_trgm gives, without needing it.
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
