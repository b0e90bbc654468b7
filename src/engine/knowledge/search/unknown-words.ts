import { nearWordsOf, regularOf } from '../../../lib/near-words.ts';
import type { SourceTerm } from '../../../storage/knowledge/chunk-ranking.ts';

/**
 * Words that mean the same as those of the question that no passage contains; '' for none. A word is known when the sources have its stem in any
 * of their languages: other languages cut the same word to stems that nothing has.
 */
export function nearWordsOfUnknown(question: string, terms: readonly SourceTerm[]): string {
  const words = [...new Set(question.toLowerCase().match(/\p{L}+/gu) ?? [])].filter((word) => nearWordsOf(word).length > 0);
  if (words.length === 0) return '';
  const known = new Set(terms.flatMap(({ term, df }) => (df > 0 ? [term.replace(/i$/, '')] : [])));
  const isKnown = (word: string) => [...known].some((stem) => [word, regularOf(word)].some((form) => isStemOf(stem, form)));
  return [...new Set(words.filter((word) => !isKnown(word)).flatMap(nearWordsOf))].join(' ');
}

/** The stem of `delivery` is `deliveri`, and comes without its last letter. A shorter beginning belongs to another word: `co` is not `cost`. */
function isStemOf(stem: string, word: string): boolean {
  return word.startsWith(stem) && stem.length * 2 >= word.length && stem.length > 2;
}
