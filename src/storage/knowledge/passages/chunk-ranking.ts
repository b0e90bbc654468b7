// Raw SQL: ranking. The database scores passages, so that their texts need not be sent.
import type { LegScores } from '../../../entities/knowledge/retrieval.ts';
import { Parameters } from '../../ground/sql/where.ts';
import { Store } from '../../ground/store.ts';
import { type ItemLimits, itemLimitsCondition } from '../items/filter.ts';
import { type AccessGate, openRuleCondition, searchedSourcesCondition } from '../permissions/gate.ts';
import { type CandidatePlan, candidatesSql } from './candidates.ts';
import { lexemeRow } from './lexeme-key.ts';

export interface Bounds {
  readonly min: number;
  readonly max: number;
}

export interface QuestionTerms {
  /** How many chunks the sources have in each language. */
  readonly chunks: ReadonlyMap<string, number>;
  /** Lexemes of all chunks together. */
  readonly sumLength: number;
  readonly terms: readonly SourceTerm[];
  /** The same, for each source and language. */
  readonly collections: readonly ChunkCollection[];
}

/** The chunks of one source in one language. */
export interface ChunkCollection {
  readonly dataSourceId: string;
  readonly config: string;
  readonly chunks: number;
}

/** A lexeme of the question in one source. */
export interface SourceTerm {
  readonly dataSourceId: string;
  readonly config: string;
  readonly term: string;
  readonly key: number;
  /** How often the term occurs in the question. */
  readonly count: number;
  /** In how many chunks of the source the term occurs. */
  readonly df: number;
}

export interface RankingPlan extends ItemLimits {
  readonly orgId: string;
  readonly dataSourceIds: readonly string[];
  /** All terms that are scored, rarest first. */
  readonly terms: readonly RankingTerm[];
  readonly candidates: CandidatePlan;
  readonly averageLength: number;
  readonly limit: number;
}
export interface RankingTerm {
  readonly config: string;
  readonly term: string;
  readonly weight: number;
  /** The term's key in each source that has it. */
  readonly keys: ReadonlyMap<string, number>;
}

/** A passage by its id, and how well it fits. */
export interface ScoredId {
  readonly id: string;
  readonly score: number;
}

/** A passage with its place, before it is scored. */
export type ChunkInPlace = Omit<RankedChunk, 'score' | 'scores'>;

export interface RankedChunk {
  readonly chunkId: string;
  readonly itemId: string;
  readonly dataSourceId: string;
  readonly ordinal: number;
  readonly score: number;
  readonly scores: LegScores;
  readonly title: string;
  readonly itemType: string;
  readonly contentUrl: string | null;
  readonly mayCite: boolean;
  readonly headingPath: string;
  readonly text: string;
  readonly gapBefore: string;
  readonly tokenCount: number;
  readonly contentHash: string;
  readonly page: number | null;
  /** Lines of the file, from 1; null where they are not known. */
  readonly lineStart: number | null;
  readonly lineEnd: number | null;
  readonly charStart: number;
  readonly charEnd: number;
}

/** BM25's constants: how fast repetition stops counting, and how much a chunk's length counts. */
const k1 = 1.2;
const b = 0.75;

/** What a term that occurs `count` times in a chunk adds to its score: one summand of the ranking statement. */
export function termScore(weight: number, count: number, length: number, averageLength: number): number {
  return ((k1 + 1) * weight) / (1 + (k1 * (1 - b + (b * length) / Math.max(averageLength, 1))) / count);
}

/** BM25 over the passages of some sources, in two statements; the second one ranks and filters. */
export class ChunkRanking extends Store {
  /** The sizes of the sources, and the lexemes that a question has in each of their languages. */
  async findTerms(dataSourceIds: readonly string[], question: string): Promise<QuestionTerms> {
    const rows = await this.db.query<TermRow>(findTermsSql, [dataSourceIds, question]);
    const collections = new Map(rows.map((row) => [`${row.data_source_id} ${row.config}`, row]));
    const chunks = new Map<string, number>();
    let sumLength = 0;
    for (const row of collections.values()) {
      chunks.set(row.config, (chunks.get(row.config) ?? 0) + row.chunks);
      sumLength += row.sum_length;
    }
    return {
      chunks,
      sumLength,
      collections: [...collections.values()].map((row) => ({
        dataSourceId: row.data_source_id,
        config: row.config,
        chunks: row.chunks,
      })),
      terms: rows.flatMap((row) => (row.term === null ? [] : [toSourceTerm(row, row.term)])),
    };
  }

  /** Lexemes of the sources that begin with `prefix` and have a length within the bounds, with their key in each source. */
  async findSimilarTerms(
    dataSourceIds: readonly string[],
    config: string,
    prefix: string,
    { min, max }: Bounds,
  ): Promise<readonly SourceTerm[]> {
    const rows = await this.db.query<SimilarRow>(similarSql, [dataSourceIds, config, prefix, min, max]);
    return rows.map((row) => ({ ...row, dataSourceId: row.data_source_id, config, count: 1 }));
  }

  /**
   * Ranks the live passages of the sources: candidates by the words that they hold, then the exact score of each by all terms. The same statement
   * checks that a passage is of an allowed source and of its item's live generation.
   */
  async rank(plan: RankingPlan): Promise<readonly RankedChunk[]> {
    const rows = await this.#ranked<Omit<RankedChunk, 'scores'>>(plan, rankSql);
    return rows.map((row) => ({ ...row, scores: { lexical: row.score, vector: null, rerank: null } }));
  }

  /** As `rank`, without reading the passages. */
  score(plan: RankingPlan): Promise<readonly ScoredId[]> {
    return this.#ranked<ScoredId>(plan, scoreIdsSql);
  }

  /** Reads passages, in the order of `ids`. The same statement makes the checks of `rank` again: a passage that fails them is left out. */
  async read(
    { orgId, dataSourceIds, ...limits }: Pick<RankingPlan, 'orgId' | 'dataSourceIds' | 'itemIds' | 'filter' | 'gate'>,
    ids: readonly string[],
  ): Promise<readonly ChunkInPlace[]> {
    if (ids.length === 0) return [];
    const parameters = new Parameters();
    parameters.values.push(dataSourceIds, orgId, ids);
    const itemLimits = itemLimitsCondition(limits, parameters, { column: 'item_id', sources: '$1::text[]' });
    const rows = await this.db.query<ChunkInPlace>(readSql(itemLimits, limits.gate, parameters), parameters.values);
    const chunksById = new Map(rows.map((row) => [row.chunkId, row]));
    return ids.flatMap((id) => chunksById.get(id) ?? []);
  }

  async #ranked<Row>(plan: RankingPlan, write: (scored: string) => string): Promise<readonly Row[]> {
    if (plan.terms.length === 0) return [];
    const parameters = new Parameters();
    const scoresSql = scoredSql(plan, parameters);
    return this.db.query<Row>(write(scoresSql), parameters.values);
  }
}

/** The key of a term that no source has. */
const absentKey = -1;

interface TermRow {
  readonly data_source_id: string;
  readonly config: string;
  readonly chunks: number;
  readonly sum_length: number;
  readonly term: string | null;
  readonly count: number;
  readonly key: number;
  readonly df: number;
}
interface SimilarRow {
  readonly data_source_id: string;
  readonly term: string;
  readonly key: number;
  readonly df: number;
}

function toSourceTerm({ data_source_id, config, key, count, df }: TermRow, term: string): SourceTerm {
  return { dataSourceId: data_source_id, config, term, key, count, df };
}

function arrayText(values: readonly number[]): string {
  return `{${values.join(',')}}`;
}

const findTermsSql = `
WITH sources AS MATERIALIZED (
  SELECT data_source_id, config, chunks::float8 AS chunks, sum_length::float8 AS sum_length
  FROM lexeme_statistics WHERE data_source_id = ANY($1::text[])
), question AS MATERIALIZED (
  SELECT configs.config, word.lexeme AS term, cardinality(word.positions) AS count
  FROM (SELECT DISTINCT config FROM sources) AS configs
  CROSS JOIN LATERAL unnest(to_tsvector(configs.config::regconfig, $2)) AS word
)
SELECT sources.*, question.term, question.count, coalesce(known.key, ${absentKey}) AS key, coalesce(known.df, 0) AS df
FROM sources
LEFT JOIN question USING (config)
LEFT JOIN LATERAL (${lexemeRow('sources.data_source_id', 'sources.config', 'question.term')}) AS known ON true`;

const similarSql = `
SELECT data_source_id, term, key, df FROM lexeme_frequencies
WHERE data_source_id = ANY($1::text[]) AND term >= $3 AND term < $3 || chr(1114111) AND config = $2
  AND length(term) BETWEEN $4 AND $5 AND df > 0
LIMIT 20000`;

/** A statement scores one of these numbers of terms, so that few different texts exist: a term that no source has adds nothing. */
const termCounts = [4, 8, 12, 16, 24, 32, 48];

/**
 * BM25 of a chunk as one expression, with one summand for each term, so that no subplan runs for each chunk. `width_bucket` is a binary search:
 * the keys of a chunk are sorted. The divisor of a term's weight is 1 + norm / count; norm is k1 at an average length.
 */
function scoreSql(terms: number): string {
  const place = (n: number) => `width_bucket(keys[${n}], term_keys)`;
  const summand = (n: number) =>
    `CASE WHEN term_keys[${place(n)}] = keys[${n}] THEN weights[${n}] / (1 + norm / term_counts[${place(n)}]) ELSE 0 END`;
  return Array.from({ length: terms }, (_, index) => summand(index + 1)).join(' + ');
}

/**
 * `WITH` members that end with `scored`: the best passages. `OFFSET 0` keeps the planner from reordering: without statistics, which nothing gathers
 * by itself on the embedded database, it would read every chunk of every item. Items are read in the order of the scores, until enough chunks are live.
 */
function scoredSql(plan: RankingPlan, parameters: Parameters): string {
  const { orgId, dataSourceIds, terms, averageLength, limit } = plan;
  const summands = termCounts.find((count) => count >= terms.length) ?? terms.length;
  const numbers = Array.from({ length: summands }, (_, index) => index);
  const sources = parameters.add(dataSourceIds);
  const candidates = candidatesSql(plan.candidates, plan, parameters, sources);
  const keys = parameters.add(dataSourceIds.map((id) => arrayText(numbers.map((n) => terms[n]?.keys.get(id) ?? absentKey))));
  const weights = parameters.add(numbers.map((n) => terms[n]?.weight ?? 0));
  const average = parameters.add(Math.max(averageLength, 1));
  return `
WITH ${candidates}, sources AS MATERIALIZED (
  SELECT source.id AS source_id, source.cite AS source_cites, allowed.keys::int[] AS keys, ${weights}::float8[] AS weights
  FROM unnest(${sources}::text[], ${keys}::text[]) AS allowed(id, keys)
  JOIN data_sources AS source ON source.id = allowed.id AND source."orgId" = ${parameters.add(orgId)} AND source."deletingAt" IS NULL${searchedSourcesCondition(plan.gate, parameters, 'source')}
), found AS (
  SELECT candidates.*, sources.*, ${k1}::float8 * (${1 - b}::float8 + ${b}::float8 * candidates.length::float8 / ${average}::float8) AS norm
  FROM candidates JOIN sources ON source_id = candidates.data_source_id
  OFFSET 0
), ordered AS (
  SELECT DISTINCT id, item_id, data_source_id, generation, ordinal, source_cites, ${k1 + 1}::float8 * (${scoreSql(summands)}) AS score
  FROM found
  ORDER BY score DESC, id
  OFFSET 0
), scored AS MATERIALIZED (
  SELECT ordered.*, item.*, cite AND source_cites AS may_cite
  FROM ordered
  CROSS JOIN LATERAL (
    SELECT coalesce(metadata->>'title', name) AS title, type, "contentUrl", cite FROM knowledge_items AS live
    WHERE live.id = ordered.item_id AND "liveGeneration" = ordered.generation${openItemCondition(plan.gate, parameters)}
    OFFSET 0
  ) AS item
  ORDER BY score DESC, ordered.id
  LIMIT ${parameters.add(limit)}
)`;
}

const placeSql = `scored.id::text AS "chunkId", scored.item_id AS "itemId", scored.data_source_id AS "dataSourceId", scored.ordinal,
  scored.title, scored.type AS "itemType", scored."contentUrl", scored.may_cite AS "mayCite",
  words.heading_path AS "headingPath", words.text, words.gap_before AS "gapBefore", words.token_count AS "tokenCount",
  words.content_hash AS "contentHash", words.page, words.char_start AS "charStart", words.char_end AS "charEnd",
  words.line_start AS "lineStart", words.line_end AS "lineEnd"`;

const rankSql = (scoresSql: string) => `${scoresSql}
SELECT ${placeSql}, scored.score
FROM scored
CROSS JOIN LATERAL (SELECT * FROM chunk_texts WHERE chunk_id = scored.id OFFSET 0) AS words
ORDER BY scored.score DESC, scored.id`;

const scoreIdsSql = (scoresSql: string) => `${scoresSql}
SELECT id::text AS id, score FROM scored ORDER BY score DESC, scored.id`;

/** The item decides what a person may open, whatever stands at its passages. */
function openItemCondition(gate: AccessGate | undefined, parameters: Parameters): string {
  return openRuleCondition(gate, parameters, { source: 'live."dataSourceId"', rule: 'live."accessRuleId"' });
}

const readSql = (itemLimits: string, gate: AccessGate | undefined, parameters: Parameters) => `
WITH sources AS MATERIALIZED (
  SELECT id, cite FROM data_sources AS source
  WHERE id = ANY($1::text[]) AND "orgId" = $2 AND "deletingAt" IS NULL${searchedSourcesCondition(gate, parameters, 'source')}
), scored AS MATERIALIZED (
  SELECT chunk.id, chunk.item_id, chunk.data_source_id, chunk.ordinal, item.title, item.type, item."contentUrl", item.cite AND sources.cite AS may_cite
  FROM unnest($3::bigint[]) AS wanted(id)
  CROSS JOIN LATERAL (SELECT * FROM chunks WHERE chunks.id = wanted.id${itemLimits} OFFSET 0) AS chunk
  CROSS JOIN LATERAL (
    SELECT coalesce(metadata->>'title', name) AS title, type, "contentUrl", cite FROM knowledge_items AS live
    WHERE live.id = chunk.item_id AND "liveGeneration" = chunk.generation${openItemCondition(gate, parameters)}
    OFFSET 0
  ) AS item
  JOIN sources ON sources.id = chunk.data_source_id
)
SELECT ${placeSql}
FROM scored
CROSS JOIN LATERAL (SELECT * FROM chunk_texts WHERE chunk_id = scored.id OFFSET 0) AS words`;
