import type { Block, BlockKind } from './document.ts';

type ScannedBlock = Omit<Block, 'page'>;

const heading = /^ {0,3}(#{1,6})(?:[ \t]|$)/;
const fence = /^ {0,3}(`{3,}|~{3,})/;
const listItem = /^ {0,3}(?:[-*+•]|\d{1,9}[.)])(?:[ \t]|$)/;
const tableRule = /^(?: {0,3}\|)?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$/;
const underline = /^ {0,3}(=+|-+)[ \t]*$/;
/** A longer line is a paragraph, however it begins, so that no pattern runs over megabytes. */
const lineMaxChars = 10_000;

/**
 * Finds the blocks of Markdown in one pass, line by line. It knows headings, fenced code, tables and lists, where passages are cut;
 * everything else is a paragraph. Every line that is not blank is in a block.
 */
export function* markdownBlocks(text: string): Generator<ScannedBlock> {
  let start = -1;
  let end = 0;
  let kind: BlockKind = 'paragraph';
  let fenceMark = '';
  let lines = 0;
  let isAfterBlank = false;
  const takeBlock = (): ScannedBlock => ({ kind, level: null, charStart: start, charEnd: end });

  for (let from = 0; from < text.length; ) {
    const newline = text.indexOf('\n', from);
    const to = newline === -1 ? text.length : newline;
    const line = to - from > lineMaxChars ? 'x' : text.slice(from, to);
    const isBlank = line.trim() === '';

    if (fenceMark !== '') {
      end = to;
      if (closes(line, fenceMark)) {
        yield takeBlock();
        start = -1;
        fenceMark = '';
      }
    } else if (isBlank) {
      if (start !== -1 && kind !== 'list') {
        yield takeBlock();
        start = -1;
      }
      isAfterBlank = true;
    } else {
      const level = heading.exec(line)?.[1]?.length;
      const mark = fence.exec(line)?.[1];
      const isUnderlineAllowed = start !== -1 && kind === 'paragraph' && lines === 1 && !isAfterBlank;
      const setext = isUnderlineAllowed ? underline.exec(line)?.[1]?.[0] : undefined;
      if (level !== undefined) {
        if (start !== -1) yield takeBlock();
        yield { kind: 'heading', level, charStart: from, charEnd: to };
        start = -1;
      } else if (mark !== undefined) {
        if (start !== -1) yield takeBlock();
        start = from;
        end = to;
        kind = 'code';
        fenceMark = mark;
      } else if (setext !== undefined) {
        yield { kind: 'heading', level: setext === '=' ? 1 : 2, charStart: start, charEnd: to };
        start = -1;
      } else {
        if (isUnderlineAllowed && line.includes('|') && tableRule.test(line)) kind = 'table';
        else if (start !== -1 && startsAnew(kind, line, isAfterBlank)) {
          yield takeBlock();
          start = -1;
        }
        if (start === -1) {
          start = from;
          lines = 0;
          kind = listItem.test(line) ? 'list' : 'paragraph';
        }
        end = to;
        lines += 1;
      }
      isAfterBlank = false;
    }
    from = to + 1;
  }
  if (start !== -1) yield takeBlock();
}

/** Whether a line other than a heading or a fence ends the open block. */
function startsAnew(kind: BlockKind, line: string, isAfterBlank: boolean): boolean {
  if (kind === 'list') return isAfterBlank && !listItem.test(line) && !/^[ \t]{2,}/.test(line);
  if (kind === 'table') return !line.includes('|');
  return kind === 'paragraph' && listItem.test(line) && !/^ {0,3}\d{2,}[.)]/.test(line);
}

function closes(line: string, mark: string): boolean {
  const trimmedLine = line.trim();
  return trimmedLine.length >= mark.length && trimmedLine.replaceAll(mark[0] ?? '`', '') === '';
}

/** The words of a heading block without Markdown marks. */
export function headingText(raw: string): string {
  return (raw.split('\n', 1)[0] ?? '')
    .replace(/^\s{0,3}#{1,6}(?=\s|$)/, '')
    .replace(/\s#+\s*$/, '')
    .replace(/!?\[([^\]]{0,500})\]\([^)]{0,2000}\)/g, '$1')
    .replace(/[*`]+/g, '')
    .replace(/(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu, '')
    .trim();
}

/** Paragraphs of plain text: lines between blank lines. */
export function* plainBlocks(text: string): Generator<ScannedBlock> {
  let start = -1;
  let end = 0;
  for (let from = 0; from < text.length; ) {
    const newline = text.indexOf('\n', from);
    const to = newline === -1 ? text.length : newline;
    const isBlank = to - from <= lineMaxChars && text.slice(from, to).trim() === '';
    if (!isBlank) {
      if (start === -1) start = from;
      end = to;
    } else if (start !== -1) {
      yield { kind: 'paragraph', level: null, charStart: start, charEnd: end };
      start = -1;
    }
    from = to + 1;
  }
  if (start !== -1) yield { kind: 'paragraph', level: null, charStart: start, charEnd: end };
}
