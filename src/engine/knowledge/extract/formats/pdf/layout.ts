import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import initialize, { LiteParse, type LiteParseConfig, type ParsedPage } from '@llamaindex/liteparse-wasm';

/** Pages parsed at once: limits the parser's memory. */
const pagesPerBatch = 25;
let isInitialized = false;

/** A page as the layout parser reads it. */
export interface LayoutPage {
  readonly number: number;
  /** Columns and tables in reading order, with all text that the parser sees on the page. */
  readonly markdown: string;
  /** Whether it has form fields, notes or text boxes: the parser does not read them into the text. */
  readonly hasAnnotations: boolean;
  /** Whether some words may have raised or lowered figures, which stand in the text as others do. */
  readonly mayRaiseWords: boolean;
}

/** Reads the pages of a PDF in batches. @param onTotal  gets the number of pages before the first one comes. */
export async function* layoutPages(bytes: Uint8Array, onTotal: (pages: number) => void): AsyncGenerator<LayoutPage> {
  if (!isInitialized) {
    const wasm = createRequire(import.meta.url).resolve('@llamaindex/liteparse-wasm/liteparse_wasm_bg.wasm');
    await initialize({ module_or_path: readFileSync(wasm) });
    isInitialized = true;
  }
  const parser = new LiteParse({ ...options, extractFormFields: true, extractAnnotations: true });
  const session = await parser.openBatchSession(bytes, pagesPerBatch);
  onTotal(session.totalPages);
  for (let batch = await session.nextBatch(); batch !== undefined; batch = await session.nextBatch()) {
    const { pages } = batch.result;
    const turnedTexts = await turnedText(bytes, pages);
    for (const page of pages) yield layoutPage(page, turnedTexts.get(page.pageNum) ?? new Map());
  }
  session.free();
  parser.free();
}

const options: LiteParseConfig = {
  ocrEnabled: false,
  outputFormat: 'markdown',
  imageMode: 'off',
  quiet: true,
  // Without it the first rows of a table that goes on over several pages are taken for a header and left out.
  keepHeadersFooters: true,
};

function layoutPage(page: ParsedPage, turnedTexts: ReadonlyMap<number, string>): LayoutPage {
  // The direction of most letters first: it holds the heading.
  const directions = listDirections(page).filter((angle) => angle === 0 || turnedTexts.has(angle));
  let markdown = '';
  for (const angle of directions.includes(0) ? directions : [...directions, 0]) {
    markdown = joined(markdown, missingBlocks(withoutEscapes(turnedTexts.get(angle) ?? page.markdown), markdown));
  }
  markdown = joined(markdown, missingLines(page.text, markdown));
  const annotations = page.annotations?.some(({ subtype }) => subtype !== 'link') ?? false;
  return {
    number: page.pageNum,
    markdown,
    hasAnnotations: annotations || (page.formFields?.length ?? 0) > 0,
    mayRaiseWords: hasUnevenWord(page.textItems),
  };
}

/** Whether a word with a figure is higher than others of its font: another font reaches above or below it. */
function hasUnevenWord(items: ParsedPage['textItems']): boolean {
  const lowest = new Map<string, number>();
  const listHeights = ({ fontName, fontSize, words = [] }: ParsedPage['textItems'][number]) =>
    words.map(({ text, height }) => ({ font: `${fontName} ${fontSize}`, text, height }));
  const words = items.flatMap(listHeights);
  for (const { font, height } of words) lowest.set(font, Math.min(height, lowest.get(font) ?? height));
  return words.some(({ font, text, height }) => height > (lowest.get(font) ?? height) * 1.005 && figureBehind.test(text));
}

const figureBehind = /[\p{L}\p{N})\]][+−–-]?\d/u;

/**
 * The Markdown of pages with turned text, read once more with the page turned: the parser's Markdown has no sideways text and mixes up the words of
 * pages upside down, and its plain text divides sideways words at wrong places.
 *
 * @returns Markdown by page and angle.
 */
async function turnedText(bytes: Uint8Array, pages: readonly ParsedPage[]): Promise<Map<number, Map<number, string>>> {
  const markdown = new Map<number, Map<number, string>>();
  for (const angle of [90, 180, 270]) {
    const turnedPages = pages.filter((page) => needsTurning(page, angle)).map(({ pageNum }) => pageNum);
    if (turnedPages.length === 0) continue;
    const parser = new LiteParse({
      ...options,
      targetPages: turnedPages.join(','),
      pageOrientationCorrections: turnedPages.map((page) => ({ page, angle })),
    });
    const result = await parser.parse(bytes);
    for (const page of result.pages) {
      markdown.set(page.pageNum, new Map(markdown.get(page.pageNum)).set(angle, page.markdown));
    }
    parser.free();
  }
  return markdown;
}

function needsTurning(page: ParsedPage, angle: number): boolean {
  if (angle === 180) return listDirections(page)[0] === 180;
  const present = bare(page.markdown);
  return page.textItems.some(({ rotation, text }) => rightAngle(rotation) === angle && !present.includes(bare(text)));
}

/** The directions of a page's text in degrees, that of the most text first. */
function listDirections({ textItems }: ParsedPage): number[] {
  const chars = new Map<number, number>();
  for (const { rotation, text } of textItems) {
    const angle = rightAngle(rotation);
    if (angle !== undefined) chars.set(angle, (chars.get(angle) ?? 0) + text.length);
  }
  return [...chars].sort(([, a], [, b]) => b - a).map(([angle]) => angle);
}

/** 0, 90, 180 or 270; undefined for text across the page. */
function rightAngle(rotation: number): number | undefined {
  const nearest = Math.round(rotation / 90) * 90;
  return Math.abs(rotation - nearest) < 2 ? ((nearest % 360) + 360) % 360 : undefined;
}

/** The blocks of Markdown that say something else than a text. */
function missingBlocks(markdown: string, present: string): string {
  return markdown.split('\n\n').filter(missingIn(present)).join('\n\n');
}

/** The lines of plain text, or the columns of them, that the Markdown has lost. */
function missingLines(text: string, markdown: string): string {
  const isMissing = missingIn(markdown);
  return text
    .split('\n')
    .map((line) => line.split(/ {2,}/).filter(isMissing).join('  '))
    .filter((line) => line !== '')
    .join('\n');
}

/**
 * Whether a part of a page has words that a text of the page does not have: in their order, or else each for itself. The parser divides some words of
 * turned text, so a word may be there together with the one beside it.
 */
function missingIn(present: string): (part: string) => boolean {
  const presentBare = bare(present);
  let presentWords: ReadonlySet<string> | undefined;
  return (part) => {
    if (presentBare.includes(bare(part))) return false;
    presentWords ??= new Set(listWords(present));
    const knownWords = presentWords;
    const words = listWords(part);
    return words.some((word, place) => {
      const [before = '', after = ''] = [words[place - 1], words[place + 1]];
      return !knownWords.has(word) && !knownWords.has(before + word) && !knownWords.has(word + after);
    });
  };
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part.trim() !== '').join('\n\n');
}

/** Letters and figures alone: what two ways to write one text have in common. */
function bare(text: string): string {
  return text.normalize('NFKC').replace(/[^\p{L}\p{N}]+/gu, '');
}

function listWords(text: string): string[] {
  return text.normalize('NFKC').match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** People search for `snake_case` and are shown what stands on the page, so signs that Markdown escapes stand there as themselves. */
function withoutEscapes(markdown: string): string {
  return markdown.replace(/\\([\\*_])/g, '$1');
}
