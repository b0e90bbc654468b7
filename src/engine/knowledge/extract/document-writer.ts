import type { Omission, OmissionKind } from '../../../entities/knowledge/omission.ts';
import { oneLine, withoutUnseenMarks } from '../../../lib/text/text.ts';
import type { Block, BlockKind, ExtractedDocument } from './document.ts';
import { ExtractError } from './error.ts';

const separator = '\n\n';

/** Collects the text and blocks of a document, cleans the text, and stops at the limit. Runs in the reader process. */
export class DocumentWriter {
  readonly textMaxChars: number;
  title: string | null = null;
  pageCount: number | null = null;
  /** Set by formats whose text is the file's own. */
  firstLine: number | null = null;
  readonly #pieces: string[] = [];
  readonly #blocks: Block[] = [];
  readonly #omissions = new Map<OmissionKind, Omission>();
  #length = 0;

  constructor(textMaxChars: number) {
    this.textMaxChars = textMaxChars;
  }

  get length(): number {
    return this.#length;
  }

  /** Adds one block; white space around it is removed, and a blank block is skipped. */
  block(kind: BlockKind, text: string, page: number | null = null): void {
    const clean = cleanText(text).trim();
    if (clean === '') return;
    const start = this.#open(clean.length);
    this.#pieces.push(clean);
    this.#blocks.push({ kind, level: null, charStart: start, charEnd: this.#length, page });
  }

  /** Adds a heading, written as in Markdown. @param level  1 to 6; a larger one counts as 6. */
  heading(level: number, text: string, page: number | null = null): void {
    const clean = oneLine(cleanText(text)).slice(0, headingMaxChars).toWellFormed();
    if (clean === '') return;
    const depth = Math.min(6, Math.max(1, level));
    const headingLine = `${'#'.repeat(depth)} ${clean}`;
    const start = this.#open(headingLine.length);
    this.#pieces.push(headingLine);
    this.#blocks.push({ kind: 'heading', level: depth, charStart: start, charEnd: this.#length, page });
  }

  /**
   * Counts something that is left out of the text. Counts of one kind are added up.
   *
   * @param total  how many of them the document has; null where only those left out are known.
   */
  omit(kind: OmissionKind, count = 1, total: number | null = null): void {
    if (count <= 0) return;
    const before = this.#omissions.get(kind);
    const totals = [before?.total ?? null, total].filter((number) => number !== null);
    const sum = totals.length === 0 ? null : totals.reduce((all, number) => all + number, 0);
    this.#omissions.set(kind, { kind, count: (before?.count ?? 0) + count, total: sum });
  }

  /** Adds another document as a part of this one, without its pages. @param below  level of the heading that it stands below. */
  part({ text, blocks, omissions }: ExtractedDocument, below: number): void {
    for (const { kind, count, total } of omissions) this.omit(kind, count, total);
    const start = this.#open(text.length);
    this.#pieces.push(text);
    for (const { kind, level, charStart, charEnd } of blocks) {
      const deeper = level === null ? null : Math.min(6, level + below);
      this.#blocks.push({ kind, level: deeper, charStart: start + charStart, charEnd: start + charEnd, page: null });
    }
  }

  /** Adds text with several blocks; `scan` gets the cleaned text and returns their positions. */
  text(raw: string, scan: (text: string) => Iterable<Omit<Block, 'page'>>, page: number | null = null): void {
    const clean = cleanText(raw).trimEnd();
    if (clean.trim() === '') return;
    const start = this.#open(clean.length);
    this.#pieces.push(clean);
    for (const { kind, level, charStart, charEnd } of scan(clean)) {
      this.#blocks.push({ kind, level, charStart: start + charStart, charEnd: start + charEnd, page });
    }
  }

  /** @throws ExtractError NO_TEXT when nothing was added. */
  finish(mimeType: string): ExtractedDocument {
    if (this.#blocks.length === 0) throw new ExtractError('NO_TEXT', 'The document holds no text; text in pictures is not read.');
    const title = this.title === null ? '' : oneLine(cleanText(this.title)).slice(0, titleMaxChars).toWellFormed();
    return {
      title: title === '' ? null : title,
      mimeType,
      text: this.#pieces.join(''),
      blocks: this.pageCount === null ? this.#blocks.map((block) => ({ ...block, page: null })) : this.#blocks,
      pageCount: this.pageCount,
      firstLine: this.firstLine,
      omissions: [...this.#omissions.values()],
    };
  }

  /** Adds a separator and checks the limit for `chars` more characters. @returns where they start. */
  #open(chars: number): number {
    const gap = this.#length === 0 ? 0 : separator.length;
    if (this.#length + gap + chars > this.textMaxChars) throw tooMuchText(this.textMaxChars);
    if (gap > 0) this.#pieces.push(separator);
    this.#length += gap + chars;
    return this.#length - chars;
  }
}

const titleMaxChars = 300;
/** Longer headings are paragraphs in the style of one. */
const headingMaxChars = 1_000;

export function tooMuchText(textMaxChars: number): ExtractError {
  const limit = textMaxChars.toLocaleString('en-US');
  return new ExtractError('TOO_LARGE', `The document holds more than ${limit} characters of text; split it into smaller ones.`);
}

/** Text that PostgreSQL can store, without NUL, lone surrogates, marks that divide words, and pictures that are written as text, with `\n` as its line end. */
export function cleanText(text: string): string {
  let clean = withoutDataAddresses(text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text);
  if (clean.includes('\0')) clean = clean.replaceAll('\0', ' ');
  clean = withoutUnseenMarks(clean);
  return clean.isWellFormed() ? clean : clean.toWellFormed();
}

/** An address that holds its content, such as a picture in base64. What comes before the content is bounded, so that the time is linear. */
const dataAddress =
  /\bdata:(?:[a-z]{1,40}\/[\w.+-]{1,100}(?:;[\w.+-]{1,40}(?:=[\w.+-]{0,100})?){0,5}|;base64),[^\s"'<>()[\]{}\\|]*/gi;

/** Drops addresses that hold their content: nobody searches for it. Lines stay as many as they are. */
function withoutDataAddresses(text: string): string {
  const bare = text.replace(dataAddress, '');
  if (bare.length === text.length) return text;
  // What Markdown writes around them: pictures and links become their words, definitions of references an empty line.
  return bare
    .replace(/^ {0,3}\[[^\]\n]{1,200}\]:[ \t]{0,20}(?:<>)?[ \t]{0,20}(?:"[^"\n]{0,200}")?$/gm, '')
    .replace(/!?\[([^\]\n]{0,200})\]\((?:<>)?(?:[ \t]{1,20}"[^"\n]{0,200}")?\)/g, '$1')
    .replace(/!\[([^\]\n]{0,200})\]\[[^\]\n]{0,200}\]/g, '$1');
}
