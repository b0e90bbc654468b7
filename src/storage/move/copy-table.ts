// Raw SQL: COPY, and tables that are named at run time.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Pool, PoolClient } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { RowSum, rowText, splitLines } from './row-text.ts';
import type { MovedTable, TablePart } from './tables.ts';

/** Read at once from the source. */
const pageBytes = 4 * 1024 * 1024;
const blocksMax = 2_048;
/** Both sides write values alike, and a long copy has no time limit. */
const session = `SET LOCAL TIME ZONE 'UTC'; SET LOCAL datestyle = 'ISO'; SET LOCAL intervalstyle = 'postgres'; SET LOCAL bytea_output = 'hex';
  SET LOCAL extra_float_digits = 1; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0`;
/** Every value stays the text that PostgreSQL sent. */
const asText = { getTypeParser: () => (value: string) => value };

export interface CopiedTable {
  readonly rows: number;
  readonly digest: string;
}

/**
 * Copies one table in one transaction of the target, so that a move that is killed leaves the table whole or empty. Nobody may write to the source
 * meanwhile.
 *
 * @param note  called within the transaction.
 * @param onProgress  gets the part that is done, 0 to 1.
 */
export async function copyTable(
  source: Pool,
  target: Pool,
  table: MovedTable,
  note: (client: PoolClient, copiedTable: CopiedTable) => Promise<void>,
  onProgress: (doneRows: number) => void,
): Promise<CopiedTable> {
  const { name, columns } = table;
  return inTransaction(target, async (client) => {
    // Triggers would announce and count what the source has announced and counted. The owner of a table may do this; foreign keys are checked on.
    await client.query(`ALTER TABLE ${name} DISABLE TRIGGER USER; DELETE FROM ${name}`);
    const sum = new RowSum();
    await pipeline(
      Readable.from(pages(source, table, sum, onProgress), { highWaterMark: 1 }),
      client.query(copyFrom(`COPY ${name} (${columns.join(', ')}) FROM STDIN`)),
    );
    await client.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`);
    const copiedSum = { rows: sum.rows, digest: sum.digest };
    await note(client, copiedSum);
    return copiedSum;
  });
}

/** Reads a table of the target back. */
export async function readBack(target: Pool, { name, columns }: MovedTable): Promise<CopiedTable> {
  return inTransaction(target, async (client) => {
    const sum = new RowSum();
    const stream = client.query(copyTo(`COPY (SELECT ${columns.join(', ')} FROM ${name}) TO STDOUT`));
    for await (const line of splitLines(stream)) sum.add(line);
    return { rows: sum.rows, digest: sum.digest };
  });
}

/** The rows in the order of their places in the table: a range of blocks is one short statement, whatever keys the table has. */
async function* pages(
  source: Pool,
  { columns, parts }: MovedTable,
  sum: RowSum,
  onProgress: (doneRows: number) => void,
): AsyncIterable<Buffer> {
  const total = parts.reduce((blocks, part) => blocks + part.blocks, 0);
  let doneCount = 0;
  for (const part of parts) {
    const step = blocksAtOnce(part);
    for (let block = 0; block < part.blocks; block += step) {
      const { rows } = await inTransaction(source, (client) =>
        client.query<(string | null)[]>({
          text: `SELECT ${columns.join(', ')} FROM ONLY ${part.name} WHERE ctid >= '(${block},0)' AND ctid < '(${block + step},0)'`,
          rowMode: 'array',
          types: asText,
        }),
      );
      const lines = rows.map(rowText);
      for (const line of lines) sum.add(line);
      if (lines.length > 0) yield Buffer.from(lines.join(''));
      doneCount += Math.min(step, part.blocks - block);
      onProgress(doneCount / total);
    }
  }
}

function blocksAtOnce({ blocks, sizeBytes }: TablePart): number {
  if (sizeBytes === 0) return blocksMax;
  return Math.min(blocksMax, Math.max(1, Math.floor((pageBytes * blocks) / sizeBytes)));
}

async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let isDone = false;
  try {
    await client.query(`BEGIN; ${session}`);
    const result = await work(client);
    await client.query('COMMIT');
    isDone = true;
    return result;
  } finally {
    client.release(!isDone);
  }
}
