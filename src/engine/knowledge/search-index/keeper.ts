import type { Logger } from 'pino';
import type { Lease } from '../../../storage/ground/leases.ts';
import type { NotedChange } from '../../../storage/knowledge/search-index/changes.ts';
import type { ItemPart, LiveItem } from '../../../storage/knowledge/search-index/documents.ts';
import type { OpenSearch } from '../../../storage/knowledge/search-index/opensearch/opensearch.ts';
import { fits, isNewer, names } from '../../../storage/knowledge/search-index/opensearch/schema.ts';
import { type PassageCopy, SearchIndexError } from '../../../storage/knowledge/search-index/search-index.ts';
import type { SearchIndexState } from '../../../storage/knowledge/search-index/state.ts';
import type { SearchIndexStore } from '../../../storage/knowledge/search-index/store.ts';
import { compareOnce } from './comparison.ts';

export interface KeeperOptions {
  readonly openSearch: OpenSearch;
  readonly store: SearchIndexStore;
  /** The version of the indexes that this program makes. */
  readonly version: number;
  readonly shards: number;
  readonly logger: Logger;
  /** The next round of comparing begins so long after the last one ended. */
  readonly compareEveryMs: number;
  /** Part of the name of an index: an id that no index had before. */
  newId(): string;
}

/** Items of one request for changes, and of one step of a building. */
const itemsAtOnce = 200;
/** Passages that are read and sent at once, of one item or of several. */
const passagesAtOnce = 250;
/** How often an index is looked for that should be there. */
const lookEveryMs = 30_000;

/**
 * Writes to the indexes of the copy, in one process at a time: the holder of the lease. It sends what changed, builds an index where none fits, and
 * compares. Nothing is written to the OpenSearch in a transaction of the database.
 */
export class Keeper {
  readonly #options: KeeperOptions;
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  /**
   * Does what is due, in pieces of a few seconds.
   *
   * @returns whether there is more to do at once.
   * @throws SearchIndexError, LeaseLostError, or the database's errors.
   */
  async step(lease: Lease, signal: AbortSignal): Promise<boolean> {
    const state = await this.#prepared(lease);
    if (state === undefined) return false;
    // An older index that still serves older programs is left alone.
    const serving = fits(state.servingVersion, this.#options.version) ? state.serving : null;
    const indexes = [serving, state.building].filter((index) => index !== null);
    const spaces = this.#hasVectors ? await this.#options.store.documents.spaces() : [];
    for (const index of indexes) await this.#options.openSearch.mapVectors(index, spaces);
    const isMore = await this.#sendChanges(indexes, signal);
    if (state.building !== null) return (await this.#build(lease, state, state.building)) || isMore;
    if (serving === null || isMore) return isMore;
    return compareOnce({ ...this.#options, lease, hasVectors: this.#hasVectors }, state, serving);
  }

  /** Whether there is something to do. Costs two statements, and nothing at the OpenSearch. */
  async isDue(): Promise<boolean> {
    const { store, version, compareEveryMs } = this.#options;
    const state = await store.states.read();
    if (state === undefined) return false;
    const { serving, servingVersion, building, checkedAt, checkCursor, orphanCursor } = state;
    if (serving === null || building !== null || !fits(servingVersion, version)) return true;
    if (checkCursor !== '' || orphanCursor !== '' || performance.now() - this.#lookedAtMs >= lookEveryMs) return true;
    if (checkedAt === null || Date.now() - checkedAt.getTime() >= compareEveryMs) return true;
    return (await store.changes.next(1)).length > 0;
  }

  /** Begins to build a new index, also where one serves. One that is being built goes on. */
  async rebuild(lease: Lease): Promise<void> {
    const state = await this.#prepared(lease);
    if (state?.building === null) await this.#begin(lease);
  }

  get #hasVectors(): boolean {
    return this.#options.version % 2 === 1;
  }

  /** The state with an index that serves or is being built; undefined where a newer program keeps them. */
  async #prepared(lease: Lease): Promise<SearchIndexState | undefined> {
    const { store, version, openSearch } = this.#options;
    const state = await store.states.read();
    if (state === undefined || isNewer(state.servingVersion, version) || isNewer(state.buildingVersion, version))
      return undefined;
    if (performance.now() - this.#lookedAtMs >= lookEveryMs) {
      for (const which of ['serving', 'building'] as const) {
        const index = state[which];
        const indexVersion = state[`${which}Version`];
        if (index === null || indexVersion === null || (await openSearch.has(index, indexVersion))) continue;
        this.#options.logger.warn({ index }, 'a search index is gone and is built anew');
        await store.states.forget(lease, which);
      }
      this.#lookedAtMs = performance.now();
      return this.#withIndex(lease);
    }
    return this.#withIndex(lease, state);
  }

  async #withIndex(lease: Lease, initialState?: SearchIndexState): Promise<SearchIndexState | undefined> {
    const { store, version, openSearch } = this.#options;
    const state = initialState ?? (await store.states.read());
    if (state === undefined) return undefined;
    if (state.building !== null && !fits(state.buildingVersion, version)) {
      await openSearch.delete(state.building);
      await store.states.forget(lease, 'building');
      return this.#withIndex(lease);
    }
    if (state.building !== null || fits(state.servingVersion, version)) return state;
    await this.#begin(lease);
    return store.states.read();
  }

  async #begin(lease: Lease): Promise<void> {
    const { openSearch, store, version, shards, newId, logger } = this.#options;
    const index = names.index(openSearch.prefix, version, newId());
    await openSearch.create(index, version, shards);
    await store.states.begin(lease, index, version);
    logger.info({ index }, 'a search index is being built');
  }

  /** @returns whether more may wait. */
  async #sendChanges(indexes: readonly string[], signal: AbortSignal): Promise<boolean> {
    const { store } = this.#options;
    const changes = await store.changes.next(itemsAtOnce);
    if (changes.length === 0 || signal.aborted) return false;
    const live = await store.documents.liveItems(changes.map(({ itemId }) => itemId));
    for (const index of indexes) await this.#sendTo(index, changes, live);
    await store.changes.markSent(changes);
    return changes.length === itemsAtOnce;
  }

  async #sendTo(index: string, changes: readonly NotedChange[], live: readonly LiveItem[]): Promise<void> {
    try {
      const copy = this.#options.openSearch.writesTo(index);
      const versions = new Map(changes.map(({ itemId, version }) => [itemId, version]));
      await this.#put(copy, live, (itemId) => versions.get(itemId) ?? 0n);
      await copy.activate(live.map(({ id: itemId, generation }) => ({ itemId, generation })));
      const present = new Set(live.map(({ id }) => id));
      await copy.drop(changes.map(({ itemId }) => itemId).filter((id) => !present.has(id)));
    } catch (error) {
      // The next step looks whether the index is still there.
      if (error instanceof SearchIndexError && error.kind === 'missing') this.#lookedAtMs = Number.NEGATIVE_INFINITY;
      throw error;
    }
  }

  /** @returns whether the index is not complete yet. */
  async #build(lease: Lease, state: SearchIndexState, building: string): Promise<boolean> {
    const { store, openSearch, version, logger } = this.#options;
    // Taken before the rows are read: whatever changes afterwards is sent in a higher version.
    const asOf = await store.changes.newVersion();
    const items = await store.documents.liveItemsAfter(state.buildCursor, itemsAtOnce);
    const copy = openSearch.writesTo(building);
    const passages = await this.#put(copy, items, () => asOf);
    const last = items.at(-1);
    if (last !== undefined) {
      await store.states.advance(lease, { cursor: last.id, items: items.length, passages });
      return true;
    }
    await copy.activate([]);
    await openSearch.serve(building, version, state.serving);
    await store.states.finish(lease);
    const { itemsDone, passagesDone } = state;
    logger.info({ index: building, items: itemsDone, passages: passagesDone }, 'a search index is complete and answers searches');
    return false;
  }

  /** @returns how many passages were put. */
  async #put(copy: PassageCopy, items: readonly LiveItem[], versionOf: (itemId: string) => bigint): Promise<number> {
    let count = 0;
    let remainingParts: readonly ItemPart[] = items.map((item) => ({
      item: this.#hasVectors ? item : { ...item, spaceIds: [] },
      fromOrdinal: 0,
    }));
    while (remainingParts.length > 0) {
      const parts = remainingParts.slice(0, partsOfRequest(remainingParts));
      const passages = await this.#options.store.documents.passages(parts, passagesAtOnce);
      await copy.put(passages, versionOf);
      count += passages.length;
      const last = passages.at(-1);
      if (last === undefined || passages.length < passagesAtOnce) {
        remainingParts = remainingParts.slice(parts.length);
        continue;
      }
      const place = parts.findIndex(({ item }) => item.id === last.itemId);
      remainingParts = remainingParts
        .slice(place)
        .map((part, index) => (index === 0 ? { ...part, fromOrdinal: last.ordinal + 1 } : part));
    }
    return count;
  }
}

/** How many items are sent in one request: as many as have few passages together, at least one. */
function partsOfRequest(parts: readonly ItemPart[]): number {
  let passages = 0;
  const end = parts.findIndex(({ item }, index) => {
    passages += item.passages;
    return index > 0 && passages > passagesAtOnce;
  });
  return end === -1 ? parts.length : end;
}
