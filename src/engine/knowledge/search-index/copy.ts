import type { Logger } from 'pino';
import type { Settings } from '../../../settings.ts';
import { StartRefusal } from '../../../storage/ground/opening/start-refusal.ts';
import { createOpenSearch, type OpenSearch } from '../../../storage/knowledge/search-index/opensearch/opensearch.ts';
import { toVersion } from '../../../storage/knowledge/search-index/opensearch/schema.ts';
import { type SearchIndex, SearchIndexError } from '../../../storage/knowledge/search-index/search-index.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import { holdLease, isLost, type Lease } from '../../leases.ts';
import { Keeper } from './keeper.ts';
import { CopiedIndex } from './search-index.ts';

export type SearchIndexSettings = Pick<
  Settings,
  'SEARCH_INDEX_URL' | 'SEARCH_INDEX_TIMEOUT_MS' | 'SEARCH_INDEX_SHARDS' | 'SEARCH_INDEX_COMPARE_EVERY_MS'
>;

export interface PassageCopyOptions {
  readonly settings: SearchIndexSettings;
  readonly storage: Pick<Storage, 'knowledge' | 'leases'>;
  readonly logger: Logger;
  /** Whether searches go by vectors too. */
  readonly hasVectors: boolean;
  readonly database: SearchIndex;
  newId(): string;
}

/** How soon a change is sent. */
const lookEveryMs = 1_000;
/** Another process goes on so long after one was killed. */
const leaseMs = 15_000;
/** How often the progress of another process is looked at. */
const otherHolderMs = 500;

/** The copy of all passages at the OpenSearch of SEARCH_INDEX_URL: searching it, and keeping it. */
export class SearchedCopy {
  readonly index: CopiedIndex;
  readonly openSearch: OpenSearch;
  readonly #options: PassageCopyOptions;
  readonly #keeper: Keeper;
  readonly #owner: string;
  #isFailing = false;

  constructor(url: string, options: PassageCopyOptions) {
    const { settings, storage, logger, hasVectors, database, newId } = options;
    const version = toVersion(hasVectors);
    const copyDeps = { openSearch: createOpenSearch(url), store: storage.knowledge.searchIndex, version, logger };
    this.#options = options;
    this.openSearch = copyDeps.openSearch;
    this.index = new CopiedIndex({ ...copyDeps, database, timeoutMs: settings.SEARCH_INDEX_TIMEOUT_MS });
    this.#keeper = new Keeper({
      ...copyDeps,
      shards: settings.SEARCH_INDEX_SHARDS,
      compareEveryMs: settings.SEARCH_INDEX_COMPARE_EVERY_MS,
      newId,
    });
    this.#owner = newId();
  }

  /**
   * Begins to note changes, and looks at what answers at SEARCH_INDEX_URL. One that does not answer may come back, and is only logged.
   *
   * @throws StartRefusal for one that can never be used.
   */
  async prepare(): Promise<void> {
    const { storage, logger, hasVectors } = this.#options;
    await storage.knowledge.searchIndex.states.enable();
    let problem: string | undefined;
    try {
      problem = await this.openSearch.problem(hasVectors);
    } catch (error) {
      if (!(error instanceof SearchIndexError)) throw error;
      logger.warn({ reason: error.message }, 'the search index does not answer; the database answers searches');
    }
    if (problem !== undefined) throw new StartRefusal(`SEARCH_INDEX_URL cannot be used: ${problem}.`);
  }

  /** Registers the task that sends changes, builds and compares. One process does so at a time. */
  register(jobs: Jobs): void {
    jobs.every('search-index', lookEveryMs, (signal) => this.#keep(signal));
  }

  /** Builds a new index, or goes on with the one that is being built here or elsewhere, until it answers. */
  async rebuild(
    onProgress: (doneCount: number, total: number) => void,
    wait: (ms: number) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const { states } = this.#options.storage.knowledge.searchIndex;
    const before = await states.read();
    for (;;) {
      signal.throwIfAborted();
      const isHeld = await this.#holding(signal, async (lease) => {
        const { building, serving } = (await states.read()) ?? {};
        if (building === null && serving === before?.serving) await this.#keeper.rebuild(lease);
        await this.#keeper.step(lease, signal);
      });
      const now = await states.read();
      if (now === undefined) throw new Error('another process of this database is without SEARCH_INDEX_URL');
      if (now.building === null && now.serving !== null && now.serving !== before?.serving) return;
      onProgress(now.itemsDone, now.itemsTotal);
      await wait(isHeld ? 0 : otherHolderMs);
    }
  }

  close(): Promise<void> {
    return this.openSearch.close();
  }

  async #keep(signal: AbortSignal): Promise<void> {
    const { logger } = this.#options;
    try {
      if (!(await this.#keeper.isDue())) return;
      await this.#holding(signal, async (lease, ending) => {
        while (!ending.aborted && (await this.#keeper.step(lease, ending)));
      });
      if (this.#isFailing) logger.info('the search index takes changes again');
      this.#isFailing = false;
    } catch (error) {
      if (!(error instanceof SearchIndexError)) throw error;
      // Once for each outage: the metrics show how far it is behind.
      if (!this.#isFailing) logger.warn({ reason: error.message }, 'changes wait for the search index');
      this.#isFailing = true;
    }
  }

  /** @returns false, with nothing done, while another process has the lease. */
  async #holding(signal: AbortSignal, work: (lease: Lease, ending: AbortSignal) => Promise<void>): Promise<boolean> {
    const {
      leases,
      knowledge: { searchIndex },
    } = this.#options.storage;
    const lease = await searchIndex.states.take(this.#owner, leaseMs);
    if (lease === undefined) return false;
    const hold = holdLease(leases, 'searchIndex', lease, leaseMs);
    try {
      await work(lease, AbortSignal.any([signal, hold.lost]));
    } catch (error) {
      if (!isLost(error, hold)) throw error;
    } finally {
      hold.stop();
      await leases.release('searchIndex', lease);
    }
    return true;
  }
}

/** Without SEARCH_INDEX_URL no copy is kept: one that is there misses what changes from now on, and is built anew once it is wanted again. */
export async function forgetCopy({ storage, logger }: Pick<PassageCopyOptions, 'storage' | 'logger'>): Promise<void> {
  if (await storage.knowledge.searchIndex.states.disable())
    logger.warn('SEARCH_INDEX_URL is not set any more: the search index is given up');
}
