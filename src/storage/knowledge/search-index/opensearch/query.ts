import { membersOf, readElements, readString } from '../../../../lib/json/json.ts';
import type { NearestPlan } from '../../embeddings/nearest.ts';
import type { RankingPlan } from '../../passages/chunk-ranking.ts';
import type { AccessGate } from '../../permissions/gate.ts';
import { SearchIndexError, toWord } from '../search-index.ts';
import { toRefusal } from './client.ts';
import { vectorField } from './schema.ts';

/** A passage that the copy found, with the place that the copy believes it to have. */
export interface CopyHit {
  readonly id: string;
  readonly score: number;
  readonly itemId: string;
  readonly generation: number;
}

/** One search of a request. */
export interface CopySearch {
  readonly query: object;
  readonly size: number;
  /** What the score says, from what the index says. */
  scoreOf(score: number): number;
}

type Allowed = Pick<RankingPlan, 'orgId' | 'dataSourceIds' | 'itemIds' | 'gate'>;

/** Organization and sources in every query: what another organization has is not even ranked. */
function listFilters({ orgId, dataSourceIds, itemIds, gate }: Allowed): readonly object[] {
  return [
    { term: { org: orgId } },
    { terms: { source: dataSourceIds } },
    ...(itemIds === undefined ? [] : [{ terms: { item: itemIds } }]),
    ...(gate === undefined ? [] : [openTo(gate)]),
  ];
}

/** Of MIRRORED sources, what the person who asks may open. A passage without a rule is open to nobody. */
function openTo({ mirroredIds, ruleIds }: AccessGate): object {
  const isLent = { bool: { must_not: [{ terms: { source: mirroredIds } }] } };
  return { bool: { should: [isLent, { terms: { rule: ruleIds } }], minimum_should_match: 1 } };
}

export function wordSearch(plan: RankingPlan, size: number): CopySearch {
  const should = plan.terms.map((term) => ({ term: { words: { value: toWord(term), boost: term.weight } } }));
  const query = { bool: { should, minimum_should_match: 1, filter: listFilters(plan) } };
  return { query, size, scoreOf: (score) => score };
}

export function vectorSearch(plan: NearestPlan, size: number): CopySearch {
  const filter = { bool: { filter: listFilters(plan) } };
  const query = { knn: { [vectorField(plan.space.id)]: { vector: plan.question, k: size, filter } } };
  // Lucene's score of a cosine is (1 + cosine) / 2.
  return { query, size, scoreOf: (score) => 2 * score - 1 };
}

/** The lines of a request with several searches. @param timeoutMs  after which a shard gives up. */
export function searchLines(alias: string, searches: readonly CopySearch[], timeoutMs: number): string {
  const header = { index: alias, allow_partial_search_results: false };
  return searches
    .flatMap(({ query, size }) => [
      header,
      { query, size, timeout: `${timeoutMs}ms`, track_total_hits: false, _source: ['item', 'generation'] },
    ])
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
}

/** @throws SearchIndexError for an answer that is not whole. */
export function readHits(answer: unknown, searches: readonly CopySearch[]): readonly (readonly CopyHit[])[] {
  const responses = readElements(membersOf(answer).responses);
  return searches.map((search, index) => readResponse(responses[index], search));
}

function readResponse(response: unknown, { scoreOf, size }: CopySearch): readonly CopyHit[] {
  const { error, status, timed_out: timedOut, hits, _shards: shards } = membersOf(response);
  if (error !== undefined) throw toRefusal(typeof status === 'number' ? status : 500, response);
  if (timedOut !== false) throw new SearchIndexError('unreachable', 'a search was cut off');
  if (membersOf(shards).failed !== 0) throw new SearchIndexError('failed', 'some of its shards failed');
  const hitsById = new Map<string, CopyHit>();
  for (const hit of readElements(membersOf(hits).hits).slice(0, size)) {
    const { _id: id, _score: score, _source: source } = membersOf(hit);
    const { item, generation } = membersOf(source);
    const itemId = readString(item);
    // Ids of passages are numbers of the database. Whatever else stands there is no passage.
    if (typeof id !== 'string' || !/^\d{1,18}$/.test(id) || itemId === undefined) continue;
    if (typeof score !== 'number' || typeof generation !== 'number' || hitsById.has(id)) continue;
    hitsById.set(id, { id, score: scoreOf(score), itemId, generation });
  }
  return [...hitsById.values()].sort((a, b) => b.score - a.score || (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
}
