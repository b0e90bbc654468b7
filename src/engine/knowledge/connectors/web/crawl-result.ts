import type { ExistingItem, ListedItem } from '../connector.ts';
import { SourceError } from '../error.ts';
import { addressKey, readPath } from './address/address.ts';
import type { Scope } from './address/scope.ts';
import { isEndless } from './address/shapes.ts';
import { Batch } from './batch.ts';
import { type Entry, packAddress, unpackAddress } from './crawl-place.ts';
import type { Frontier } from './frontier.ts';
import { LeftOutCounts } from './left-out.ts';
import type { Memory } from './memory.ts';
import { toFilename } from './page/kind.ts';
import { isIndexedAsRead, retainedLinks } from './page-memory.ts';
import { chooseName, type LeftOut, type Outcome, type ReadDocument } from './read-entry.ts';

const hopsMax = 10;

export interface CrawlResultOptions {
  readonly origin: string;
  readonly scope: Scope;
  readonly frontier: Frontier;
  readonly memory: Memory;
  readonly isForced: boolean;
  readonly pagesMax: number;
  /** Addresses that were listed before this run was cut off, without the origin. */
  readonly listed: readonly string[];
  readonly isComplete: boolean;
}

/** What the outcomes of a crawl mean: items, deletions, and further addresses. */
export class CrawlResult {
  readonly #options: CrawlResultOptions;
  readonly #texts = new TextCounts();
  readonly #leftOut = new LeftOutCounts();
  /** Addresses that are documents of the source, by key. */
  readonly #listed: Map<string, string>;
  readonly #goneKeys = new Set<string>();
  #batch = new Batch();
  #isComplete: boolean;
  #startFailure: SourceError | undefined;
  #isStartDone = false;
  /** Whether the listing changes anything. */
  #hasFound = false;

  constructor(options: CrawlResultOptions) {
    this.#options = options;
    this.#isComplete = options.isComplete;
    const urls = options.listed.map((address) => unpackAddress(options.origin, address));
    this.#listed = new Map(urls.map((url) => [addressKey(url), url]));
  }

  get batch(): Batch {
    return this.#batch;
  }

  /** Whether every address that was found was read, or needs no reading. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Whether the first page was read, or cannot be. */
  get isStartDone(): boolean {
    return this.#isStartDone;
  }

  /** Why there is nothing at all; undefined when something was found. */
  get failure(): SourceError | undefined {
    return this.#listed.size === 0 ? this.#startFailure : undefined;
  }

  /** Why nothing was found and nothing failed; undefined otherwise. */
  nothingLeft(url: string): SourceError | undefined {
    if (this.#hasFound || this.#listed.size > 0) return undefined;
    this.#leftOut.add('fileType', this.#options.frontier.unwantedCount);
    return this.#leftOut.errorOf(url);
  }

  /** Counts addresses that the source does not cover. */
  leaveOut({ excluded, outside }: LeftOut): void {
    this.#leftOut.add('excluded', excluded);
    this.#leftOut.add('outside', outside);
  }

  /** Begins the next part of the listing. The memory of the last one is free. */
  nextBatch(): void {
    this.#options.memory.give(this.#batch.heldBytes);
    this.#batch = new Batch();
  }

  /** Addresses of all documents, without the origin, at most twice as many as the source may have pages. */
  packedListed(): readonly string[] {
    const { origin, pagesMax } = this.#options;
    return [...this.#listed.values()].slice(0, 2 * pagesMax).map((url) => packAddress(origin, url));
  }

  hasListed(url: string): boolean {
    const key = addressKey(url);
    return this.#listed.has(key) || this.#goneKeys.has(key);
  }

  /** Something of the site was not read. */
  addUnread(): void {
    this.#isComplete = false;
  }

  /** Takes in what became of an address. The outcome is final: an address that is tried again does not come here. */
  settle(entry: Entry, existingItem: ExistingItem | undefined, outcome: Exclude<Outcome, { kind: 'MEMORY_FULL' }>): void {
    const { url } = entry;
    switch (outcome.kind) {
      case 'READ':
        this.#settleDocument(entry, existingItem, outcome.document);
        break;
      case 'UNCHANGED':
        this.#settleUnchanged(entry, existingItem);
        break;
      case 'REDIRECT':
        this.#settleRedirect(entry, existingItem, outcome.to);
        break;
      case 'GONE':
        this.#remove(url, existingItem);
        this.#endStart(entry, 'NOT_FOUND', `There is no page at ${url}: check the address.`);
        break;
      case 'DISALLOWED':
        this.#leftOut.add('robots', 1);
        this.#endStart(entry, 'ROBOTS', `The robots.txt of the site does not let crawlers read ${url}. Ask its owner.`);
        break;
      case 'REFUSED':
        if (outcome.isAnswer) this.#settleRefused(entry, existingItem);
        this.#endStart(entry, 'FORBIDDEN', `${outcome.message} The page is not open to everybody.`);
        break;
      case 'UNWANTED':
        this.#leftOut.add('fileType', 1);
        this.#options.frontier.shapes.addUnwanted(url);
        this.#endStart(entry, 'UNSUPPORTED', `${url} is neither a web page nor a file of a chosen type.`);
        break;
      case 'TOO_LARGE':
        this.#skip(entry, 'TOO_LARGE', `The document has more than ${outcome.bytesMax} bytes, which is the limit.`);
        this.#endStart(entry, 'TOO_LARGE', `${url} has more than ${outcome.bytesMax} bytes, which is the limit.`);
        break;
      case 'FAILED':
      case 'SLOW_DOWN':
        this.#settleUnread(entry, existingItem, outcome.message);
    }
  }

  #settleUnchanged(entry: Entry, existingItem: ExistingItem | undefined): void {
    this.#keep(existingItem?.uniqueId ?? entry.url);
    this.#endStart(entry);
    if (existingItem === undefined || entry.kind === 'CHECK') return;
    this.#follow(entry, retainedLinks(existingItem, this.#options.scope));
    // The change key is the hash of the text: other addresses may repeat this page.
    const { replaced: replacedUrl } =
      existingItem.changeKey === null ? fresh : this.#texts.add(entry.url, existingItem.changeKey);
    if (replacedUrl !== undefined) this.#retract(replacedUrl);
  }

  #settleDocument(entry: Entry, existingItem: ExistingItem | undefined, document: ReadDocument): void {
    const item = this.#itemOf(entry, existingItem, document);
    if (item === undefined) {
      this.#options.memory.give(document.heldBytes);
      return;
    }
    this.#listed.set(addressKey(item.uniqueId), item.uniqueId);
    this.#batch.items.push(item);
    this.#batch.heldBytes += document.heldBytes;
  }

  /** Follows what a document leads to. @returns undefined for one that is not listed. */
  #itemOf(entry: Entry, existingItem: ExistingItem | undefined, document: ReadDocument): ListedItem | undefined {
    const { scope, frontier, isForced } = this.#options;
    const { url } = entry;
    const { content, hash, links, refresh, isIndexed } = document;
    if (refresh !== undefined && addressKey(refresh) !== addressKey(url)) {
      this.#settleRedirect(entry, existingItem, refresh);
      return undefined;
    }
    this.#endStart(entry);
    const { isRepeated, replaced: replacedUrl } = this.#texts.add(url, hash);
    const { canonical } = document;
    const isItsOwn = isIndexed && (canonical === undefined || addressKey(canonical) === addressKey(url));
    if (replacedUrl !== undefined && isItsOwn) this.#retract(replacedUrl);
    else if (isRepeated) {
      frontier.shapes.addFruitless(url);
      return undefined;
    }
    this.leaveOut(document.leftOut);
    this.#follow(entry, links);
    if (!isIndexed) {
      this.#leftOut.add('noindex', 1);
      this.#remove(url, existingItem);
      return undefined;
    }
    const id = this.#rightAddress(url, canonical);
    if (id === undefined || this.#listed.has(addressKey(id))) return undefined;
    const place = scope.placeOf(id);
    if (place !== 'INCLUDED') {
      this.#leftOut.add(place === 'EXCLUDED' ? 'excluded' : 'outside', 1);
      return undefined;
    }
    const isSame = !isForced && existingItem?.uniqueId === id && existingItem.changeKey === hash && isIndexedAsRead(existingItem);
    return { ...document.item, uniqueId: id, url: id, ...(isSame ? {} : { content }) };
  }

  /** @returns the canonical address where the source covers it; undefined when that is read by itself. */
  #rightAddress(url: string, canonical: string | undefined): string | undefined {
    const { scope, frontier } = this.#options;
    if (canonical === undefined || addressKey(canonical) === addressKey(url) || !scope.includes(canonical)) return url;
    return frontier.see(canonical) ? canonical : undefined;
  }

  #settleRedirect(entry: Entry, existingItem: ExistingItem | undefined, to: string | undefined): void {
    const { scope, frontier } = this.#options;
    const { url, kind, depth, hops } = entry;
    if (kind === 'CHECK') {
      this.#keep(existingItem?.uniqueId ?? url);
      return;
    }
    const isCovered = to !== undefined && (scope.includes(to) || (isStartEntry(entry) && isSameSite(url, to)));
    if (to === undefined || hops >= hopsMax || isEndless(to)) {
      this.#endStart(entry, 'BAD_REPLY', `${url} redirects without end or to nowhere, so there is nothing to read.`);
    } else if (!isCovered) {
      const advice = 'Add that address instead, or allow it by includeUrlGlobs.';
      this.#endStart(entry, 'CONFIGURATION', `${url} redirects to ${to}. ${advice}`);
    } else {
      // The site itself moved, as from http to https, or from /docs to /docs/.
      if (isStartEntry(entry) && isSameSite(url, to)) scope.moveTo(to);
      const isNew = frontier.addFirst({ url: to, kind, depth, hops: hops + 1, tries: 0 });
      if (!isNew) this.#endStart(entry, 'BAD_REPLY', `${url} redirects in a circle, so there is nothing to read.`);
    }
  }

  /** A page that may be there, and did not answer: what is known of it is kept. */
  #settleUnread(entry: Entry, existingItem: ExistingItem | undefined, message: string): void {
    const links = existingItem === undefined ? undefined : retainedLinks(existingItem, this.#options.scope);
    if (existingItem?.isIndexed === true) this.#keep(existingItem.uniqueId);
    else if (!isStartEntry(entry)) this.#list(entry);
    if (entry.kind !== 'CHECK') {
      if (links === undefined) this.#isComplete = false;
      else this.#follow(entry, links);
    }
    this.#endStart(entry, 'UNREACHABLE', `${message} Refresh the source to try again.`);
  }

  /** A page that is there and not shown. One that answers goes missing: the site took it back. */
  #settleRefused(entry: Entry, existingItem: ExistingItem | undefined): void {
    if (existingItem?.isIndexed !== true && !isStartEntry(entry)) this.#list(entry);
  }

  #follow({ depth }: Entry, links: readonly string[] | undefined): void {
    if (links === undefined) this.#isComplete = false;
    // They were chosen by the scope when the page was read.
    for (const link of links ?? []) this.#options.frontier.add(link, 'LINK', depth + 1);
  }

  #keep(uniqueId: string): void {
    this.#listed.set(addressKey(uniqueId), uniqueId);
    this.#batch.unchangedIds.push(uniqueId);
  }

  /** A page that was found before is another address of one that is found now. */
  #retract(url: string): void {
    this.#options.frontier.shapes.addFruitless(url);
    this.#listed.delete(addressKey(url));
    this.#batch.retract(url);
  }

  /** The site says that a page is not, or must not be found. */
  #remove(url: string, existingItem: ExistingItem | undefined): void {
    this.#goneKeys.add(addressKey(url));
    if (existingItem === undefined) return;
    this.#hasFound = true;
    this.#batch.goneIds.push(existingItem.uniqueId);
  }

  #skip(entry: Entry, code: string, message: string): void {
    this.#list(entry, { code, message });
  }

  /** Lists a document without its content. Unless it is skipped, it is read by itself: it fails there with the reason, and a retry reads it again. */
  #list({ url, kind }: Entry, skipNotice?: ListedItem['skipped']): void {
    if (kind === 'CHECK' || !this.#options.scope.includes(url)) return;
    this.#hasFound = true;
    const base = { uniqueId: url, parentUniqueId: null, url, changeKey: null, name: chooseName('', url) };
    const item = { ...base, filename: toFilename(url, 'PAGE'), mimeType: '' };
    this.#batch.items.push(skipNotice === undefined ? item : { ...item, skipped: skipNotice });
  }

  #endStart(entry: Entry, code?: SourceError['code'], message = ''): void {
    if (!isStartEntry(entry)) return;
    this.#isStartDone = true;
    // It was tried often enough.
    if (code !== undefined) this.#startFailure = new SourceError(code, message, undefined, true);
  }
}

/** Whether an entry is the address of the source, or what that redirects to. */
export function isStartEntry({ kind, depth }: Entry): boolean {
  return kind === 'LINK' && depth === 0;
}

/** Whether two addresses are of one site: the same host but for `www.`, on http or https with the usual ports, or the same origin. */
function isSameSite(one: string, other: string): boolean {
  const [from, to] = [new URL(one), new URL(other)];
  if (from.origin === to.origin) return true;
  const isUsual = from.port === '' && to.port === '';
  const isDowngrade = from.protocol === 'https:' && to.protocol === 'http:';
  return isUsual && !isDowngrade && bareHost(from.hostname) === bareHost(to.hostname);
}

function bareHost(hostname: string): string {
  return hostname.replace(/^www\./, '');
}

/** Pages with the same text, after which it is taken for the page of an address that is not there. */
const sameTextMax = 20;

interface Repetition {
  /** The page only repeats others: its path with other parameters, or many pages with its text. */
  readonly isRepeated: boolean;
  /** The address with parameters that showed this page before: its place is at this one, whichever answers first. */
  readonly replaced?: string;
}
const fresh: Repetition = { isRepeated: false };

/** Finds pages that show what another page showed: with a session in the address, or for any address at all. */
class TextCounts {
  readonly #counts = new Map<string, number>();
  /** The address that stands for a text at a path. */
  readonly #atPaths = new Map<string, string>();

  /** Counts a page. */
  add(url: string, textHash: string): Repetition {
    const count = this.#counts.get(textHash) ?? 0;
    const atPath = `${textHash} ${readPath(url)}`;
    const before = this.#atPaths.get(atPath);
    this.#counts.set(textHash, count + 1);
    if (count >= sameTextMax) return { isRepeated: true };
    const isFirst = before === undefined;
    const isBetter = before !== undefined && new URL(url).search === '' && new URL(before).search !== '';
    if (isFirst || isBetter) this.#atPaths.set(atPath, url);
    return isBetter ? { isRepeated: true, replaced: before } : { isRepeated: !isFirst };
  }
}
