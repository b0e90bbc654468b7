import type { NearestPlan } from '../embeddings/nearest.ts';
import type { RankingPlan, ScoredId } from '../passages/chunk-ranking.ts';

/**
 * Finds passages. Two implementations: the database, which is the authority and always there (postgres.ts), and a copy at an OpenSearch
 * (opensearch/opensearch.ts). The database puts, activates and drops generations in the transactions of indexing; the copy follows them
 * (`PassageCopy`). What is found here is shown to nobody before `ChunkRanking.read` has checked rights and live generations in the database.
 */
export interface SearchIndex {
  /**
   * The passages that fit words and vectors best, each list with its own scores, best first.
   *
   * @throws SearchIndexError, the database's errors, or the signal's reason.
   */
  search(query: IndexQuery, signal: AbortSignal): Promise<IndexHits>;
}

export interface IndexQuery {
  /** Undefined: no word of the question is in the sources. */
  readonly words: RankingPlan | undefined;
  /** One for each space of vectors that serves the sources. They are often still being made when words can be searched already. */
  readonly vectors: Promise<readonly NearestPlan[]>;
}

export interface IndexHits {
  readonly words: readonly ScoredId[];
  /** As many lists as plans, in their order. */
  readonly vectors: readonly (readonly ScoredId[])[];
}

/** A passage as the copy keeps it. */
export interface CopiedPassage {
  readonly id: string;
  readonly ordinal: number;
  readonly orgId: string;
  readonly dataSourceId: string;
  readonly itemId: string;
  readonly generation: number;
  /** Who may open it, in a MIRRORED source; null: nobody. */
  readonly accessRuleId: number | null;
  /** Its lexemes with their text-search configuration (`wordOf`), as often as they occur. */
  readonly words: readonly string[];
  /** Null: the provider refused the text. */
  readonly vectors: readonly CopiedVector[];
}
export interface CopiedVector {
  readonly spaceId: number;
  readonly embedding: readonly number[] | null;
}

/** A live generation of an item. */
export interface LiveGeneration {
  readonly itemId: string;
  readonly generation: number;
}

/** The writes to one index of the copy. All can be repeated. @throws SearchIndexError */
export interface PassageCopy {
  /**
   * Adds or replaces passages. One that is there in a higher version stays. A search finds them after `activate`.
   *
   * @param versionOf  the version of an item.
   */
  put(passages: readonly CopiedPassage[], versionOf: (itemId: string) => bigint): Promise<void>;
  /** Lets searches find what was put, and removes all other generations of these items. */
  activate(items: readonly LiveGeneration[]): Promise<void>;
  /** Removes all passages of items. */
  drop(itemIds: readonly string[]): Promise<void>;
}

/** The one way in which a lexeme is written in the copy and in queries to it. */
export function toWord({ config, term }: { readonly config: string; readonly term: string }): string {
  return `${config} ${term}`;
}

/** The search index did not do what it was asked for. Its message is a sentence part for an administrator: no secret, no content. */
export class SearchIndexError extends Error {
  override readonly name = 'SearchIndexError';
  /**
   * `missing`: an index or alias is not there. `refused`: no right, or no such user. `invalid`: it does not take the request.
   * `unreachable`: no answer in time, or none at all.
   */
  readonly kind: 'missing' | 'refused' | 'invalid' | 'unreachable' | 'failed';

  constructor(kind: SearchIndexError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}
