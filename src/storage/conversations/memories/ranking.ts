// Raw SQL: ranking. The database scores memories with the lexemes of its own text search.
import type { Memory } from '../../../entities/conversations/memory.ts';
import type { Database } from '../../ground/database.ts';
import { Parameters } from '../../ground/sql/where.ts';
import type { MemoryFilter } from './owner.ts';

export interface RankedMemory extends Memory {
  /** BM25; above 0. */
  readonly score: number;
}

/** BM25's constants, as for knowledge (knowledge/chunk-ranking.ts). */
const k1 = 1.2;
const b = 0.75;

/**
 * Ranks the memories of one user by BM25. A user has few and short memories, so their lexemes are counted at the time of the question: there is no
 * index to keep.
 *
 * @param question  as text search takes it.
 * @returns those that share a lexeme with the question, best first.
 *
 * Cost: one statement, about 15 ms for 500 memories of 200 characters.
 */
export async function rankMemories(
  db: Database,
  { orgId, userId, agentId }: Required<MemoryFilter>,
  question: string,
  limit: number,
): Promise<readonly RankedMemory[]> {
  const parameters = new Parameters();
  const [organization, user] = [parameters.add(orgId), parameters.add(userId)];
  const ofAgent = agentId === null ? 'and "agentId" is null' : `and "agentId" = ${parameters.add(agentId)}`;
  const [questionParameter, count] = [parameters.add(question), parameters.add(limit)];
  const text = `
with own as materialized (
  select id, config, to_tsvector(config::regconfig, "searchText") as words from memories
  where "orgId" = ${organization} and "userId" = ${user} ${ofAgent}
), counted as materialized (
  select own.id, own.config, word.lexeme, cardinality(word.positions)::float8 as tf
  from own cross join lateral unnest(own.words) as word
), lengths as materialized (
  select id, sum(tf) as length from counted group by id
), totals as (
  select (select count(*) from own)::float8 as documents, greatest(avg(length), 1)::float8 as average from lengths
), question as (
  select configs.config, word.lexeme
  from (select distinct config from own) as configs
  cross join lateral unnest(to_tsvector(configs.config::regconfig, ${questionParameter})) as word
), hits as (
  select counted.*, count(*) over (partition by counted.config, counted.lexeme)::float8 as df
  from counted join question using (config, lexeme)
), scored as (
  select hits.id, sum(
    ln(1 + (documents - df + 0.5) / (df + 0.5)) * tf * ${k1 + 1} / (tf + ${k1} * (${1 - b} + ${b} * length / average))
  )::float8 as score
  from hits join lengths using (id) cross join totals group by hits.id
)
select m.id, m."createdAt", m."updatedAt", m."orgId", m."userId", m."agentId", m.key, m.text, scored.score
from scored join memories m using (id) order by scored.score desc, m."updatedAt" desc, m.id limit ${count}`;
  const rows = await db.query<RankedMemory>(text, parameters.values);
  return rows;
}
