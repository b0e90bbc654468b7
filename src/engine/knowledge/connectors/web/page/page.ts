import { Parser } from 'htmlparser2';
import { oneLine } from '../../../../../lib/text/text.ts';
import { footed, isHidden } from '../../../extract/formats/html/html-parts.ts';
import { dividesWords } from '../../../extract/formats/html/html-text.ts';
import { readAddress } from '../address/address.ts';
import { bothDirectives, type RobotsDirectives, readRobotsDirectives } from '../site/robots-directives.ts';
import { TextHash } from './text-hash.ts';

/** Open elements. The parser takes quadratic time for more of them, and no person nests so deep: the rest of such a page is not read. */
const openMax = 1_000;
/** Links of one page that are looked at. */
const linksMax = 5_000;
const sliceChars = 64 * 1024;
const titleMax = 1_000;
/** As the extractor leaves it out. The head is not here, because pages may leave its end out. */
const neverText = new Set(['script', 'style', 'noscript', 'template', 'svg', 'canvas', 'iframe', 'object', 'embed', 'title']);
const aroundText = new Set(['nav', 'search', 'aside']);
const aroundRoles = new Set(['navigation', 'banner', 'contentinfo', 'search']);
const linkTags: Readonly<Record<string, string>> = { a: 'href', area: 'href', frame: 'src', iframe: 'src' };

/** What a crawl needs of a page. */
export interface Page {
  /** Its title, else its first heading; empty when it has neither. */
  readonly title: string;
  /** Absolute, without repetition, in the order of the page. */
  readonly links: readonly string[];
  /** The address that the page itself calls the right one. */
  readonly canonical: string | undefined;
  /** Where the page sends its visitors at once. */
  readonly refresh: string | undefined;
  readonly directives: RobotsDirectives;
  /** Equal for pages with the same visible text outside menus, and the same title. Undefined for a page without text. */
  readonly textHash: string | undefined;
}

/**
 * Reads a page. Call it only in the process that reads pages: the page may be hostile.
 *
 * @param url  where the page was read.
 * @param token  the name of this crawler in robots tags, in lower case.
 */
export function readPage(html: string, url: string, token: string): Page {
  const reader = new PageReader(url, token);
  for (let start = 0; start < html.length && !reader.isTooDeep; start += sliceChars) {
    reader.parser.write(html.slice(start, start + sliceChars));
  }
  reader.parser.end();
  return reader.page();
}

type Attributes = Readonly<Record<string, string>>;

class PageReader {
  readonly parser: Parser;
  readonly #url: string;
  readonly #token: string;
  readonly #links = new Set<string>();
  readonly #text = new TextHash();
  #base: string;
  #canonical: string | undefined;
  #refresh: string | undefined;
  #directives: RobotsDirectives = { isIndexed: true, isFollowed: true };
  #title: string | undefined;
  #heading: string | undefined;
  #open: 'title' | 'heading' | undefined;
  #footedDepth = 0;
  /** How many open elements are inside one whose text does not count, that one included. */
  #hiddenDepth = 0;
  #aroundDepth = 0;
  #openCount = 0;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#base = url;
    this.#token = token;
    this.parser = new Parser(
      {
        onopentag: (name, attributes) => this.#openTag(name, attributes),
        onclosetag: (name) => this.#closeTag(name),
        ontext: (text) => this.#takeText(text),
      },
      { decodeEntities: true },
    );
  }

  get isTooDeep(): boolean {
    return this.#openCount > openMax;
  }

  page(): Page {
    const title = oneLine(this.#title ?? '') || oneLine(this.#heading ?? '');
    return {
      title,
      links: [...this.#links],
      canonical: this.#canonical,
      refresh: this.#refresh,
      directives: this.#directives,
      textHash: this.#text.digest(title),
    };
  }

  #openTag(name: string, attributes: Attributes): void {
    this.#openCount += 1;
    if (this.isTooDeep) {
      this.parser.pause();
      return;
    }
    if (this.#hiddenDepth > 0 || isUnseen(name, attributes)) this.#hiddenDepth += 1;
    if (this.#aroundDepth > 0 || this.#isAround(name, attributes)) this.#aroundDepth += 1;
    if (this.#footedDepth > 0 || footed.has(name)) this.#footedDepth += 1;
    this.#breakText(name);
    if (name === 'title' && this.#title === undefined) {
      this.#title = '';
      this.#open = 'title';
    } else if (name === 'h1' && this.#heading === undefined) {
      this.#heading = '';
      this.#open = 'heading';
    } else if (name === 'base' && this.#base === this.#url) {
      this.#base = URL.parse(attributes.href ?? '', this.#url)?.href ?? this.#url;
    } else if (name === 'meta') this.#readMeta(attributes);
    else if (name === 'link') this.#readLink(attributes);
    else if (name === 'img' && this.#hiddenDepth === 0) this.#text.add(attributes.alt ?? '', this.#aroundDepth > 0);
    this.#addLink(name, attributes);
  }

  #closeTag(name: string): void {
    this.#openCount -= 1;
    if (this.#hiddenDepth > 0) this.#hiddenDepth -= 1;
    if (this.#aroundDepth > 0) this.#aroundDepth -= 1;
    if (this.#footedDepth > 0) this.#footedDepth -= 1;
    if (name === 'title' || name === 'h1') this.#open = undefined;
    this.#breakText(name);
  }

  /** As the extractor tells menus from text. */
  #isAround(name: string, { role = '' }: Attributes): boolean {
    return aroundText.has(name) || aroundRoles.has(role) || (name === 'footer' && this.#footedDepth === 0);
  }

  #breakText(name: string): void {
    this.#text.addBreak();
    if (this.#open === 'heading' && dividesWords(name)) this.#heading = `${this.#heading ?? ''} `;
  }

  #takeText(text: string): void {
    if (this.#open === 'title' && (this.#title ?? '').length < titleMax) this.#title = `${this.#title ?? ''}${text}`;
    if (this.#open === 'heading' && (this.#heading ?? '').length < titleMax) this.#heading = `${this.#heading ?? ''}${text}`;
    if (this.#hiddenDepth === 0) this.#text.add(text, this.#aroundDepth > 0);
  }

  #readMeta({ name = '', content = '', 'http-equiv': equivalent = '' }: Attributes): void {
    const [metaName, header] = [name.trim().toLowerCase(), equivalent.trim().toLowerCase()];
    if (metaName === 'robots' || metaName === this.#token) {
      this.#directives = bothDirectives(this.#directives, readRobotsDirectives(content, this.#token));
    }
    if (header !== 'refresh') return;
    const [, seconds = '', target = ''] = /^\s*([\d.]+)\s*[;,]\s*(?:url\s*=\s*)?["']?([^"']*)/i.exec(content) ?? [];
    const address = target.trim() === '' ? undefined : readAddress(target, this.#base);
    if (address === undefined) return;
    if (Number(seconds) <= 1) this.#refresh ??= address;
    this.#keep(address);
  }

  #readLink({ rel = '', href }: Attributes): void {
    const kinds = rel.toLowerCase().split(/\s+/);
    if (href === undefined) return;
    if (kinds.includes('canonical')) this.#canonical ??= readAddress(href, this.#base);
    if (kinds.includes('next') || kinds.includes('prev')) this.#keep(readAddress(href, this.#base));
  }

  #addLink(name: string, attributes: Attributes): void {
    const attribute = linkTags[name];
    const href = attribute === undefined ? undefined : attributes[attribute];
    if (href === undefined || href.startsWith('#') || /(?:^|\s)nofollow(?:\s|$)/i.test(attributes.rel ?? '')) return;
    this.#keep(readAddress(href, this.#base));
  }

  #keep(address: string | undefined): void {
    if (address !== undefined && this.#links.size < linksMax) this.#links.add(address);
  }
}

function isUnseen(name: string, attributes: Attributes): boolean {
  return neverText.has(name) || attributes['aria-hidden'] === 'true' || isHidden(name, attributes);
}
