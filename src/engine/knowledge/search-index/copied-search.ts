import type { NearestPlan } from '../../../storage/knowledge/embeddings/nearest.ts';
import type { RankingPlan, ScoredId } from '../../../storage/knowledge/passages/chunk-ranking.ts';
import type { SearchIndexDocuments } from '../../../storage/knowledge/search-index/documents.ts';
import type { OpenSearch } from '../../../storage/knowledge/search-index/opensearch/opensearch.ts';
import { type CopyHit, vectorSearch, wordSearch } from '../../../storage/knowledge/search-index/opensearch/query.ts';
import type { IndexHits } from '../../../storage/knowledge/search-index/search-index.ts';

export interface CopiedSearchContext {
  readonly openSearch: OpenSearch;
  readonly documents: SearchIndexDocuments;
  readonly alias: string;
  readonly timeoutMs: number;
}

/** The plans of one search, without limits that the copy does not know. */
export interface CopiedPlans {
  readonly words: RankingPlan | undefined;
  readonly vectors: readonly NearestPlan[];
}

/** Some hits are of generations that have been replaced since: more are asked for than wanted. */
const addSpare = (limit: number) => limit + Math.max(20, Math.ceil(limit / 4));
/** So much more, once, where those were not enough. */
const secondTimes = 4;

/**
 * Asks the copy by words and by vectors in one request, and keeps the hits whose item has that generation in the database now, in an allowed source.
 * Hits that are gone make no list short: where too few are left of a full list, more are asked for.
 *
 * @returns undefined where the copy is so stale that even those are not enough.
 * @throws SearchIndexError, or the signal's reason.
 */
export async function searchCopy(
  context: CopiedSearchContext,
  plans: CopiedPlans,
  signal: AbortSignal,
): Promise<IndexHits | undefined> {
  for (const times of [1, secondTimes]) {
    const copyHits = await searchOnce(context, plans, times, signal);
    if (copyHits !== undefined) return copyHits;
  }
  return undefined;
}

async function searchOnce(
  { openSearch, documents, alias, timeoutMs }: CopiedSearchContext,
  { words, vectors }: CopiedPlans,
  times: number,
  signal: AbortSignal,
): Promise<IndexHits | undefined> {
  const toSize = (limit: number) => times * addSpare(limit);
  const plans = [...(words === undefined ? [] : [words]), ...vectors];
  const [first] = plans;
  if (first === undefined) return { words: [], vectors: [] };
  const searches = [
    ...(words === undefined ? [] : [wordSearch(words, toSize(words.limit))]),
    ...vectors.map((plan) => vectorSearch(plan, toSize(plan.limit))),
  ];
  const lists = await openSearch.search(alias, searches, timeoutMs, signal);
  const searchScope = {
    ...first,
    dataSourceIds: [...new Set(plans.flatMap(({ dataSourceIds }) => dataSourceIds))],
  };
  const itemIds = [...new Set(lists.flat().map(({ itemId }) => itemId))];
  const generations = itemIds.length === 0 ? new Map() : await documents.generations(searchScope, itemIds);
  const isLive = ({ itemId, generation }: CopyHit) => generations.get(itemId) === generation;
  const live = lists.map((list) => list.filter(isLive));
  const isShort = plans.some(({ limit }, index) => {
    const listLength = lists[index]?.length ?? 0;
    return (live[index]?.length ?? 0) < limit && listLength >= (searches[index]?.size ?? 0);
  });
  if (isShort) return undefined;
  const cut = plans.map(({ limit }, index) => (live[index] ?? []).slice(0, limit).map(toScoredId));
  return words === undefined ? { words: [], vectors: cut } : { words: cut[0] ?? [], vectors: cut.slice(1) };
}

function toScoredId({ id, score }: CopyHit): ScoredId {
  return { id, score };
}
