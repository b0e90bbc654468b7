import type { WordOrigin } from '../../../entities/knowledge/searched-question.ts';
import type { ChunkRanking, RankingPlan } from '../../../storage/knowledge/passages/chunk-ranking.ts';
import { planCandidates, type WeighedTerm } from './candidates.ts';
import type { AskedTerm, AskedTerms } from './question-terms.ts';

/** A lexeme that a question is ranked by. */
export interface PlannedTerm extends WeighedTerm {
  readonly term: string;
  readonly origin: WordOrigin;
}
export interface QuestionPlan extends RankingPlan {
  readonly terms: readonly PlannedTerm[];
}

/** A lexeme of the question, in all allowed sources. */
interface Term {
  readonly config: string;
  readonly origin: WordOrigin;
  readonly term: string;
  /** How often it is in the question. */
  readonly count: number;
  /** How many chunks of the allowed sources contain it. */
  readonly df: number;
  readonly keys: ReadonlyMap<string, number>;
  readonly dfs: ReadonlyMap<string, number>;
}

/** A question may be a whole document: its rarest lexemes are used. */
const termsMax = 64;
/** Most unknown words of each language for which similar ones are looked up; each reads a range of the vocabulary of its language. */
const unknownTermsMax = 3;
/** Languages in which they are looked up: those with the most passages. */
const unknownConfigsMax = 8;
const neighboursMax = 3;
const similarityMin = 0.35;

/**
 * Plans the ranking of a question: the weight of each lexeme (BM25's idf, times its count in the question), and which passages are
 * worth scoring.
 */
export async function planQuestion(
  ranking: ChunkRanking,
  searchLimits: Pick<RankingPlan, 'orgId' | 'dataSourceIds' | 'itemIds' | 'filter' | 'gate'>,
  askedTerms: AskedTerms,
  limit: number,
): Promise<QuestionPlan> {
  const terms = gather(askedTerms.terms);
  const knownTerms = terms.filter(({ df }) => df > 0);
  const unknown = terms.filter(
    ({ df, term, config }) => df === 0 && !knownTerms.some((other) => isSameWord(other, term, config)),
  );
  const weightedTerms = [
    ...knownTerms.map((term) => weigh(term, askedTerms.chunks)),
    ...(await neighbours(ranking, searchLimits.dataSourceIds, unknown, askedTerms.chunks)),
  ];
  weightedTerms.sort((a, b) => a.df - b.df || b.weight - a.weight);
  const heaviestTerms = weightedTerms.slice(0, termsMax);
  return {
    ...searchLimits,
    terms: heaviestTerms,
    candidates: planCandidates(heaviestTerms, askedTerms.collections, searchLimits.gate !== undefined),
    averageLength:
      askedTerms.sumLength /
      Math.max(
        1,
        askedTerms.chunks.values().reduce((sum, chunks) => sum + chunks, 0),
      ),
    limit,
  };
}

/** One term for each lexeme of each language, over all sources. */
function gather(sourceTerms: readonly AskedTerm[]): Term[] {
  const groups = Map.groupBy(sourceTerms, ({ config, term }) => `${config} ${term}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const present = group.filter(({ df }) => df > 0);
    return [
      {
        config: first.config,
        term: first.term,
        origin: first.origin,
        count: Math.max(...group.map(({ count }) => count)),
        df: present.reduce((total, { df }) => total + df, 0),
        keys: new Map(present.map(({ dataSourceId, key }) => [dataSourceId, key])),
        dfs: new Map(present.map(({ dataSourceId, df }) => [dataSourceId, df])),
      },
    ];
  });
}

/** A word that another language stems to a known lexeme is not unknown. */
function isSameWord(other: Term, term: string, config: string): boolean {
  return other.config !== config && (other.term.startsWith(term) || term.startsWith(other.term));
}

/** Rarity is measured within a language, so that a single document in another language does not make its words rare. */
function weigh(
  { config, term, origin, keys, df, dfs, count }: Term,
  chunks: ReadonlyMap<string, number>,
  share = 1,
): PlannedTerm {
  const documents = chunks.get(config) ?? 0;
  const rarity = Math.log(1 + (Math.max(documents - df, 0) + 0.5) / (df + 0.5));
  return { config, term, origin, keys, df, dfs, weight: share * count * rarity };
}

/** A word that no passage contains is usually a typing error: the most similar lexemes replace it, weighted by their similarity. */
async function neighbours(
  ranking: ChunkRanking,
  dataSourceIds: readonly string[],
  unknown: readonly Term[],
  chunks: ReadonlyMap<string, number>,
): Promise<PlannedTerm[]> {
  // A word is a term of each language of the sources: the misspelled one is in any of them.
  const ofConfigs = Map.groupBy(
    unknown.filter(({ term }) => /^\p{L}{4,40}$/u.test(term)),
    ({ config }) => config,
  );
  const worth = [...ofConfigs]
    .toSorted(([a], [b]) => (chunks.get(b) ?? 0) - (chunks.get(a) ?? 0))
    .slice(0, unknownConfigsMax)
    .flatMap(([, terms]) => terms.slice(0, unknownTermsMax));
  const similarLists = await Promise.all(worth.map((term) => similarTerms(ranking, dataSourceIds, term)));
  return similarLists.flatMap((similar) => similar.map(({ term, similarity }) => weigh(term, chunks, similarity)));
}

async function similarTerms(ranking: ChunkRanking, dataSourceIds: readonly string[], unknown: Term) {
  const [initial = ''] = unknown.term;
  const lengths = { min: unknown.term.length - 2, max: unknown.term.length + 2 };
  const rows = await ranking.findSimilarTerms(dataSourceIds, unknown.config, initial, lengths);
  return gather(rows.map((row) => ({ ...row, origin: 'question' })))
    .map((term) => ({
      term: { ...term, origin: 'spelling' as const, count: unknown.count },
      similarity: trigramSimilarity(unknown.term, term.term),
    }))
    .filter(({ similarity }) => similarity >= similarityMin)
    .sort((a, b) => b.similarity - a.similarity || b.term.df - a.term.df || (a.term.term < b.term.term ? -1 : 1))
    .slice(0, neighboursMax);
}

/**
 * The similarity of two words, 0 to 1: shared trigrams by all trigrams, with two spaces before and one after each word. Equal to
 * the result of the database extension pg_trgm, which is not needed.
 */
export function trigramSimilarity(left: string, right: string): number {
  const a = trigrams(left);
  const b = trigrams(right);
  const sharedCount = a.intersection(b).size;
  return sharedCount === 0 ? 0 : sharedCount / (a.size + b.size - sharedCount);
}

function trigrams(word: string): Set<string> {
  const paddedWord = `  ${word} `;
  return new Set(Array.from({ length: paddedWord.length - 2 }, (_, index) => paddedWord.slice(index, index + 3)));
}
