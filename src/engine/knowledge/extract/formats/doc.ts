import { createRequire } from 'node:module';
import type { DocumentWriter } from '../document-writer.ts';
import { damaged, ExtractError, encrypted } from '../error.ts';
import { writeTable } from './markdown-table.ts';

const what = 'The Word document';
const require = createRequire(import.meta.url);

/** The parts of `word-extractor` that are used; it has no types. */
interface Piece {
  text: string;
  readonly startFilePos: number;
  readonly endFilePos: number;
  /** Bytes of a character. */
  readonly bpc: number;
}
interface WordTextOptions {
  readonly includeHeadersAndFooters: boolean;
  /** Whether typographic quotes and dashes become plain ones. */
  readonly filterUnicode: boolean;
}
interface WordText {
  getBody(options: WordTextOptions): string;
  getFootnotes(options: WordTextOptions): string;
  getEndnotes(options: WordTextOptions): string;
  getAnnotations(options: WordTextOptions): string;
  getTextboxes(options: WordTextOptions): string;
}
interface WordReader {
  readonly _pieces: Piece[];
  extract(reader: unknown): Promise<WordText>;
  extractWordDocument(document: unknown, buffer: Buffer): Promise<WordText>;
  writeParagraphProperties(buffer: Buffer, table: Buffer): void;
}
const WordOleExtractor: new () => WordReader = require('word-extractor/lib/word-ole-extractor');
const BufferReader: new (buffer: Buffer) => { open(): Promise<void> } = require('word-extractor/lib/buffer-reader');

/** Ends a paragraph in the style of heading 1; the next eight characters are those of the other levels. They have no meaning elsewhere. */
const headingMark = 0xe7c0;
const pageBytes = 512;
/** The first two bytes of the stream of a document since Word 97. */
const wordMagic = 0xa5ec;
const asWritten: WordTextOptions = { includeHeadersAndFooters: false, filterUnicode: false };

/**
 * A document of Word 97 to 2003: headings, tables, then footnotes, endnotes, comments and text boxes below headings of their own.
 * Deleted text, headers, footers and macros are left out. The format keeps no pages.
 *
 * @throws ExtractError ENCRYPTED, CORRUPT.
 */
export async function readDoc(bytes: Uint8Array, writer: DocumentWriter): Promise<void> {
  const reader = new BufferReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  await reader.open();
  const text = await new HeadingExtractor().extract(reader).catch((error: unknown) => {
    throw error instanceof ExtractError ? error : damaged(what);
  });
  writeBody(text.getBody(asWritten), writer);
  const parts = [
    ['Footnotes', text.getFootnotes(asWritten)],
    ['Endnotes', text.getEndnotes(asWritten)],
    ['Comments', text.getAnnotations(asWritten)],
    ['Text boxes', text.getTextboxes(asWritten)],
  ] as const;
  for (const [name, content] of parts) {
    if (content.trim() === '') continue;
    writer.heading(1, name);
    for (const line of content.split('\n')) writer.block('paragraph', line);
  }
}

/** Keeps the heading styles, which the library reads over, as marks at the end of paragraphs. */
class HeadingExtractor extends WordOleExtractor implements WordReader {
  override extractWordDocument(document: unknown, buffer: Buffer): Promise<WordText> {
    const isWord = buffer.length > 12 && buffer.readUInt16LE(0) === wordMagic;
    if (isWord && (buffer.readUInt16LE(10) & 0x0100) !== 0) return Promise.reject(encrypted(what));
    return super.extractWordDocument(document, buffer);
  }

  override writeParagraphProperties(buffer: Buffer, table: Buffer): void {
    super.writeParagraphProperties(buffer, table);
    for (const { end, style } of paragraphStyles(buffer, table)) {
      // Styles 1 to 9 are the headings in every document.
      if (style < 1 || style > 9) continue;
      const piece = this._pieces.find(({ startFilePos, endFilePos }) => startFilePos < end && end <= endFilePos);
      if (piece === undefined) continue;
      const at = (end - piece.startFilePos) / piece.bpc - 1;
      if (piece.text[at] !== '\r') continue;
      piece.text = `${piece.text.slice(0, at)}${String.fromCharCode(headingMark + style - 1)}${piece.text.slice(at + 1)}`;
    }
  }
}

/** The end of each paragraph in the file, with the number of its style. The table's entries name pages of 512 bytes with paragraphs. */
function* paragraphStyles(buffer: Buffer, table: Buffer): Generator<{ readonly end: number; readonly style: number }> {
  const start = buffer.readUInt32LE(0x0102);
  const count = (buffer.readUInt32LE(0x0106) - 4) / 8;
  for (let index = 0; index < count; index += 1) {
    const number = table.readUInt32LE(start + (count + 1) * 4 + index * 4);
    const page = buffer.subarray(number * pageBytes, (number + 1) * pageBytes);
    const runs = page[pageBytes - 1] ?? 0;
    for (let run = 0; run < runs; run += 1) {
      const at = (page[(runs + 1) * 4 + run * 13] ?? 0) * 2;
      // A length of 0 is followed by the length of a longer list.
      const style = at === 0 ? 0 : page.readUInt16LE(page[at] === 0 ? at + 2 : at + 1);
      yield { end: page.readUInt32LE((run + 1) * 4), style };
    }
  }
}

/** Lines are paragraphs; those that end with a tab are rows of a table, their cells between tabs. */
function writeBody(body: string, writer: DocumentWriter): void {
  let rows: string[][] = [];
  const endTable = () => {
    if (rows.length > 0) writeTable(writer, rows);
    rows = [];
  };
  for (const line of body.replace(/[\ue7c0-\ue7c8]/g, (mark) => `${mark}\n`).split('\n')) {
    const content = line.trimEnd();
    if (content !== '' && line.includes('\t', content.length)) {
      rows.push(content.split('\t'));
      continue;
    }
    endTable();
    const level = line.charCodeAt(line.length - 1) - headingMark + 1;
    const isHeading = level >= 1 && level <= 9;
    if (!isHeading) writer.block('paragraph', line);
    else {
      writer.heading(level, line.slice(0, -1));
      if (level === 1) writer.title ??= line.slice(0, -1);
    }
  }
  endTable();
}
