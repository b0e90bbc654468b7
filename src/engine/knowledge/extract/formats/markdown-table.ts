import { oneLine } from '../../../../lib/text/text.ts';
import type { DocumentWriter } from '../document-writer.ts';

/** A table in Markdown; the first row is its head. Rows may be of different lengths; white space in a cell becomes one space. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
  // Only the head is filled up: one wide row must not make a long table large.
  const cell = (text: string) => oneLine(text).replaceAll('|', '\\|');
  const line = (row: readonly string[]) => `| ${row.map(cell).join(' | ')} |`;
  const [head = [], ...body] = rows;
  const headCells = Array.from({ length: width }, (_, index) => head[index] ?? '');
  return [line(headCells), line(headCells.map(() => '---')), ...body.map(line)].join('\n');
}

/** Writes a table of a document. A table with a single row or column is a frame around text: its cells become paragraphs. */
export function writeTable(writer: DocumentWriter, rows: readonly (readonly string[])[], page: number | null = null): void {
  const filledRows = rows.filter((row) => row.some((cell) => cell.trim() !== ''));
  const isFrame = filledRows.length < 2 || filledRows.every((row) => row.filter((cell) => cell.trim() !== '').length < 2);
  if (!isFrame) writer.block('table', markdownTable(filledRows), page);
  else for (const cell of filledRows.flat()) writer.block('paragraph', cell, page);
}
