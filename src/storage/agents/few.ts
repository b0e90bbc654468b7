// Raw SQL: indexes of expressions, which Prisma has not.
import { type Filter, isAll, isAny } from '../../entities/ground/filter.ts';
import type { AgentFilter, AgentLeaf } from '../../entities/people/access.ts';
import type { Prisma } from '../generated/client.ts';
import type { Database } from '../ground/database.ts';
import { literal } from '../ground/lists/where.ts';
import { Parameters } from '../ground/sql/where.ts';
import { agentWhere } from './filter.ts';

/** Agents that are looked up one by one. */
const fewMax = 600;
/** A shorter text has no trigram. */
const trigramChars = 3;

/**
 * A rule as Prisma's `where`. Where few agents of the installation have its category and contain its words, it names them: a list that looked for them in its own order
 * would read all of its agents. Access is not decided here.
 *
 * Cost: one statement for a rule with a category or with words of three characters, else none.
 */
export async function fewAgentsWhere(db: Database, filter: AgentFilter): Promise<Prisma.AgentWhereInput> {
  const where = agentWhere(filter);
  const parameters = new Parameters();
  const conditions = listLeaves(filter).flatMap((leaf) => toConditions(leaf, parameters));
  const indexed = conditions.map((condition) => condition.indexed).join(' and ');
  if (indexed === '') return where;
  const checks = conditions.flatMap(({ check }) => check ?? []);
  const rows = await db.queryPlanned<{ readonly id: string }>(
    `select id from (select id, name, description from agents where ${indexed} offset 0) as agent
     where ${['true', ...checks].join(' and ')} limit ${fewMax + 1}`,
    parameters.values,
  );
  return rows.length > fewMax ? where : { AND: [{ id: { in: rows.map(({ id }) => id) } }, where] };
}

/** The conditions that must all hold. */
function listLeaves(filter: Filter<AgentLeaf>): readonly AgentLeaf[] {
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
  if (leaf.agent !== 'mentions' || [...leaf.text].length < trigramChars) return [];
  const text = parameters.add(leaf.text);
  const pattern = parameters.add(`%${literal(leaf.text)}%`);
  return [
    {
      indexed: `parley_trigrams("name" || E'\\n' || "description") @> parley_trigrams(${text}::text)`,
      check: `(name ilike ${pattern} or description ilike ${pattern})`,
    },
  ];
}
