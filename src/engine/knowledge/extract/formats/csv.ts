import { CsvError, parse } from 'csv-parse/sync';
import { oneLine } from '../../../../lib/text.ts';
import type { DocumentWriter } from '../document-writer.ts';

/** Rows of one block; passages may be cut between any two rows. */
const rowsPerBlock = 50;
const delimiters = [',', ';', '\t', '|'];

/**
 * One line for each row, each cell with its column's name (`- part: chains; usual stock: 60`), so that a row is understood wherever
 * a passage begins. The first row names the columns.
 */
export function readCsv(text: string, writer: DocumentWriter): void {
  const { columns, lines } = readRows(text);
  for (let start = 0; start < lines.length; start += rowsPerBlock) {
    writer.block('table', lines.slice(start, start + rowsPerBlock).join('\n'));
  }
  // A table with only its head row still tells what it is about.
  if (writer.length === 0) writer.block('table', columns.join('; '));
}

interface Rows {
  readonly columns: readonly string[];
  readonly lines: readonly string[];
}

/** Writes rows while they are parsed: a million rows as arrays would take ten times the memory. */
function readRows(text: string): Rows {
  const delimiter = delimiterOf(text);
  try {
    return parseRows(text, delimiter, '"');
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // A quote that is never closed: quotes are plain text, and each line is a row.
    return parseRows(text, delimiter, null);
  }
}

function parseRows(text: string, delimiter: string, quote: string | null): Rows {
  let columns: string[] | undefined;
  const lines: string[] = [];
  parse(text, {
    delimiter,
    quote,
    bom: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    on_record(row: string[]) {
      if (columns === undefined) columns = row.map((name, index) => oneLine(name) || columnName(index));
      else {
        const line = rowLine(row, columns);
        if (line !== '') lines.push(line);
      }
      return null;
    },
  });
  return { columns: columns ?? [], lines };
}

function rowLine(row: readonly string[], columns: readonly string[]): string {
  const cells: string[] = [];
  for (const [index, cell] of row.entries()) {
    const value = oneLine(cell);
    if (value !== '') cells.push(`${columns[index] ?? columnName(index)}: ${value}`);
  }
  return cells.length === 0 ? '' : `- ${cells.join('; ')}`;
}

function columnName(index: number): string {
  return `column ${index + 1}`;
}

/** The most frequent delimiter in the first lines, outside quotes. */
function delimiterOf(text: string): string {
  const top = text
    .slice(0, 8192)
    .split(/\r?\n/)
    .slice(0, 10)
    .join('\n')
    .replace(/"[^"]*"/g, '');
  const counts = delimiters.map((delimiter) => top.split(delimiter).length);
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ',';
}
