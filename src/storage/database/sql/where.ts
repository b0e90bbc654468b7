// Raw SQL: parts of statements with a caller's rule.
import { type Filter, isAll, isAny } from '../../../entities/filter.ts';
import type { Sql } from '../database.ts';

/** The parameters of a statement under construction: `add` returns the placeholder. A caller's value never becomes part of the text. */
export class Parameters {
  readonly values: unknown[] = [];

  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

/** Reads with a prepared statement whose text `write` returns. */
export function selectRows<Row>(sql: Sql, write: (given: Parameters) => string): Promise<readonly Row[]> {
  const given = new Parameters();
  return sql.query<Row>(write(given), given.values);
}

/** Counts the rows that match a condition; `write` returns what follows `select count(*)`. */
export async function countRows(sql: Sql, write: (given: Parameters) => string): Promise<number> {
  const [counted] = await selectRows<{ count: number }>(sql, (given) => `select count(*)::int as count ${write(given)}`);
  return counted?.count ?? 0;
}

/** A rule as a condition in SQL; `leafSql` writes one leaf. */
export function conditionOf<Leaf>(filter: Filter<Leaf>, leafSql: (leaf: Leaf) => string): string {
  if (isAll(filter)) return joined(filter.all, 'and', 'true', leafSql);
  if (isAny(filter)) return joined(filter.any, 'or', 'false', leafSql);
  return leafSql(filter);
}

function joined<Leaf>(parts: readonly Filter<Leaf>[], word: string, empty: string, leafSql: (leaf: Leaf) => string): string {
  return parts.length === 0 ? empty : `(${parts.map((part) => conditionOf(part, leafSql)).join(` ${word} `)})`;
}

/** A pattern for ILIKE that finds the text anywhere; wildcards in the text are escaped. */
export function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
}
