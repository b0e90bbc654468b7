// Raw SQL: Prisma cannot end a list at a number of bytes.
import type { Database } from '../database.ts';

/** A statement that ends with its ORDER BY. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The first rows of a statement that fit a number of bytes. */
export interface BoundedRows<Row> {
  /** At least one, unless the statement found none. */
  readonly rows: readonly Row[];
  /** How many rows the statement found: more than `rows` when some did not fit. */
  readonly foundCount: number;
}

/**
 * Reads a page of a list. Rows beyond LIST_PAGE_MAX_BYTES stay in the database: the page is shorter, and its cursor continues after it.
 *
 * @param longColumns  columns of the statement whose values may be long; the others count as short.
 *
 * Cost: one statement; it reads the sizes of the long values, without the values themselves.
 */
export function readPage<Row>(db: Database, statement: Statement, longColumns: readonly string[]): Promise<BoundedRows<Row>> {
  return readBounded(db, statement, longColumns, db.pageMaxBytes);
}

async function readBounded<Row>(
  db: Database,
  { text, values }: Statement,
  longColumns: readonly string[],
  maxBytes: number,
): Promise<BoundedRows<Row>> {
  if (longColumns.length === 0) {
    const rows = await db.query<Row>(text, values);
    return { rows, foundCount: rows.length };
  }
  const bounded = `select * from (
      select l.*, row_number() over () as "listPlace", (count(*) over ())::int as "listCount",
        sum(l."listBytes") over (rows unbounded preceding) - l."listBytes" as "listBytesBefore"
      from (select t.*, ${longColumns.map(bytesOf).join(' + ')} as "listBytes" from (${text}) t) l
    ) b where b."listBytesBefore" < $${values.length + 1} order by b."listPlace"`;
  const rows = await db.query<Row & Counted>(bounded, [...values, maxBytes]);
  return { rows, foundCount: rows[0]?.listCount ?? 0 };
}

interface Counted {
  readonly listCount: number;
}

/** PostgreSQL compresses a repetitive text to a ninetieth: a value that takes more than this in the table may be long. */
const packedMaxBytes = 100;

/** The bytes of a value as text. A stored text knows its size without being read; JSON that may be long is converted once to measure it. */
function bytesOf(column: string): string {
  const value = `t."${column}"`;
  const size = `pg_column_size(${value})`;
  return `coalesce(case when ${size} > ${packedMaxBytes} then octet_length(${value}::text) else ${size} end, 0)`;
}
