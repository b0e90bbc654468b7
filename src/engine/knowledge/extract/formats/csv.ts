import { CsvError, parse } from 'csv-parse/sync';
import type { DocumentWriter } from '../document-writer.ts';
import { ExtractError } from '../error.ts';

/** Rows that make one block; passages are cut between rows in any case. */
const rowsPerBlock = 50;
const delimiters = [',', ';', '\t', '|'];

/**
 * One line a row, each cell named by its column (`- part: chains; usual stock: 60`), so that a row is understood wherever a passage
 * begins. The first row names the columns.
 */
export function readCsv(text: string, writer: DocumentWriter): void {
  const rows = parseRows(text);
  const columns = (rows.shift() ?? []).map((name, index) => inLine(name) || `column ${index + 1}`);
  const lines: string[] = [];
  const flush = () => {
    writer.block('table', lines.join('\n'));
    lines.length = 0;
  };
  for (const row of rows) {
    const cells = row.flatMap((cell, index) => {
      const value = inLine(cell);
      return value === '' ? [] : [`${columns[index] ?? `column ${index + 1}`}: ${value}`];
    });
    if (cells.length > 0) lines.push(`- ${cells.join('; ')}`);
    if (lines.length >= rowsPerBlock) flush();
  }
  flush();
  // A table of nothing but its head still says what it would hold.
  if (writer.length === 0) writer.block('table', columns.join('; '));
}

function parseRows(text: string): string[][] {
  const options = {
    delimiter: delimiterOf(text),
    bom: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
  };
  try {
    return parse(text, options);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // Quotes that never close: taken as they are, a line is a row.
    try {
      return parse(text, { ...options, quote: null });
    } catch {
      throw new ExtractError('CORRUPT', `The table cannot be read: ${error.message}.`);
    }
  }
}

/** The delimiter that stands most often in the first lines, outside quotes. */
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

function inLine(cell: string): string {
  return cell.replace(/\s+/g, ' ').trim();
}
