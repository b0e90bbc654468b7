import { posix } from 'node:path';
import { oneLine } from '../../../../lib/text/text.ts';
import type { Archive } from '../archive.ts';
import { decodeText } from '../charset.ts';
import type { DocumentWriter } from '../document-writer.ts';
import { damaged, ExtractError } from '../error.ts';
import { textOfBody, writeHtml } from './html/html.ts';
import { dividesWords } from './html/html-text.ts';

/** Ways to make fonts unreadable outside the book; its text stays readable. */
const fontAlgorithms = /^http:\/\/(?:www\.idpf\.org\/2008\/embedding|ns\.adobe\.com\/pdf\/enc#RC)$/;
/** Elements without content, which alone may be closed like `<br/>` in HTML. */
const emptyElements = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/i;

/** Pages, drawings with their words, plain text. */
const readableTypes = /html|svg\+xml|dtbook|^text\/|^application\/xml$/i;

interface Book {
  title: string;
  /** Chapters in the order of reading, as names of parts; undefined for one in a format that is not read, without another one in its place. */
  readonly chapters: readonly (string | undefined)[];
  /** The table of contents: a part of XML in which links or labels name chapters. */
  readonly contents: string | undefined;
}

/** A book, chapter by chapter in the order of reading. A chapter without headings gets its name from the table of contents. */
export async function readEpub(archive: Archive, writer: DocumentWriter): Promise<void> {
  archive.what = 'The book';
  await requirePlain(archive);
  const book = await readPackage(archive, await packagePart(archive));
  const names = await readContents(archive, book.contents);
  for (const chapter of book.chapters) {
    if (chapter !== undefined && chapter === book.contents) continue;
    const bytes = chapter === undefined ? undefined : await archive.read(chapter);
    if (chapter === undefined || bytes === undefined) {
      writer.omit('CHAPTERS');
      continue;
    }
    const read = textOfBody(closedElements(decodeText(bytes)));
    const hasHeading = read.isMarkdown && /^#{1,6} /m.test(read.text);
    if (!hasHeading && read.text.trim() !== '') writer.heading(1, names.get(chapter) ?? '');
    writeHtml(read, writer);
  }
  writer.title = oneLine(book.title);
}

async function requirePlain(archive: Archive): Promise<void> {
  await archive.xml('META-INF/encryption.xml', {
    open(name, { Algorithm = '' }) {
      if (name !== 'EncryptionMethod' || fontAlgorithms.test(Algorithm)) return;
      throw new ExtractError(
        'ENCRYPTED',
        'The book is protected by a password or against copying; add a file without protection.',
      );
    },
  });
}

async function packagePart(archive: Archive): Promise<string> {
  let part = '';
  await archive.xml('META-INF/container.xml', {
    open(name, attributes) {
      if (name === 'rootfile' && part === '') part = inside('', attributes['full-path'] ?? '');
    },
  });
  return part;
}

async function readPackage(archive: Archive, part: string): Promise<Book> {
  const items = new Map<string, BookItem>();
  const spine: string[] = [];
  let contents: string | undefined;
  let title = '';
  let isTitle = false;
  const isThere = await archive.xml(part, {
    open(name, { id = '', href = '', idref = '', properties = '', 'media-type': type = '', fallback }) {
      isTitle = name === 'title' && title === '';
      if (name === 'itemref') spine.push(idref);
      if (name !== 'item') return;
      items.set(id, { part: inside(part, href), type, fallback });
      const isNavigation = properties.split(' ').includes('nav');
      if (isNavigation || (type === 'application/x-dtbncx+xml' && contents === undefined)) contents = inside(part, href);
    },
    close: () => {
      isTitle = false;
    },
    text: (text) => {
      if (isTitle) title += text;
    },
  });
  if (!isThere) throw damaged(archive.what);
  return { title, contents, chapters: [...new Set(spine)].map((id) => readablePart(items, id)) };
}

/** A file of the book. */
interface BookItem {
  readonly part: string;
  readonly type: string;
  /** The id of the item that stands for it where its format is not known. */
  readonly fallback: string | undefined;
}

/** The first part that can be read among an item and those that stand for it. */
function readablePart(items: ReadonlyMap<string, BookItem>, id: string): string | undefined {
  const seenPaths = new Set<string>();
  for (let next: string | undefined = id; next !== undefined && !seenPaths.has(next); next = items.get(next)?.fallback) {
    seenPaths.add(next);
    const item = items.get(next);
    if (item !== undefined && (item.type === '' || readableTypes.test(item.type))) return item.part;
  }
  return undefined;
}

/** Names of chapters: links of a navigation page, or labels followed by addresses in the older format. */
async function readContents(archive: Archive, part: string | undefined): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  if (part === undefined) return names;
  let label = '';
  let href: string | undefined;
  const keep = (address: string) => {
    const chapter = inside(part, address);
    if (oneLine(label) !== '' && !names.has(chapter)) names.set(chapter, oneLine(label));
  };
  await archive.xml(part, {
    open(name, attributes) {
      if (dividesWords(name)) label += ' ';
      if (name === 'a' || name === 'navLabel') label = '';
      if (name === 'a') href = attributes.href;
      if (name === 'content') keep(attributes.src ?? '');
    },
    close(name) {
      if (name !== 'a' || href === undefined) return;
      keep(href);
      href = undefined;
    },
    text: (text) => {
      label += text;
    },
  });
  return names;
}

/** The part that an address in another part names; never one outside the archive. */
function inside(part: string, address: string): string {
  const path = address.split('#', 1)[0] ?? '';
  return posix.join('/', posix.dirname(part), decoded(path)).slice(1);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Chapters are XML, in which any element may be closed like `<p/>`; in HTML it would stay open. */
function closedElements(xhtml: string): string {
  return xhtml
    .replace(/^\ufeff?\s*<\?xml[^>]{0,200}\?>\s*(?:<!DOCTYPE svg[^>]{0,300}>)?/i, '')
    .replace(/<([a-zA-Z][\w:-]{0,40})([^<>]{0,2000})\/>/g, (tag, name: string, attributes: string) =>
      emptyElements.test(name) ? tag : `<${name}${attributes}></${name}>`,
    );
}
