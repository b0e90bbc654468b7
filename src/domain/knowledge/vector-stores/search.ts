import type { z } from 'zod';
import { readFilter } from '../../../engine/knowledge/search/attribute-filter.ts';
import { displayScore } from '../../../engine/knowledge/search/display-score.ts';
import type { Passage } from '../../../entities/knowledge/citation.ts';
import { type StoreHit, type StoreSearchResults, statusOfStore } from '../../../entities/knowledge/vector-store.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { isObject } from '../../../lib/json/json.ts';
import type { storeSearchBody } from '../../../wire/vector-stores/bodies.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../../ground/faults.ts';
import { searchRun } from '../search.ts';
import { getVectorStore } from './stores.ts';

export type SearchInput = z.output<typeof storeSearchBody>;

const queriesMax = 10;
const queryLengthMax = 8_000;
const resultsDefault = 10;
const resultsMax = 50;
const tokensMax = 200_000;
const rankers = ['auto', 'none'];

/**
 * Finds the passages of a store that fit a question.
 *
 * @throws DomainError NOT_FOUND, and with every fault of the input.
 *
 * Cost: two statements a query, one for the files, and one for a filter; where vectors serve the store, two more and a call of the embedding model a query.
 */
export async function searchVectorStore(
  deps: Deps,
  caller: Caller,
  id: string,
  input: SearchInput,
  signal: AbortSignal,
): Promise<StoreSearchResults> {
  const store = await getVectorStore(deps, caller, id);
  const faults = new Faults();
  const queries = readQueries(input.query, faults);
  const most = input.maxNumResults ?? resultsDefault;
  faults.requireRange('maxNumResults', most, { min: 1, max: resultsMax, isWhole: true });
  if (input.rewriteQuery === true) {
    faults.add('rewriteQuery', 'rewriteQuery must be false: Parley searches for the query as it is');
  }
  const scoreMin = readRanking(input.rankingOptions, faults);
  const hasFilter = (input.filters ?? null) !== null;
  const filter = hasFilter ? readFilter(input.filters, 'filters', faults) : undefined;
  faults.throwIfAny();
  if (statusOfStore(store, deps.now()) === 'expired') return { queries, hits: [] };
  const fitting = filter === undefined ? undefined : await deps.storage.knowledge.vectorStores.itemsWith(store.id, filter);
  const limits = { passagesMax: most, tokensMax, ...(fitting === undefined ? {} : { itemIds: fitting }) };
  const best = new Map<string, Passage>();
  await deps.runs.recorded(searchRun(caller, null), async (charge, recorder) => {
    for (const query of queries) {
      const searchRequest = { orgId: store.orgId, dataSourceIds: [store.id], question: query, charge };
      const startedMs = performance.now();
      const passageMatches = await deps.knowledge.search(searchRequest, limits, signal);
      recorder.retrieval(query, startedMs, passageMatches, undefined);
      for (const passage of passageMatches.passages) {
        const score = displayScore(passage, passageMatches.retrieval);
        const bestPassage = best.get(passage.chunkId);
        if (bestPassage === undefined || bestPassage.score < score) best.set(passage.chunkId, { ...passage, score });
      }
    }
  });
  const passages = [...best.values()].sort((a, b) => b.score - a.score);
  const itemIds = [...new Set(passages.map(({ knowledgeItemId }) => knowledgeItemId))];
  const files = new Map((await deps.storage.knowledge.vectorStores.filesOfItems(itemIds)).map((file) => [file.itemId, file]));
  await deps.storage.knowledge.vectorStores.touch(store.id);
  const hits = passages.flatMap(({ knowledgeItemId, score, text }): StoreHit[] => {
    const file = files.get(knowledgeItemId);
    return file === undefined || score < scoreMin ? [] : [{ file, score, text }];
  });
  return { queries, hits: hits.slice(0, most) };
}

function readQueries(query: unknown, faults: Faults): readonly string[] {
  const queries: readonly unknown[] = Array.isArray(query) ? query : [query];
  if (query === undefined || query === null) faults.add('query', 'query is required', 'MISSING_REQUIRED_PARAMETER');
  else if (!queries.every((text) => typeof text === 'string' && text.trim() !== '' && text.length <= queryLengthMax)) {
    faults.add('query', `query must be a text of at most ${queryLengthMax} characters, or an array of such`, 'INVALID_TYPE');
  } else if (queries.length === 0) faults.add('query', 'query must hold at least one text', 'EMPTY_ARRAY');
  else faults.requireCount('query', queries, queriesMax);
  return queries.map(String);
}

/** @returns the lowest score that is wanted. */
function readRanking(input: unknown, faults: Faults): number {
  if (input === undefined || input === null) return 0;
  if (!isObject(input)) {
    faults.add('rankingOptions', 'rankingOptions must be an object', 'INVALID_TYPE');
    return 0;
  }
  const { ranker, score_threshold: threshold, ...others } = input;
  if (ranker !== undefined && !rankers.includes(String(ranker))) {
    faults.add('rankingOptions.ranker', `rankingOptions.ranker must be one of ${rankers.join(', ')}: Parley has one ranker`);
  }
  for (const name of Object.keys(others)) {
    faults.add(`rankingOptions.${name}`, `rankingOptions.${name} is not served: Parley has one ranker`);
  }
  if (threshold === undefined) return 0;
  const score = typeof threshold === 'number' ? threshold : Number.NaN;
  faults.requireRange('rankingOptions.score_threshold', score, { min: 0, max: 1 });
  return score;
}
