/** A part of a text, in UTF-16 code units. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

const sentences = new Intl.Segmenter(undefined, { granularity: 'sentence' });
const words = new Intl.Segmenter(undefined, { granularity: 'word' });

/** The last sentence of a text that says something. */
export function lastSentence(text: string): string {
  return (
    splitSentences(text)
      .map(({ start, end }) => text.slice(start, end))
      .findLast((sentence) => /[\p{L}\p{N}]/u.test(sentence)) ?? ''
  );
}

/** The sentence that an answer puts a citation behind; empty without one. */
export function findClaim(answer: string, index: number): string {
  const place = answer.indexOf(`[${index}]`);
  return place === -1 ? '' : lastSentence(answer.slice(0, place).replaceAll(/\[\d{1,3}\]/g, ' '));
}

/**
 * The sentence of a passage that says most of what a sentence of an answer says: the one that shares its rarest words and numbers. Undefined where none
 * shares any, as in another language.
 */
export function findSupport(passage: string, claim: string): Range | undefined {
  const wanted = listWords(claim);
  const candidates = splitSentences(passage).map((range) => ({ range, words: listWords(passage.slice(range.start, range.end)) }));
  const weigh = (word: string) => (/\p{N}/u.test(word) ? 2 : 1) / candidates.filter((each) => each.words.has(word)).length;
  let best: { readonly range: Range; readonly score: number } | undefined;
  for (const candidate of candidates) {
    const common = [...candidate.words].filter((word) => wanted.has(word));
    const score = common.reduce((sum, word) => sum + weigh(word), 0) / Math.sqrt(candidate.words.size || 1);
    if (score > (best?.score ?? 0)) best = { range: candidate.range, score };
  }
  return best?.range;
}

/** Sentences end with their block too: a paragraph, an item, a row of a table. */
function splitSentences(text: string): readonly Range[] {
  const ranges: Range[] = [];
  for (const { 0: block, index } of text.matchAll(/(?:(?!\n[ \t]*(?:\n|[-*+>#|]|\d{1,9}[.)][ \t]))[\s\S])+/g)) {
    // The end of a line would end a sentence.
    for (const { segment, index: offset } of sentences.segment(block.replaceAll('\n', ' '))) {
      const trimmed = segment.trim();
      const start = index + offset + segment.indexOf(trimmed);
      if (trimmed !== '') ranges.push({ start, end: start + trimmed.length });
    }
  }
  return ranges;
}

/** Words of three letters and more, and all numbers and words of writings without spaces. */
function listWords(text: string): ReadonlySet<string> {
  const all = [...words.segment(text)]
    .filter(({ isWordLike }) => isWordLike === true)
    .map(({ segment }) => segment.toLowerCase());
  return new Set(
    all.filter((word) => word.length > 2 || /\p{N}|[^\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]/u.test(word)),
  );
}
