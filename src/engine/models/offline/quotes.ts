import { oneLine } from '../../../lib/text/text.ts';

/** A text that answers may quote from. */
export interface Quotable {
  /** The `n` of its marker; null for the conversation itself. */
  readonly citation: number | null;
  readonly title: string;
  readonly text: string;
}

/** A sentence must hold this share of the weight of the question's words; words of its heading count half. */
const coverageMin = 0.34;
const stopWords = new Set(
  (
    'a about am an and any are as at be but by can could did do does for from had has have he her his how i if in is it its me my no not of on ' +
    'or our please say she should so tell that the their them there they this to was we were what when where which who why will with would you your'
  ).split(' '),
);
const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const codeBlock = /^ {0,3}(```|~~~)[^\n]*\n[\s\S]*?(?:^ {0,3}\1[ \t]*$|$(?![\s\S]))/gm;
/** A blank line, and the line before a heading, a list item, the row of a table or the place of an object (`orders[3]`). */
const blockStart = /\n[ \t]*\n|\n(?=[ \t]*(?:#{1,6} |[-*+•] |\d{1,3}[.)] |\|)|[\w.-]+\[\d+\])/;
const memberLine = /^[\p{L}_][\w.-]*: \S/u;

/** The sentences that hold most of the question's words, rare ones first of all; `[]` when none holds enough of them. */
export function quotesFor(
  question: string,
  sources: readonly Quotable[],
): readonly { readonly source: Quotable; readonly text: string }[] {
  const candidates = sources.flatMap((source) =>
    splitSentences(source.text).map(({ text, heading }) => {
      const terms = new Set(listTerms(text));
      return { source, text, terms, context: terms.union(new Set(listTerms(`${source.title} ${heading}`))) };
    }),
  );
  const weights = [...new Set(listTerms(question))].map((term) => {
    const count = candidates.filter(({ terms }) => terms.has(term)).length;
    return { term, weight: Math.log(1 + (candidates.length + 1) / (count + 0.5)) };
  });
  const sumWeights = (terms: ReadonlySet<string>) =>
    weights.reduce((sum, one) => sum + (terms.has(one.term) ? one.weight : 0), 0);
  const scoredQuotes = candidates.flatMap(({ terms, context, ...quote }) => {
    const own = sumWeights(terms);
    const score = (own + sumWeights(context)) / 2;
    return own > 0 && score >= coverageMin * weights.reduce((sum, { weight }) => sum + weight, 0) ? [{ ...quote, score }] : [];
  });
  const sortedQuotes = scoredQuotes.sort((one, other) => other.score - one.score);
  // A sentence that stands in several places is said once.
  const bestOf = new Map(sortedQuotes.toReversed().map((quote) => [quote.text, quote]));
  const best = sortedQuotes.filter((quote) => bestOf.get(quote.text) === quote).slice(0, 3);
  return best.filter(({ score }) => score >= 0.8 * (best[0]?.score ?? 0));
}

/** The first sentences of a text. */
export function cutOpening(text: string, count: number): string {
  const sentences = splitSentences(text).slice(0, count);
  return sentences.map((sentence) => sentence.text).join(' ');
}

/** Sentences, list items, rows of tables and objects of `member: value` lines, each with its heading. Blocks of code are left out. */
function splitSentences(text: string): { readonly text: string; readonly heading: string }[] {
  let heading = '';
  return text
    .replace(codeBlock, '\n\n')
    .split(blockStart)
    .flatMap((block, index, blocks) => {
      const lines = block.split('\n').map((line) => line.trim());
      if (/^#{1,6} /.test(lines[0] ?? '')) heading = (lines.shift() ?? '').replace(/^#+ /, '');
      // The row above the rule of a table names its columns.
      if (/^\s*\|[\s|:-]+$/.test(blocks[index + 1] ?? '')) heading = lines.splice(0).join(' ');
      const isObject = lines.filter((line) => memberLine.test(line)).length * 2 > lines.length;
      if (isObject && !memberLine.test(lines[0] ?? '')) lines.shift();
      const words = lines.join(isObject ? '; ' : ' ').replace(/\*\*|`|^(?:[-*+•>]|\d{1,3}[.)])\s/g, '');
      const sentences =
        isObject || words.startsWith('|') ? [words] : Array.from(segmenter.segment(words), ({ segment }) => segment);
      return sentences.map((sentence) => ({ text: oneLine(sentence.replaceAll('|', ' ')), heading }));
    })
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence.text));
}

/** The words of a text that say what it is about, without the most common English endings. */
export function listTerms(text: string): string[] {
  const spacedText = text.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').toLowerCase();
  const words = spacedText.match(/[\p{L}\p{N}]+/gu) ?? [];
  const stem = (word: string) => word.replace(/(?<=[^su])s$/, '').replace(/(?<=..[^e])(ing|ed|e)$/, '');
  return words.flatMap((word) => (stopWords.has(word) ? [] : [word.length < 4 ? word : stem(word)]));
}
