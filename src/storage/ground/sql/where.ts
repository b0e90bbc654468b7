// Raw SQL: ranking and vectors. Their statements have conditions that depend on the question.
import type { Sql } from '../database.ts';

/** The parameters of a statement under construction: `add` returns the placeholder. A caller's value never becomes part of the text. */
export class Parameters {
  readonly values: unknown[];

  /** @param values  of a part of the statement that is written already. */
  constructor(values: readonly unknown[] = []) {
    this.values = [...values];
  }

  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  /** The same for an array or object that a statement names at several places: it is sent once. */
  share(value: object): string {
    const place = this.values.indexOf(value);
    return place === -1 ? this.add(value) : `$${place + 1}`;
  }
}

/** Reads with a prepared statement whose text `write` returns. */
export function selectRows<Row>(sql: Sql, write: (parameters: Parameters) => string): Promise<readonly Row[]> {
  const given = new Parameters();
  return sql.query<Row>(write(given), given.values);
}
