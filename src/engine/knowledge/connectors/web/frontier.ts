import { addressKey, addressKeyLength } from './address/address.ts';
import { isEndless, ShapeCounts } from './address/shapes.ts';
import { type CrawlPlace, type Entry, packEntry, unpackEntry } from './crawl-place.ts';

export interface FrontierOptions {
  /** The origin of the source. */
  readonly origin: string;
  readonly pagesMax: number;
  readonly place: CrawlPlace | undefined;
}

/** The addresses that are to be read, and those that were ever found: each is read once. First in, first out, so the crawl is breadth first. */
export class Frontier {
  readonly shapes: ShapeCounts;
  /** Entries that were left out because of their ending. */
  unwantedCount = 0;
  readonly #origin: string;
  /** Of each kind. */
  readonly entriesMax: number;
  readonly #seenMax: number;
  readonly #depthMax: number;
  readonly #seen: Set<string>;
  /** Taken before all others, the last one first: targets of redirects, and addresses that are tried again. */
  readonly #first: Entry[] = [];
  readonly #link: Queue;
  readonly #sitemap: Queue;
  readonly #check: Queue;
  #isFull: boolean;

  constructor({ origin, pagesMax, place }: FrontierOptions) {
    this.#origin = origin;
    this.entriesMax = 2 * pagesMax + 1_000;
    this.#seenMax = 10 * pagesMax + 10_000;
    this.#depthMax = Math.max(100, Math.floor(pagesMax / 4));
    this.shapes = new ShapeCounts(Math.max(30, Math.floor(pagesMax / 10)), place?.shapes);
    this.#seen = new Set(splitKeys(place?.seen ?? ''));
    const unpack = (kind: Entry['kind'], entries: CrawlPlace['link'] = []) =>
      new Queue(entries.map((entry) => unpackEntry(origin, kind, entry)));
    this.#link = unpack('LINK', place?.link);
    this.#sitemap = unpack('SITEMAP', place?.sitemap);
    this.#check = unpack('CHECK', place?.check);
    this.#isFull = place?.isFull ?? false;
  }

  /** Whether addresses were left out because there were too many. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Whether pages are left to read; checks are none. */
  get hasPages(): boolean {
    return this.#first.some(({ kind }) => kind !== 'CHECK') || this.#link.size + this.#sitemap.size > 0;
  }

  /** An estimate. */
  get bytes(): number {
    const entries = this.#first.length + this.#link.size + this.#sitemap.size + this.#check.size;
    return entries * 300 + this.#seen.size * 64;
  }

  hasSeen(url: string): boolean {
    return this.#seen.has(addressKey(url));
  }

  /** Marks an address as read under another one. @returns whether it had not been found yet. */
  see(url: string): boolean {
    const key = addressKey(url);
    if (this.#seen.has(key) || this.#seen.size >= this.#seenMax) return false;
    this.#seen.add(key);
    return true;
  }

  /** Adds an address that was not found before, unless it looks like an endless site. */
  add(url: string, kind: 'LINK' | 'SITEMAP', depth: number): void {
    const queue = kind === 'LINK' ? this.#link : this.#sitemap;
    if (depth > this.#depthMax || this.hasSeen(url) || isEndless(url)) return;
    if (queue.size >= this.entriesMax || this.#seen.size >= this.#seenMax) {
      this.#isFull = true;
      return;
    }
    if (!this.shapes.admit(url) || !this.see(url)) return;
    queue.push({ url, kind, depth, hops: 0, tries: 0 });
  }

  /** The same, to be read next: where a redirect leads. @returns whether it had not been found before. */
  addFirst(entry: Entry): boolean {
    if (!this.see(entry.url)) return false;
    this.#first.push(entry);
    return true;
  }

  addCheck(url: string): void {
    this.#check.push({ url, kind: 'CHECK', depth: 0, hops: 0, tries: 0 });
  }

  /** Puts an entry back, to be taken next. */
  putBack(entry: Entry): void {
    this.#first.push(entry);
  }

  /** Puts an entry back, behind the others of its kind. */
  putLast(entry: Entry): void {
    this.#queueOf(entry.kind).push(entry);
  }

  /** The next entry of those that are pages, then of the checks. Those that look like what the site answered in vain are left out. */
  take(): Entry | undefined {
    for (;;) {
      const entry = this.#first.pop() ?? this.#link.shift() ?? this.#sitemap.shift() ?? this.#check.shift();
      if (entry === undefined || entry.kind === 'CHECK' || !this.shapes.isUnwanted(entry.url)) return entry;
      this.unwantedCount += 1;
    }
  }

  /** Gives up all pages that are left. */
  dropPages(): void {
    const checks = this.#first.filter(({ kind }) => kind === 'CHECK');
    this.#first.splice(0, this.#first.length, ...checks);
    this.#link.clear();
    this.#sitemap.clear();
  }

  /** The addresses that come next, at most `countMax`. */
  upcoming(countMax: number): readonly string[] {
    const queues = [
      this.#first.toReversed(),
      this.#link.peek(countMax),
      this.#sitemap.peek(countMax),
      this.#check.peek(countMax),
    ];
    return queues
      .flat()
      .slice(0, countMax)
      .map(({ url }) => url);
  }

  /** @param underWay  entries that were taken and are not done. */
  place(underWay: readonly Entry[]): Pick<CrawlPlace, 'link' | 'sitemap' | 'check' | 'seen' | 'shapes' | 'isFull'> {
    const ahead = [...underWay, ...this.#first.toReversed()];
    const pack = (kind: Entry['kind']) =>
      [...ahead.filter((entry) => entry.kind === kind), ...this.#queueOf(kind)].map((entry) => packEntry(this.#origin, entry));
    return {
      ...{ link: pack('LINK'), sitemap: pack('SITEMAP'), check: pack('CHECK') },
      ...{ seen: [...this.#seen].join(''), shapes: this.shapes.counts(), isFull: this.#isFull },
    };
  }

  #queueOf(kind: Entry['kind']): Queue {
    return { LINK: this.#link, SITEMAP: this.#sitemap, CHECK: this.#check }[kind];
  }
}

function* splitKeys(text: string): Generator<string> {
  for (let start = 0; start < text.length; start += addressKeyLength) yield text.slice(start, start + addressKeyLength);
}

/** First in, first out; an array would move all entries for each that is taken. */
class Queue {
  #entries: Entry[];
  #start = 0;

  constructor(entries: Entry[]) {
    this.#entries = entries;
  }

  get size(): number {
    return this.#entries.length - this.#start;
  }

  push(entry: Entry): void {
    this.#entries.push(entry);
  }

  shift(): Entry | undefined {
    const entry = this.#entries[this.#start];
    if (entry !== undefined) this.#start += 1;
    if (this.#start > 1_000) {
      this.#entries = this.#entries.slice(this.#start);
      this.#start = 0;
    }
    return entry;
  }

  peek(countMax: number): readonly Entry[] {
    return this.#entries.slice(this.#start, this.#start + countMax);
  }

  clear(): void {
    this.#entries = [];
    this.#start = 0;
  }

  *[Symbol.iterator](): Generator<Entry> {
    for (let index = this.#start; index < this.#entries.length; index += 1) {
      const entry = this.#entries[index];
      if (entry !== undefined) yield entry;
    }
  }
}
