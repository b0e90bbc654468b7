// Raw SQL: indexes of expressions, which Prisma has not.
import { type Filter, isAll, isAny } from '../../entities/ground/filter.ts';
import type { AgentFilter, AgentLeaf } from '../../entities/people/access.ts';
import type { Prisma } from '../generated/client.ts';
import type { Database } from '../ground/database.ts';
import { Parameters } from '../ground/sql/where.ts';
import { agentCondition } from './conditions.ts';
import { agentWhere } from './filter.ts';

/** Agents that are looked up one by one. */
const fewMax = 600;
/** A shorter text has no trigram. */
const trigramChars = 3;

/** A rule as Prisma's `where`, which names the agents where `fewAgents` does. */
export async function fewAgentsWhere(db: Database, filter: AgentFilter): Promise<Prisma.AgentWhereInput> {
  const ids = await fewAgents(db, filter);
  const where = agentWhere(filter);
  return ids === undefined ? where : { AND: [{ id: { in: [...ids] } }, where] };
}

/**
 * The agents of the installation with the category and the words of a rule, where they are few: a list that looked for them in its own order would read all of its
 * agents. Undefined where they are many, and for a rule without such a condition. Access is not decided here.
 *
 * Cost: one statement for a rule with a category or with words of three characters, else none.
 */
export async function fewAgents(db: Database, filter: AgentFilter): Promise<readonly string[] | undefined> {
  const parameters = new Parameters();
  const conditions = listLeaves(filter).flatMap((leaf) => toConditions(leaf, parameters));
  const indexed = conditions.map((condition) => condition.indexed).join(' and ');
  if (indexed === '') return undefined;
  const checks = conditions.flatMap(({ check }) => check ?? []);
  const rows = await db.queryPlanned<{ readonly id: string }>(
    `select id from (select id, name, description from agents where ${indexed} offset 0) as agent
     where ${['true', ...checks].join(' and ')} limit ${fewMax + 1}`,
    parameters.values,
  );
  return rows.length > fewMax ? undefined : rows.map(({ id }) => id);
}

/** The conditions that must all hold. */
export function listLeaves(filter: Filter<AgentLeaf>): readonly AgentLeaf[] {
  if (isAll(filter)) return filter.all.flatMap(listLeaves);
  return isAny(filter) ? [] : [filter];
}

interface IndexedCondition {
  /** By an index; it may hold for more agents than the condition. */
  readonly indexed: string;
  /** What is left to check. */
  readonly check?: string;
}

function toConditions(leaf: AgentLeaf, parameters: Parameters): readonly IndexedCondition[] {
  if (leaf.agent === 'in-category') {
    const categories = '("orgCategoryIds" || "publicCategories" || "categoryId")';
    return [{ indexed: `${categories} @> array[${parameters.add(leaf.categoryId)}::text]` }];
  }
  if ((leaf.agent !== 'mentions' && leaf.agent !== 'named') || [...leaf.text].length < trigramChars) return [];
  const text = parameters.add(leaf.text);
  return [
    {
      indexed: `parley_trigrams("name" || E'\\n' || "description") @> parley_trigrams(${text}::text)`,
      check: agentCondition(leaf, parameters),
    },
  ];
}
