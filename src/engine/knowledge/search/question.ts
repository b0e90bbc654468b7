import { trigramSimilarity } from '../../../lib/trigrams.ts';
import type {
  ChunkRanking,
  QuestionTerms,
  RankingPlan,
  RankingTerm,
  SourceTerm,
} from '../../../storage/knowledge/chunk-ranking.ts';

/** A lexeme of the question, over all allowed sources. */
interface Term {
  readonly config: string;
  readonly term: string;
  /** How often the question has it: every repetition counts. */
  readonly count: number;
  /** In how many chunks of the allowed sources it stands. */
  readonly df: number;
  readonly keys: ReadonlyMap<string, number>;
}

/** A question may be a whole document: its rarest lexemes carry the weight. */
const termsMax = 64;
/** Rows that the lists of candidate terms may hold together: they decide what a search costs. */
const candidateRowsMax = 5_000;
const candidateTermsMin = 2;
const candidatesMax = 400;
/** Only so many unknown words are looked up among similar ones; each costs a range of the vocabulary. */
const unknownTermsMax = 3;
const neighboursMax = 3;
const similarityMin = 0.35;

/**
 * Decides how to rank a question: the weight of each lexeme (BM25's idf, times its repetitions in the question), and the rarest ones as the
 * source of candidates, for every further list is longer and tells less.
 */
export async function planQuestion(
  ranking: ChunkRanking,
  allowed: { readonly orgId: string; readonly dataSourceIds: readonly string[] },
  found: QuestionTerms,
  limit: number,
): Promise<RankingPlan> {
  const terms = gather(found.terms);
  const known = terms.filter(({ df }) => df > 0);
  const unknown = terms.filter(({ df, term, config }) => df === 0 && !known.some((other) => isSameWord(other, term, config)));
  const weighted = [
    ...known.map((term) => weigh(term, found.chunks)),
    ...(await neighbours(ranking, allowed.dataSourceIds, unknown, found.chunks)),
  ];
  weighted.sort((a, b) => a.df - b.df || b.weight - a.weight);
  const kept = weighted.slice(0, termsMax);
  return {
    ...allowed,
    terms: kept,
    candidateTerms: candidateTermCount(kept),
    rowsPerTermMax: candidateRowsMax,
    candidatesMax,
    averageLength:
      found.sumLength /
      Math.max(
        1,
        found.chunks.values().reduce((sum, chunks) => sum + chunks, 0),
      ),
    limit,
  };
}

type WeightedTerm = RankingTerm & { readonly df: number };

/** One term for each lexeme of each language, whatever the number of sources. */
function gather(sourceTerms: readonly SourceTerm[]): Term[] {
  const groups = Map.groupBy(sourceTerms, ({ config, term }) => `${config} ${term}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const present = group.filter(({ df }) => df > 0);
    return [
      {
        config: first.config,
        term: first.term,
        count: first.count,
        df: present.reduce((total, { df }) => total + df, 0),
        keys: new Map(present.map(({ dataSourceId, key }) => [dataSourceId, key])),
      },
    ];
  });
}

/** The same word stemmed by another language is not unknown. */
function isSameWord(other: Term, term: string, config: string): boolean {
  return other.config !== config && (other.term.startsWith(term) || term.startsWith(other.term));
}

/** Rare is what is rare in its own language: a word that one stray document keeps is no treasure. */
function weigh({ config, keys, df, count }: Term, chunks: ReadonlyMap<string, number>, share = 1): WeightedTerm {
  const documents = chunks.get(config) ?? 0;
  return { keys, df, weight: share * count * Math.log(1 + (Math.max(documents - df, 0) + 0.5) / (df + 0.5)) };
}

function candidateTermCount(terms: readonly WeightedTerm[]): number {
  let rows = 0;
  let count = 0;
  for (const { df } of terms) {
    rows += df;
    if (count >= candidateTermsMin && rows > candidateRowsMax) break;
    count += 1;
  }
  return count;
}

/** Words that no passage has are mostly typing errors: the most similar lexemes stand in for them, at the weight of their similarity. */
async function neighbours(
  ranking: ChunkRanking,
  dataSourceIds: readonly string[],
  unknown: readonly Term[],
  chunks: ReadonlyMap<string, number>,
): Promise<WeightedTerm[]> {
  const worth = unknown.filter(({ term }) => /^\p{L}{4,40}$/u.test(term)).slice(0, unknownTermsMax);
  const found = await Promise.all(worth.map((term) => similarTerms(ranking, dataSourceIds, term)));
  return found.flatMap((similar) => similar.map(({ term, similarity }) => weigh(term, chunks, similarity)));
}

async function similarTerms(ranking: ChunkRanking, dataSourceIds: readonly string[], unknown: Term) {
  const [initial = ''] = unknown.term;
  const lengths = { min: unknown.term.length - 2, max: unknown.term.length + 2 };
  const rows = await ranking.findSimilarTerms(dataSourceIds, unknown.config, initial, lengths);
  return gather(rows)
    .map((term) => ({
      term: { ...term, count: unknown.count },
      similarity: trigramSimilarity(unknown.term, term.term),
    }))
    .filter(({ similarity }) => similarity >= similarityMin)
    .sort((a, b) => b.similarity - a.similarity || b.term.df - a.term.df || (a.term.term < b.term.term ? -1 : 1))
    .slice(0, neighboursMax);
}
