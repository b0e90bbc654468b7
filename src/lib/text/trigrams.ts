/**
 * The similarity of two words, 0 to 1: shared trigrams by all trigrams, with two spaces before and one after each word. Equal to
 * the result of the database extension pg_trgm, which is not needed.
 */
export function trigramSimilarity(left: string, right: string): number {
  const a = trigrams(left);
  const b = trigrams(right);
  const sharedCount = a.intersection(b).size;
  return sharedCount === 0 ? 0 : sharedCount / (a.size + b.size - sharedCount);
}

function trigrams(word: string): Set<string> {
  const paddedWord = `  ${word} `;
  return new Set(Array.from({ length: paddedWord.length - 2 }, (_, index) => paddedWord.slice(index, index + 3)));
}
