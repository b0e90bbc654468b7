import type { DocumentWriter } from '../../document-writer.ts';
import { damaged, ExtractError, encrypted } from '../../error.ts';
import { markdownBlocks } from '../../markdown-blocks.ts';
import { firstHeading } from '../markdown.ts';
import { type LayoutPage, layoutPages } from './layout.ts';
import { rightToLeftShare } from './lines.ts';
import { openDetails, type PdfDetails, type ShownLines } from './pdfjs.ts';
import { withRaisedWords } from './raised-words.ts';
import { mayHaveRareCharacters, withRareCharacters } from './rare-characters.ts';

/** The layout parser gives words and letters from right to left in the wrong order. A page with fewer of them keeps its tables. */
const rightToLeftMinShare = 0.2;
/** The second parser takes as long for a page as the first one: later pages of a long book lack the letters and raised figures of their formulas. */
const closePagesMax = 200;

/**
 * PDF to Markdown, page by page, columns and tables in reading order: the text that a viewer shows, with values of form fields and notes.
 * Sideways text follows the upright text of its page. Pages with text in layers that are off, and pages in a script from right to left, are read line by line.
 *
 * @throws ExtractError ENCRYPTED, CORRUPT, or NO_TEXT for pages that are only images.
 */
export async function readPdf(bytes: Uint8Array, writer: DocumentWriter): Promise<void> {
  const details = new LazyDetails(bytes);
  let pagesWithoutText = 0;
  try {
    const pages = layoutPages(bytes, (total) => {
      writer.pageCount = total;
    });
    for await (const page of pages) {
      const markdown = await pageText(page, details, writer);
      if (!hasWords(markdown)) {
        pagesWithoutText += 1;
        continue;
      }
      writer.title ??= firstHeading(markdown);
      writer.text(markdown, markdownBlocks, page.number);
    }
  } catch (error) {
    if (error instanceof RangeError || error instanceof ExtractError) throw error;
    throw /password|encrypt/i.test(String(error)) ? encrypted('The PDF') : damaged('The PDF');
  } finally {
    await details.close();
  }
  writer.omit('PAGES_WITHOUT_TEXT', pagesWithoutText, writer.pageCount);
  if (writer.length === 0) {
    throw new ExtractError(
      'NO_TEXT',
      'The PDF has no text layer: its pages are pictures. Run text recognition (OCR) on it and add it again.',
    );
  }
}

async function pageText(page: LayoutPage, details: LazyDetails, writer: DocumentWriter): Promise<string> {
  const pageContent = await shownText(page, details, writer);
  const annotations = page.hasAnnotations ? await details.annotations(page.number) : [];
  const words = hasWords(pageContent) ? [pageContent] : [];
  return [...words, ...annotations.filter((annotation) => annotation !== '' && !pageContent.includes(annotation))].join('\n\n');
}

/** The layout parser gives a fence without code for some pages without text. */
function hasWords(markdown: string): boolean {
  return /[\p{L}\p{N}]/u.test(markdown.replace(/^```\w*$/gm, ''));
}

async function shownText(page: LayoutPage, details: LazyDetails, writer: DocumentWriter): Promise<string> {
  const isReversed = rightToLeftShare(page.markdown) >= rightToLeftMinShare;
  const mayLackCharacters = page.number <= closePagesMax && details.mayHaveRareCharacters();
  const mayRaise = page.number <= closePagesMax && page.mayRaiseWords;
  if (!isReversed && !mayLackCharacters && !mayRaise && !(await details.mayHideText())) return page.markdown;
  const shownLines = await details.lines(page.number);
  if (shownLines === undefined) return page.markdown;
  const { lines, hasHiddenText, raisedWords } = shownLines;
  if (hasHiddenText) writer.omit('HIDDEN_PARTS');
  const text = hasHiddenText || isReversed ? lines.join('\n') : page.markdown;
  return withRareCharacters(withRaisedWords(text, raisedWords), mayLackCharacters && text === page.markdown ? lines : []);
}

/**
 * Opens the second parser for the few documents that need it: it costs as much as the layout of some pages. What it cannot read of a damaged document,
 * the layout parser may read all the same.
 */
class LazyDetails {
  readonly #bytes: Uint8Array;
  #details: Promise<PdfDetails | undefined> | undefined;
  #hasRareCharacters: boolean | undefined;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** @returns undefined where the page cannot be read. */
  async lines(page: number): Promise<ShownLines | undefined> {
    return (await this.#open())?.lines(page).catch(() => undefined);
  }

  async annotations(page: number): Promise<string[]> {
    return (await (await this.#open())?.annotations(page).catch(() => undefined)) ?? [];
  }

  mayHaveRareCharacters(): boolean {
    this.#hasRareCharacters ??= mayHaveRareCharacters(this.#bytes);
    return this.#hasRareCharacters;
  }

  /** Layers stand in the catalog, which may be compressed: then only the parser can tell. */
  async mayHideText(): Promise<boolean> {
    const file = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength);
    if (this.#details === undefined && !file.includes('/OCProperties') && !file.includes('/ObjStm')) return false;
    return (await this.#open())?.hasHiddenLayers ?? false;
  }

  async close(): Promise<void> {
    await (await this.#details)?.close();
  }

  #open(): Promise<PdfDetails | undefined> {
    this.#details ??= openDetails(this.#bytes).catch(() => undefined);
    return this.#details;
  }
}
