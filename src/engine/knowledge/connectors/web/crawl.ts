import { setTimeout as sleep } from 'node:timers/promises';
import type { ExistingItem, ListedPage, ListingEnd, ListTask } from '../connector.ts';
import { SourceError } from '../error.ts';
import { readAddress } from './address/address.ts';
import type { Scope } from './address/scope.ts';
import { findShape } from './address/shapes.ts';
import type { WebConfiguration } from './configuration.ts';
import { type CrawlPlace, type CrawlState, type Entry, readPlace, readState, unpackAddress } from './crawl-place.ts';
import { CrawlResult, isStartEntry } from './crawl-result.ts';
import { Frontier } from './frontier.ts';
import { Memory } from './memory.ts';
import { PageIndex } from './page-index.ts';
import { type Outcome, readEntry } from './read-entry.ts';
import { RobotsOfSites } from './site/robots-of-sites.ts';
import { readSitemaps } from './site/sitemaps.ts';
import type { Visitor } from './site/visitor.ts';

/** Tries of an address that fails, and of one whose host asks to wait. */
const triesMax = { FAILED: 3, SLOW_DOWN: 6 };
/** A host that asks for a longer wait ends the run: the next try goes on where it was. */
const waitMaxMs = 60_000;
/** Addresses in a row without any answer, after which a host is left alone. */
const silencesMax = 10;
const MB = 1024 * 1024;

export interface CrawlOptions {
  readonly visitor: Visitor;
  readonly configuration: WebConfiguration;
  readonly scope: Scope;
  readonly task: ListTask;
  /** The name of this crawler in robots tags. */
  readonly token: string;
  readonly fileBytesMax: number;
  /** Requests to one host at one time. */
  readonly concurrency: number;
  /** The first wait after a failure; it doubles. */
  readonly backoffMs: number;
}

interface Done {
  readonly entry: Entry;
  readonly known: ExistingItem | undefined;
  readonly outcome: Outcome;
}

/** One reading of a site, breadth first, within the bounds of its source. */
export class Crawl {
  readonly #options: CrawlOptions;
  readonly #origin: string;
  readonly #frontier: Frontier;
  readonly #memory: Memory;
  readonly #result: CrawlResult;
  readonly #known: PageIndex;
  readonly #robots: RobotsOfSites;
  readonly #underWay = new Map<Entry, Promise<void>>();
  readonly #done: Done[] = [];
  /** Addresses in a row that did not answer, by host. */
  readonly #silences = new Map<string, number>();
  readonly #ending = new AbortController();
  readonly #deadline: AbortSignal;
  readonly #signal: AbortSignal;
  readonly #startedAt = performance.now();
  readonly #elapsedBeforeMs: number;
  #batchAt = Number.NEGATIVE_INFINITY;
  /** Pages and files that the site showed, also those that are not listed. */
  #pages: number;
  #requests: number;
  #areSitemapsRead: boolean;
  #areChecksAdded: boolean;
  readonly #isResumed: boolean;
  #bound: 'maxPages' | 'maxMemory' | 'timeout' | undefined;
  /** Ends the run; the next try goes on where it was. */
  #fatal: { readonly error: unknown } | undefined;
  /** An address that did not fit into the memory beside others is read alone. */
  #alone: Entry | undefined;

  constructor(options: CrawlOptions) {
    const { configuration, scope, task, visitor } = options;
    const { url, maxPages, maxMemory, timeout } = configuration;
    const place = readPlace(task.place);
    const start = readAddress(url);
    if (start === undefined)
      throw new SourceError('CONFIGURATION', 'The address of this source cannot be read. Add the site again.');
    this.#options = options;
    this.#origin = new URL(start).origin;
    if (place !== undefined) scope.restore({ origins: place.origins, folder: place.folder ?? scope.facts.folder });
    this.#frontier = new Frontier({ origin: this.#origin, pagesMax: maxPages, place });
    this.#memory = new Memory(maxMemory * MB, () => this.#frontier.bytes);
    this.#result = new CrawlResult({
      ...{ origin: this.#origin, scope, frontier: this.#frontier, memory: this.#memory, pagesMax: maxPages },
      ...{ isForced: task.isForced, listed: place?.listed ?? [], isComplete: place?.isComplete ?? true },
    });
    this.#known = new PageIndex((uniqueIds) => task.known(uniqueIds));
    this.#pages = place?.pages ?? 0;
    this.#requests = place?.requests ?? 0;
    this.#areSitemapsRead = place?.areSitemapsRead ?? false;
    this.#areChecksAdded = place?.areChecksAdded ?? false;
    this.#isResumed = place !== undefined;
    this.#bound = place?.bound;
    this.#elapsedBeforeMs = place?.elapsedMs ?? 0;
    this.#deadline = AbortSignal.timeout(Math.max(1, Math.ceil(timeout * 1_000 - this.#elapsedBeforeMs)));
    this.#signal = AbortSignal.any([task.signal, this.#deadline, this.#ending.signal]);
    this.#robots = new RobotsOfSites(visitor, options.backoffMs, this.#signal);
    if (place === undefined) this.#frontier.addFirst({ url: start, kind: 'LINK', depth: 0, hops: 0, tries: 0 });
  }

  async *run(): AsyncGenerator<ListedPage, ListingEnd, void> {
    const { task } = this.#options;
    try {
      while (this.#fatal === undefined && this.#bound !== 'maxMemory' && !this.#deadline.aborted) {
        task.signal.throwIfAborted();
        if (this.#isPastStart && !this.#areSitemapsRead) await this.#readSitemaps();
        await this.#startRequests();
        if (this.#underWay.size > 0) {
          await Promise.race(this.#underWay.values());
          this.#settleDone();
          if (this.#result.batch.isDue(this.#pages, performance.now() - this.#batchAt)) yield this.#nextPage();
        } else if (this.#alone !== undefined) yield this.#nextPage();
        else if (!this.#addChecks()) break;
      }
      if (this.#deadline.aborted) this.#bound = 'timeout';
      else await this.#drain();
      task.signal.throwIfAborted();
      if (!this.#result.batch.isEmpty || (this.#fatal !== undefined && this.#requests > 0)) yield this.#nextPage();
    } finally {
      this.#ending.abort(new DOMException('the crawl is over', 'AbortError'));
      await Promise.allSettled(this.#underWay.values());
    }
    if (this.#fatal !== undefined) throw this.#fatal.error;
    const failure = this.#result.failure ?? this.#nothingLeft();
    if (this.#bound === undefined && failure !== undefined) throw failure;
    return this.#end();
  }

  get #isPastStart(): boolean {
    return this.#isResumed || this.#result.isStartDone;
  }

  async #startRequests(): Promise<void> {
    const limit = this.#isPastStart ? 2 * this.#options.concurrency : 1;
    while (this.#underWay.size < limit && !this.#signal.aborted) {
      if (this.#alone !== undefined) {
        if (this.#underWay.size === 0 && this.#result.batch.isEmpty) await this.#start(this.#alone);
        return;
      }
      if (!this.#hasRoomForPages()) {
        if (this.#pagesUnderWay() > 0) return;
        if (this.#frontier.hasPages) {
          this.#bound = 'maxPages';
          this.#frontier.dropPages();
        }
      }
      const entry = this.#frontier.take();
      if (entry === undefined) return;
      await this.#start(entry);
    }
  }

  #pagesUnderWay(): number {
    return [...this.#underWay.keys()].filter(({ kind }) => kind !== 'CHECK').length;
  }

  /** Addresses that show nothing are no pages, and their number is limited, too. */
  #hasRoomForPages(): boolean {
    const { maxPages } = this.#options.configuration;
    return this.#pages + this.#pagesUnderWay() < maxPages && this.#requests < 4 * maxPages + 200;
  }

  async #start(entry: Entry): Promise<void> {
    const existingItem = await this.#known.get(entry.url, this.#frontier.upcoming(50));
    const work = this.#read(entry, existingItem).then(
      (outcome) => {
        this.#underWay.delete(entry);
        this.#done.push({ entry, known: existingItem, outcome });
      },
      (error: unknown) => {
        this.#underWay.delete(entry);
        this.#frontier.putBack(entry);
        if (!this.#signal.aborted) this.#fatal ??= { error };
      },
    );
    this.#underWay.set(entry, work);
  }

  async #read(entry: Entry, existingItem: ExistingItem | undefined): Promise<Outcome> {
    const { backoffMs, scope, task } = this.#options;
    const { origin, host } = new URL(entry.url);
    const robots = await this.#robots.of(entry.url);
    if (robots instanceof SourceError) {
      if (isStartEntry(entry) || scope.origins.includes(origin)) throw robots;
      if (robots.code === 'FORBIDDEN') return { kind: 'REFUSED', message: robots.message, isAnswer: false };
      return { kind: 'FAILED', message: robots.message, isSilent: true, isFinal: true };
    }
    if ((this.#silences.get(host) ?? 0) >= silencesMax) {
      return { kind: 'FAILED', message: `${host} does not answer.`, isSilent: true, isFinal: true };
    }
    const waitMs = entry.tries === 0 ? 0 : backoffMs * 2 ** entry.tries;
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: this.#signal });
    task.progress(entry.url);
    return readEntry(
      { ...this.#options, memory: this.#memory, isForced: task.isForced },
      robots,
      entry,
      existingItem,
      this.#signal,
    );
  }

  #settleDone(): void {
    for (const { entry, known: existingItem, outcome } of this.#done.splice(0)) {
      this.#requests += 1;
      if (outcome.kind === 'MEMORY_FULL') {
        this.#settleMemory(entry);
        continue;
      }
      if (entry === this.#alone) this.#alone = undefined;
      this.#countSilence(entry, outcome);
      if (this.#isTriedAgain(entry, outcome)) continue;
      if ((outcome.kind === 'READ' || outcome.kind === 'UNCHANGED') && entry.kind !== 'CHECK') this.#pages += 1;
      this.#result.settle(entry, existingItem, outcome);
    }
  }

  #settleMemory(entry: Entry): void {
    if (entry === this.#alone) this.#bound = 'maxMemory';
    else if (this.#alone === undefined) this.#alone = entry;
    else this.#frontier.putBack(entry);
  }

  #countSilence(entry: Entry, outcome: Outcome): void {
    const { scope, visitor } = this.#options;
    const { host, origin } = new URL(entry.url);
    if (outcome.kind !== 'FAILED' || !outcome.isSilent) {
      this.#silences.delete(host);
      return;
    }
    const count = (this.#silences.get(host) ?? 0) + 1;
    this.#silences.set(host, count);
    if (count < silencesMax || !scope.origins.includes(origin)) return;
    this.#fatal ??= {
      error: new SourceError('UNREACHABLE', `${host} stopped answering ${visitor.userAgent}. The rest is read later.`),
    };
  }

  #isTriedAgain(entry: Entry, outcome: Outcome): boolean {
    const { backoffMs, scope, visitor } = this.#options;
    const { host, origin } = new URL(entry.url);
    const next = { ...entry, tries: entry.tries + 1 };
    if (outcome.kind === 'FAILED') {
      const isLast = outcome.isFinal === true || next.tries >= triesMax.FAILED;
      if (!isLast) this.#frontier.putLast(next);
      return !isLast;
    }
    if (outcome.kind !== 'SLOW_DOWN') return false;
    const waitMs = outcome.waitMs ?? backoffMs * 2 ** entry.tries;
    if (waitMs > waitMaxMs) {
      if (!scope.origins.includes(origin)) return false;
      this.#frontier.putBack(entry);
      this.#fatal ??= { error: new SourceError('RATE_LIMITED', `${outcome.message} The site asks to be read later.`, waitMs) };
      return true;
    }
    visitor.throttle.silence(host, waitMs);
    if (next.tries >= triesMax.SLOW_DOWN) return false;
    this.#frontier.putBack(next);
    return true;
  }

  async #readSitemaps(): Promise<void> {
    const { scope, task, visitor } = this.#options;
    this.#areSitemapsRead = true;
    const origin = scope.origins.at(-1) ?? this.#origin;
    try {
      const robots = await this.#robots.of(origin);
      if (robots instanceof SourceError) return;
      const sitemaps = robots.sitemaps.flatMap((url) => readAddress(url, origin) ?? []);
      const take = (address: string) => {
        this.#frontier.add(address, 'SITEMAP', 1);
        return !this.#frontier.isFull;
      };
      const isRead = await readSitemaps(
        visitor,
        {
          ...{ sitemaps: sitemaps.length > 0 ? sitemaps : [`${origin}/sitemap.xml`], delayMs: robots.delayMs, take },
          ...{ pages: visitor.pages, scope: scope.facts, pagesMax: this.#frontier.entriesMax },
          leaveOut: (counts) => this.#result.leaveOut(counts),
          progress: (url) => task.progress(url),
        },
        this.#signal,
      );
      if (!isRead) this.#result.addUnread();
    } catch (error) {
      if (!this.#signal.aborted) throw error;
    }
  }

  /**
   * Adds pages of the last run that this one did not come by: when a bound ended it, and where only some addresses of a shape are read. They are only
   * asked whether they are gone. @returns whether there are any.
   */
  #addChecks(): boolean {
    const { configuration, task } = this.#options;
    if (this.#areChecksAdded) return false;
    this.#areChecksAdded = true;
    const isBounded = this.#bound !== undefined || this.#frontier.isFull;
    const before = (readState(task.state)?.listed ?? []).map((address) => unpackAddress(this.#origin, address));
    const missing = before.filter((url) => !this.#result.hasListed(url) && (isBounded || findShape(url)?.isLimited === true));
    for (const url of missing.slice(0, configuration.maxPages)) this.#frontier.addCheck(url);
    return missing.length > 0;
  }

  /** Waits for the requests that are under way. */
  async #drain(): Promise<void> {
    await Promise.all(this.#underWay.values());
    this.#settleDone();
  }

  #nextPage(): ListedPage {
    const page = this.#result.batch.page(this.#place());
    this.#result.nextBatch();
    this.#batchAt = performance.now();
    return page;
  }

  #place(): CrawlPlace {
    const { scope } = this.#options;
    const ahead = [...this.#underWay.keys(), ...(this.#alone === undefined ? [] : [this.#alone])];
    return {
      version: 1,
      ...this.#frontier.place([...new Set(ahead)]),
      listed: [...this.#result.packedListed()],
      origins: scope.origins.slice(1),
      folder: scope.facts.folder,
      ...{ pages: this.#pages, requests: this.#requests, isComplete: this.#result.isComplete, bound: this.#bound },
      elapsedMs: this.#elapsedBeforeMs + performance.now() - this.#startedAt,
      ...{ areSitemapsRead: this.#areSitemapsRead, areChecksAdded: this.#areChecksAdded },
    };
  }

  /** Why a source that never had a document has none. One that had some loses them: its listing is complete. */
  #nothingLeft(): SourceError | undefined {
    const before = readState(this.#options.task.state)?.listed ?? [];
    return before.length > 0 ? undefined : this.#result.nothingLeft(this.#options.configuration.url);
  }

  #end(): ListingEnd {
    const { maxMemory, maxPages, timeout } = this.#options.configuration;
    const crawlBound = this.#bound ?? (this.#frontier.isFull ? 'maxPages' : undefined);
    const words = { maxPages: `${maxPages} pages`, maxMemory: `${maxMemory} MB`, timeout: `${timeout} seconds` };
    const state: CrawlState = { version: 1, listed: [...this.#result.packedListed()] };
    return {
      isComplete: crawlBound === undefined && this.#result.isComplete,
      state,
      ...(crawlBound === undefined ? {} : { bound: `${crawlBound} (${words[crawlBound]})` }),
    };
  }
}
