import type { Logger } from 'pino';
import { Counter } from '../../../lib/flow/counter.ts';
import { RecentValue } from '../../../lib/recent-value.ts';
import type { ScoredId } from '../../../storage/knowledge/passages/chunk-ranking.ts';
import type { OpenSearch } from '../../../storage/knowledge/search-index/opensearch/opensearch.ts';
import { fits, names } from '../../../storage/knowledge/search-index/opensearch/schema.ts';
import {
  type IndexHits,
  type IndexQuery,
  type SearchIndex,
  SearchIndexError,
} from '../../../storage/knowledge/search-index/search-index.ts';
import type { SearchIndexState } from '../../../storage/knowledge/search-index/state.ts';
import type { SearchIndexStore } from '../../../storage/knowledge/search-index/store.ts';
import { Circuit } from './circuit.ts';
import { type CopiedPlans, searchCopy } from './copied-search.ts';

export interface CopiedIndexOptions {
  readonly openSearch: OpenSearch;
  readonly store: SearchIndexStore;
  /** Answers what the copy does not. */
  readonly database: SearchIndex;
  /** The version of the indexes that this program can use. */
  readonly version: number;
  readonly timeoutMs: number;
  readonly logger: Logger;
}

/** Who answered searches, and why the database did. */
export const searchAnswers = ['index', 'building', 'failing', 'behind', 'filter'] as const;
export type SearchAnswer = (typeof searchAnswers)[number];

const stateAgeMs = 1_000;
/** Up to so many items that wait to be sent are searched in the database, and joined; with more, the database answers alone. */
const waitingMax = 100;
/** A query of OpenSearch names at most 65,536 terms. */
const rulesMax = 60_000;
/** Filters by type, path or time are resolved to so many items; with more, the database answers. */
const filteredMax = 5_000;

/**
 * The copy at an OpenSearch, with the database behind it: what the copy has not got yet is found in the database, and when the copy fails, is behind,
 * or cannot answer a question, the database answers. A search finds the same, only slower.
 */
export class CopiedIndex implements SearchIndex {
  readonly answers = new Counter<SearchAnswer>(searchAnswers);
  readonly #options: CopiedIndexOptions;
  readonly #alias: string;
  readonly #circuit: Circuit;
  readonly #state: RecentValue<SearchIndexState | undefined>;

  constructor(options: CopiedIndexOptions) {
    this.#options = options;
    this.#alias = names.searched(options.openSearch.prefix, options.version);
    this.#circuit = new Circuit(options.logger, () => options.openSearch.ping(this.#alias));
    this.#state = new RecentValue(stateAgeMs, () => options.store.states.read());
  }

  /** Why the database answers searches, for the operator; undefined while the copy does. */
  async shortcoming(): Promise<string | undefined> {
    const state = await this.#state.read();
    if (!this.#isUsable(state)) {
      const { building = null, itemsDone = 0, itemsTotal = 0 } = state ?? {};
      const progress = building === null ? '' : ` (${itemsDone} of about ${itemsTotal} documents)`;
      return `The database answers searches: the search index is being built${progress}.`;
    }
    // Who asks also makes it be tried again: there may be no searches.
    this.#circuit.isClosed();
    const { reason } = this.#circuit;
    return reason === undefined
      ? undefined
      : `The database answers searches: of the search index of SEARCH_INDEX_URL, ${reason}.`;
  }

  async search(query: IndexQuery, signal: AbortSignal): Promise<IndexHits> {
    const { database } = this.#options;
    if (!this.#isUsable(await this.#state.read())) return this.#byDatabase('building', query, signal);
    if (!this.#circuit.isClosed()) return this.#byDatabase('failing', query, signal);
    const copyPlans: CopiedPlans = { words: query.words, vectors: await query.vectors };
    const waiting = await this.#waitingIn(copyPlans);
    const gate = copyPlans.words?.gate ?? copyPlans.vectors[0]?.gate;
    if ((gate?.ruleIds.length ?? 0) > rulesMax) return this.#byDatabase('filter', query, signal);
    if (waiting.length > waitingMax) return this.#byDatabase('behind', query, signal);
    const plans = await this.#withoutFilter(copyPlans);
    if (plans === undefined) return this.#byDatabase('filter', query, signal);
    try {
      const [copyHits, fresh] = await Promise.all([
        searchCopy({ ...this.#options, documents: this.#options.store.documents, alias: this.#alias }, plans, signal),
        waiting.length === 0 ? undefined : database.search(onlyItems(copyPlans, waiting), signal),
      ]);
      if (copyHits === undefined) return this.#byDatabase('behind', query, signal);
      this.answers.add('index');
      return fresh === undefined ? copyHits : joined(copyHits, fresh, copyPlans);
    } catch (error) {
      if (!(error instanceof SearchIndexError)) throw error;
      // The field of a space of vectors is made a moment after the space.
      if (error.kind !== 'invalid' || plans.vectors.length === 0) this.#circuit.fail(error);
      return this.#byDatabase('failing', query, signal);
    }
  }

  /** An index of another mapping is not searched, nor one that misses changes because another is being built by a newer program. */
  #isUsable(state: SearchIndexState | undefined): boolean {
    if (state === undefined || state.serving === null) return false;
    const { version } = this.#options;
    return fits(state.servingVersion, version) && (state.building === null || fits(state.buildingVersion, version));
  }

  #byDatabase(answer: SearchAnswer, query: IndexQuery, signal: AbortSignal): Promise<IndexHits> {
    this.answers.add(answer);
    return this.#options.database.search(query, signal);
  }

  #waitingIn({ words, vectors }: CopiedPlans): Promise<readonly string[]> {
    const dataSourceIds = new Set([words, ...vectors].flatMap((plan) => plan?.dataSourceIds ?? []));
    return this.#options.store.changes.waitingIn([...dataSourceIds], waitingMax + 1);
  }

  /** Plans whose filter is replaced by the items that it lets through; undefined when they are too many. */
  async #withoutFilter(plans: CopiedPlans): Promise<CopiedPlans | undefined> {
    const { documents } = this.#options.store;
    const [first] = [plans.words, ...plans.vectors].filter((plan) => plan !== undefined);
    if (first?.filter === undefined) return plans;
    const { itemIds, filter, gate } = first;
    const sources = [...new Set([plans.words, ...plans.vectors].flatMap((plan) => plan?.dataSourceIds ?? []))];
    const limits = { filter, ...(itemIds === undefined ? {} : { itemIds }), ...(gate === undefined ? {} : { gate }) };
    const fitting = await documents.itemsWithin(sources, limits, filteredMax);
    if (fitting === undefined) return undefined;
    return {
      words: plans.words === undefined ? undefined : withItems(plans.words, fitting),
      vectors: plans.vectors.map((plan) => withItems(plan, fitting)),
    };
  }
}

function withItems<Plan extends object>(plan: Plan, itemIds: readonly string[]): Plan {
  return { ...plan, itemIds };
}

/** The same search among some items only. */
function onlyItems({ words, vectors }: CopiedPlans, waiting: readonly string[]): IndexQuery {
  const among = <Plan extends { readonly itemIds?: readonly string[] }>(plan: Plan): Plan => {
    const { itemIds } = plan;
    return withItems(plan, itemIds === undefined ? waiting : waiting.filter((id) => itemIds.includes(id)));
  };
  return { words: words === undefined ? undefined : among(words), vectors: Promise.resolve(vectors.map(among)) };
}

/** Both have the same scores: the lists are joined by them. */
function joined(copyHits: IndexHits, fresh: IndexHits, { words, vectors }: CopiedPlans): IndexHits {
  return {
    words: best(copyHits.words, fresh.words, words?.limit ?? 0),
    vectors: vectors.map(({ limit }, index) => best(copyHits.vectors[index] ?? [], fresh.vectors[index] ?? [], limit)),
  };
}

function best(copyHits: readonly ScoredId[], fresh: readonly ScoredId[], limit: number): readonly ScoredId[] {
  const all = new Map([...copyHits, ...fresh].map((hit) => [hit.id, hit]));
  return [...all.values()].sort((a, b) => b.score - a.score || (BigInt(a.id) < BigInt(b.id) ? -1 : 1)).slice(0, limit);
}
