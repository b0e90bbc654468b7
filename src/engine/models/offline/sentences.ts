import { oneLine } from '../../../lib/text.ts';
import { recordOfLine, spokenRecord } from './records.ts';

/** A sentence that may be quoted, with the words around it that name its subject. */
export interface Sentence {
  readonly text: string;
  /** Its headings, or the column heads of its table. */
  readonly context: string;
  /** The heading alone; '' above the first. */
  readonly heading: string;
  readonly position: number;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const listItem = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+/;
const tableRule = /^[\s|:+-]+$/;
const abbreviationEnd = /\b(?:e\.g|i\.e|etc|vs|no|nr|dr|mr|mrs|ms|st|approx|fig|inc|ltd)\.\s*$/i;

/**
 * Splits text or Markdown into sentences; headings become context, each list item, table row and member of a record is a sentence. Blocks of
 * code are left out where there is anything else.
 */
export function sentencesOf(text: string): Sentence[] {
  const prose = readSentences(text.replace(codeBlock, '\n').replace(/<!--[\s\S]*?(?:-->|$)/g, ''));
  return prose.length > 0 ? prose : readSentences(text);
}

const codeBlock = /^ {0,3}(```|~~~)[^\n]*\n[\s\S]*?(?:^ {0,3}\1[ \t]*$|$(?![\s\S]))/gm;

function readSentences(text: string): Sentence[] {
  const sentences: Sentence[] = [];
  let heading = '';
  let columns = '';
  let paragraph: string[] = [];
  let record: string[] = [];
  const endRecord = () => {
    for (const { text: said, context } of spokenRecord(record)) add(said, `${heading} ${context}`);
    record = [];
  };
  const add = (part: string, context: string) => {
    const clean = oneLine(part);
    if (/[\p{L}\p{N}]/u.test(clean)) sentences.push({ text: clean, context, heading, position: sentences.length });
  };
  const flush = () => {
    for (const part of split(paragraph.join(' '))) add(part, heading);
    paragraph = [];
  };
  const lines = text.split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    const trimmed = line.trim();
    if (isRecordLine(lines, index)) {
      flush();
      record.push(trimmed);
      continue;
    }
    endRecord();
    const title = /^#{1,6}\s+(.*)$/
      .exec(trimmed)?.[1]
      ?.replace(/(?<!#)#+$/, '')
      .trimEnd();
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
      const row = recordOfLine(line.replace(listItem, ''));
      if (row !== undefined) {
        record = [...row];
        endRecord();
        continue;
      }
      paragraph.push(plain(line.replace(listItem, '')));
    } else paragraph.push(plain(trimmed.replace(/^>\s?/, '')));
  }
  endRecord();
  flush();
  return sentences;
}

const memberLine = /^[\p{L}_][\w.-]*: \S/u;
/** The place of an object in a JSON document: `services[0]`, `orders[3] "Ann" > lines[0]`. */
const placeLine = /^(?:[\w.-]*\[\d+\]|[\w.-]+ ?"[^"]*" > |[\w.-]+\[\d+\] "[^"]*" > )[^:]*$/;

/** Lines of JSON as it is indexed: `member: value` below a place or another such line. One such line alone is prose. */
function isRecordLine(lines: readonly string[], index: number): boolean {
  const line = lines[index]?.trim() ?? '';
  const before = lines[index - 1]?.trim() ?? '';
  const after = lines[index + 1]?.trim() ?? '';
  if (placeLine.test(line)) return memberLine.test(after);
  return memberLine.test(line) && (memberLine.test(before) || memberLine.test(after) || placeLine.test(before));
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

/** Markdown without the marks of emphasis, code and links. */
function plain(text: string): string {
  return text
    .replace(/!?\[([^[\]]*)\]\([^)]{0,1000}\)/g, '$1')
    .replace(/(\*\*|__)(.+?)\1/g, '$2')
    .replace(/`([^`]*)`/g, '$1');
}
