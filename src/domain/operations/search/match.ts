import type { FoundThing, TextSpan } from '../../../entities/operations/search.ts';
import type { Mention } from '../../../storage/operations/search/search.ts';

/** Characters of a snippet, and of those before its first highlight. */
const snippetChars = 200;
const charsBefore = 60;

/** How well a thing fits a query, and what of it is shown. */
export type Match = Pick<FoundThing, 'snippet' | 'highlights' | 'titleHighlights'> & { readonly score: number };

export function presentMatch({ title, text }: Mention, query: string, words: readonly string[]): Match {
  const plain = oneLine(text);
  const [first] = findSpans(plain, words);
  const start = first === undefined ? 0 : startOfWord(plain, Math.max(0, first.start - charsBefore));
  const end = start + snippetChars;
  const snippet = `${start > 0 ? '…' : ''}${plain.slice(start, end).toWellFormed()}${end < plain.length ? '…' : ''}`;
  const titleHighlights = findSpans(title, words);
  return {
    score: computeScore(title, query, words, titleHighlights),
    snippet,
    highlights: findSpans(snippet, words),
    titleHighlights,
  };
}

/** Where the words stand in a text, in any case; spans that meet are one. */
export function findSpans(text: string, words: readonly string[]): readonly TextSpan[] {
  const lower = lowered(text);
  const wordSpans = words.flatMap((word) => {
    const part = lowered(word);
    const spans: TextSpan[] = [];
    if (part === '') return spans;
    for (let start = lower.indexOf(part); start !== -1; start = lower.indexOf(part, start + part.length))
      spans.push({ start, end: start + part.length });
    return spans;
  });
  const joinedSpans: TextSpan[] = [];
  for (const span of wordSpans.toSorted((a, b) => a.start - b.start)) {
    const last = joinedSpans.at(-1);
    if (last === undefined || span.start > last.end) joinedSpans.push(span);
    else joinedSpans[joinedSpans.length - 1] = { start: last.start, end: Math.max(last.end, span.end) };
  }
  return joinedSpans;
}

/** In lower case, with every character at its place: those whose lower case is longer stay as they are. */
function lowered(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return [...text].map((sign) => (sign.toLowerCase().length === sign.length ? sign.toLowerCase() : sign)).join('');
}

/** A name that is the query, begins with it, has words that begin as its words do, or contains them; then any other mention. */
function computeScore(title: string, query: string, words: readonly string[], spans: readonly TextSpan[]): number {
  const name = lowered(oneLine(title));
  const queryText = lowered(query);
  if (name === queryText) return 4;
  if (name.startsWith(queryText)) return 3;
  const parts = name.split(' ');
  if (words.every((word) => parts.some((part) => part.startsWith(lowered(word))))) return 2;
  return spans.length > 0 && words.every((word) => name.includes(lowered(word))) ? 1 : 0;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** The next beginning of a word, unless it is far. */
function startOfWord(text: string, from: number): number {
  if (from === 0) return 0;
  const space = text.indexOf(' ', from);
  return space === -1 || space - from > 20 ? from : space + 1;
}
