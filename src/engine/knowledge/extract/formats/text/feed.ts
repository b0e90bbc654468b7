import { oneLine } from '../../../../../lib/text/text.ts';
import type { DocumentWriter } from '../../document-writer.ts';
import { plainBlocks } from '../../markdown-blocks.ts';
import { attribute, readXml, type XmlAttributes, type XmlHandler } from '../../xml.ts';
import { textOfBody, writeHtml } from '../html/html.ts';

/** A feed or an entry of it. */
interface FeedPart {
  title: string;
  link: string;
  date: string;
  author: string;
  summary: string;
  content: string;
}

/** A feed: its title, and below a heading each entry with its link, date, author and text. */
export async function readFeed(text: string, writer: DocumentWriter): Promise<void> {
  const reader = new FeedReader((part, level) => writePart(part, level, writer));
  await readXml(whole(text), reader, 'The feed');
  reader.end();
  // A feed that says nothing.
  if (writer.length > 0) return;
  writer.firstLine = 1;
  writer.text(text, plainBlocks);
}

async function* whole(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

function writePart({ title, link, date, author, summary, content }: FeedPart, level: number, writer: DocumentWriter): void {
  const name = toText(title);
  if (level === 1) writer.title = name;
  writer.heading(level, name === '' && level > 1 ? link || 'Entry' : name);
  const lines = [
    ['Link', link],
    ['Date', date],
    ['Author', author],
  ].filter(([, value]) => value !== '');
  writer.block('paragraph', lines.map(([word, value]) => `${word}: ${value}`).join('\n'));
  // The content is the whole text, of which a summary often is the beginning.
  const body = content.trim() === '' ? summary : content;
  if (isHtml(body)) writeHtml(textOfBody(body), writer);
  else writer.block('paragraph', body);
}

function isHtml(text: string): boolean {
  return /<[a-z!/]|&[a-z#]\w{1,10};/i.test(text);
}

/** Titles are text, which Atom and many feeds of RSS write as HTML. */
function toText(title: string): string {
  return oneLine(isHtml(title) ? textOfBody(title).text : title);
}

type Field = keyof FeedPart;
const fields: Readonly<Record<string, Field>> = {
  title: 'title',
  link: 'link',
  pubDate: 'date',
  published: 'date',
  updated: 'date',
  date: 'date',
  author: 'author',
  creator: 'author',
  description: 'summary',
  subtitle: 'summary',
  summary: 'summary',
  encoded: 'content',
  content: 'content',
};
const entryNames: ReadonlySet<string> = new Set(['item', 'entry']);

class FeedReader implements XmlHandler {
  readonly #write: (part: FeedPart, level: number) => void;
  readonly #feed = emptyPart();
  #entry: FeedPart | undefined;
  /** Names of the elements around. */
  readonly #path: string[] = [];
  /** The member that is being read, how deep its element stands, and what was read of it. */
  #open:
    | {
        readonly field: Field;
        readonly depth: number;
        readonly isHtml: boolean;
        readonly isPlain: boolean;
        readonly pieces: string[];
      }
    | undefined;
  #hasWrittenFeed = false;

  constructor(write: (part: FeedPart, level: number) => void) {
    this.#write = write;
  }

  open(name: string, attributes: XmlAttributes): void {
    this.#path.push(name);
    if (this.#open !== undefined) {
      // The XHTML of Atom stands in the feed as elements.
      this.#open.pieces.push(this.#open.isHtml ? toTag(name, attributes) : ' ');
      return;
    }
    const parent = this.#path.at(-2) ?? '';
    if (entryNames.has(name)) {
      this.#writeFeed();
      this.#entry = emptyPart();
    } else if (entryNames.has(parent) || ((parent === 'channel' || parent === 'feed') && this.#entry === undefined)) {
      this.#begin(name, attributes);
    }
  }

  text(text: string): void {
    this.#open?.pieces.push(this.#open.isHtml ? escaped(text) : text);
  }

  close(name: string): void {
    if (this.#open !== undefined && this.#path.length === this.#open.depth) {
      const value = this.#open.pieces.join('');
      this.#keep(this.#open.field, this.#open.isPlain ? asHtml(value) : value);
      this.#open = undefined;
    } else if (this.#open?.isHtml === true) this.#open.pieces.push(`</${name}>`);
    this.#path.pop();
    if (!entryNames.has(name) || this.#entry === undefined || this.#open !== undefined) return;
    this.#write(this.#entry, 2);
    this.#entry = undefined;
  }

  /** Writes a feed without entries. */
  end(): void {
    this.#writeFeed();
  }

  #begin(name: string, attributes: XmlAttributes): void {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) return;
    const address = attribute(attributes, 'href');
    const relation = attribute(attributes, 'rel') ?? 'alternate';
    if (field === 'link' && address !== undefined) {
      if (relation === 'alternate') this.#keep('link', address);
      return;
    }
    const type = attribute(attributes, 'type');
    // Where a feed states no type, many write HTML, though Atom takes that for text.
    const isPlain = isText(field) && (type === 'text' || type === 'text/plain');
    this.#open = { field, depth: this.#path.length, isHtml: type === 'xhtml', isPlain, pieces: [] };
  }

  /** Keeps the first of a kind: `published` or `pubDate` stand before what extensions say once more. */
  #keep(field: Field, value: string): void {
    const part = this.#entry ?? this.#feed;
    if (part[field] === '') part[field] = isText(field) ? value.trim() : oneLine(value);
  }

  #writeFeed(): void {
    if (this.#hasWrittenFeed) return;
    this.#hasWrittenFeed = true;
    this.#write(this.#feed, 1);
  }
}

function isText(field: Field): boolean {
  return field === 'summary' || field === 'content' || field === 'title';
}

/** Text that the feed says is no HTML, so that nothing in it is read as a tag. */
function asHtml(text: string): string {
  return isHtml(text) ? escaped(text).replaceAll('\n', '<br>') : text;
}

function emptyPart(): FeedPart {
  return { title: '', link: '', date: '', author: '', summary: '', content: '' };
}

function toTag(name: string, attributes: XmlAttributes): string {
  const shown = ['href', 'src', 'alt'].flatMap((key) => {
    const value = attribute(attributes, key);
    return value === undefined ? [] : [` ${key}="${escaped(value).replaceAll('"', '&quot;')}"`];
  });
  return `<${name}${shown.join('')}>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
