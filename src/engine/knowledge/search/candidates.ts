import { type CandidatePlan, type CandidateTier, tiersMax } from '../../../storage/knowledge/passages/candidates.ts';
import type { ChunkCollection, RankingTerm } from '../../../storage/knowledge/passages/chunk-ranking.ts';

/** A lexeme with its frequencies. */
export interface WeighedTerm extends RankingTerm {
  readonly config: string;
  /** In how many chunks of the allowed sources it is. */
  readonly df: number;
  /** In how many chunks of each source that has it. */
  readonly dfs: ReadonlyMap<string, number>;
}

/** A word of the question in one collection. */
interface Word {
  readonly key: number;
  readonly weight: number;
  /** The share of the collection's passages that hold it. */
  readonly share: number;
}
interface Collection {
  readonly chunks: number;
  /** The weightiest first. */
  readonly words: readonly Word[];
}

/** Rows that a search reads where words occur independently of each other. In a small table they share pages, so more of them cost little. */
const rowsWanted = 500;
const rowsWantedOfFew = 1_500;
const fewPassages = 20_000;
/** Bounds what a search reads, about one buffer for each row in a large table, however often words occur together. */
const rowsMax = 1_500;
/** So many times the wanted rows are expected of each tier: words of one topic occur together more often than expected, others less often. */
const tierShares = [1 / 64, 1 / 8, 1, 8];
/**
 * Where a person may open a part of the passages, the others of a tier are read for nothing, and a narrow tier leaves too few. So one wide tier is read
 * at once: it finds more passages of all, and a scan of the index less takes the place of the rows more. A wider one only has to fill a page.
 */
const gatedRowsWanted = 1_000;
const gatedTierShares = [1, 4];
const gatedRowsFilling = 32;
/** With all combinations of six words, a tier has at most 20 groups. */
const wordsMax = 6;
const wordsMin = 3;
/** The most words of all collections together: each costs a descent of the index. */
const keysMax = 200;

/**
 * Which passages are worth scoring: those whose words of the question weigh most together. A passage with one rare word may be, one with a common word
 * alone is not, unless the sources are small. The least weight is chosen so that the expected number of rows fits, by the frequencies of the words.
 *
 * Cost: 64 combinations of words for each source and language.
 *
 * @param isGated  whether the person who asks may open a part of the passages only.
 */
export function planCandidates(
  terms: readonly WeighedTerm[],
  collections: readonly ChunkCollection[],
  isGated = false,
): CandidatePlan {
  const passages = sumValues(collections, ({ chunks }) => chunks);
  const rowCount = passages <= fewPassages ? rowsWantedOfFew : isGated ? gatedRowsWanted : rowsWanted;
  const keys = [...new Set(terms.flatMap((term) => [...term.keys.values()]))];
  const enough = passages <= fewPassages ? rowsWantedOfFew / 2 : rowsWanted / 2;
  const furtherTiers = Array.from({ length: tiersMax - 1 }, () => (isGated ? gatedRowsFilling : enough));
  const plan = { keys, rowsEnough: [enough, ...furtherTiers], rowsMax };
  if (
    Math.min(
      passages,
      sumValues(terms, ({ df }) => df),
    ) <= rowCount
  )
    return { ...plan, tiers: [[plan.keys]] };
  const most = Math.min(wordsMax, Math.max(wordsMin, Math.floor(keysMax / Math.max(1, collections.length))));
  const questionCollections = collections
    .map((collection) => weightiest(terms, collection, most))
    .filter(({ words }) => words.length > 0);
  const tiers = leastWeights(questionCollections, rowCount, isGated ? gatedTierShares : tierShares).map((least) =>
    buildTier(questionCollections, least),
  );
  return { ...plan, tiers: tiers.filter((tier) => tier.length > 0) };
}

function weightiest(terms: readonly WeighedTerm[], { dataSourceId, config, chunks }: ChunkCollection, most: number): Collection {
  const words = terms.flatMap(({ config: language, keys, dfs, weight }) => {
    const key = keys.get(dataSourceId);
    if (language !== config || key === undefined) return [];
    return [{ key, weight, share: Math.min(0.99, (dfs.get(dataSourceId) ?? 0) / Math.max(1, chunks)) }];
  });
  return { chunks, words: words.sort((a, b) => b.weight - a.weight).slice(0, most) };
}

/** For each tier, what the words of its passages weigh at least; different weights, the greatest first. */
function leastWeights(collections: readonly Collection[], rowCount: number, shares: readonly number[]): readonly number[] {
  const wordCombinations = collections.flatMap(({ chunks, words }) =>
    listCombinations(words).map((wordSet) => ({
      weight: sumWeights(words, wordSet),
      rows: words.reduce((rows, { share }, index) => rows * (holds(wordSet, index) ? share : 1 - share), chunks),
    })),
  );
  wordCombinations.sort((a, b) => b.weight - a.weight);
  const least = new Set<number>();
  for (const share of shares) {
    let rows = 0;
    let weight = wordCombinations[0]?.weight ?? 0;
    for (const one of wordCombinations) {
      rows += one.rows;
      if (rows > share * rowCount) break;
      weight = one.weight;
    }
    least.add(weight);
  }
  return [...least];
}

/** Groups of all collections side by side: the n-th group holds the n-th group of each. */
function buildTier(collections: readonly Collection[], least: number): CandidateTier {
  const each = collections.map(({ words }) => listGroups(words, least)).filter((groups) => groups.length > 0);
  const count = Math.max(0, ...each.map((groups) => groups.length));
  return Array.from({ length: count }, (_, n) => each.flatMap((groups) => groups[n % groups.length] ?? []));
}

/**
 * Groups of words, of each of which a passage must hold one so that its words weigh at least `least`: for every combination that is too light, and
 * would not be with any further word, the words that it lacks. The most selective group first; `[]` when all words together are too light.
 */
function listGroups(words: readonly Word[], least: number): readonly (readonly number[])[] {
  const isLight = (wordSet: number) => sumWeights(words, wordSet) < least - tolerance;
  if (isLight(2 ** words.length - 1)) return [];
  const isLightest = (held: number) => words.every((_, index) => holds(held, index) || !isLight(held | (1 << index)));
  return [0, ...listCombinations(words)]
    .filter((held) => isLight(held) && isLightest(held))
    .map((held) => words.filter((_, index) => !holds(held, index)))
    .sort((a, b) => sumShares(a) - sumShares(b))
    .map((group) => group.map(({ key }) => key));
}

/** Sums of the same weights differ by rounding. */
const tolerance = 1e-9;

/** Sets of words as bits, without the empty one. */
function listCombinations(words: readonly Word[]): readonly number[] {
  return Array.from({ length: 2 ** words.length - 1 }, (_, index) => index + 1);
}

function holds(wordSet: number, index: number): boolean {
  return (wordSet & (1 << index)) !== 0;
}

function sumWeights(words: readonly Word[], wordSet: number): number {
  return words.reduce((sum, { weight }, index) => (holds(wordSet, index) ? sum + weight : sum), 0);
}

function sumShares(words: readonly Word[]): number {
  return sumValues(words, ({ share }) => share);
}

function sumValues<T>(values: readonly T[], measure: (value: T) => number): number {
  return values.reduce((sum, value) => sum + measure(value), 0);
}
