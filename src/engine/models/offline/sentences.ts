import { oneLine } from '../../../lib/text.ts';

/** One sentence as it may be quoted, and the words around it that say what it is about. */
export interface Sentence {
  readonly text: string;
  /** Headings above it, or the heads of its table's columns. */
  readonly context: string;
  readonly position: number;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const listItem = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+/;
const tableRule = /^[\s|:+-]+$/;
const abbreviationEnd = /\b(?:e\.g|i\.e|etc|vs|no|nr|dr|mr|mrs|ms|st|approx|fig|inc|ltd)\.\s*$/i;

/** Cuts text or Markdown into sentences; headings become context, list items and table rows stand on their own. */
export function sentencesOf(text: string): Sentence[] {
  const sentences: Sentence[] = [];
  let heading = '';
  let columns = '';
  let paragraph: string[] = [];
  const add = (part: string, context: string) => {
    const clean = oneLine(part);
    if (/[\p{L}\p{N}]/u.test(clean)) sentences.push({ text: clean, context, position: sentences.length });
  };
  const flush = () => {
    for (const part of split(paragraph.join(' '))) add(part, heading);
    paragraph = [];
  };
  for (const line of text.split(/\r?\n/)) {
    const trimmed = line.trim();
    const title = /^#{1,6}\s+(.*?)\s*#*$/.exec(trimmed)?.[1];
    if (trimmed === '' || title !== undefined) {
      flush();
      columns = '';
      if (title !== undefined) heading = plain(title);
    } else if (trimmed.startsWith('|') && trimmed.endsWith('|')) {
      flush();
      if (tableRule.test(trimmed)) continue;
      const cells = trimmed
        .slice(1, -1)
        .split('|')
        .map((cell) => plain(cell.trim()));
      if (columns === '') columns = cells.join(' ');
      else add(`${cells.filter((cell) => cell !== '').join(', ')}.`, `${heading} ${columns}`);
    } else if (listItem.test(line)) {
      flush();
      paragraph.push(plain(line.replace(listItem, '')));
    } else paragraph.push(plain(trimmed.replace(/^>\s?/, '')));
  }
  flush();
  return sentences;
}

function split(paragraph: string): string[] {
  const parts: string[] = [];
  for (const { segment } of segmenter.segment(paragraph)) {
    const last = parts.at(-1);
    if (last !== undefined && abbreviationEnd.test(last)) parts[parts.length - 1] = last + segment;
    else parts.push(segment);
  }
  return parts;
}

/** Markdown emphasis, code ticks and links, without their marks. */
function plain(text: string): string {
  return text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(\*\*|__)(.+?)\1/g, '$2')
    .replace(/`([^`]*)`/g, '$1');
}
