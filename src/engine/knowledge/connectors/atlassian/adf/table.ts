import { oneLine } from '../../../../../lib/text.ts';
import type { AdfNode } from './node.ts';

const columnsMax = 100;
const spanMax = 1_000;
/** Longer text stands in the first row only: repeated, it would make a small table large. */
const repeatedMaxChars = 200;

/**
 * A table with its first row as the head. A cell that spans rows is repeated in each of them, so that a row says all that belongs to it; one that spans
 * columns fills the first.
 */
export function tableMarkdown(table: AdfNode, cellText: (cell: AdfNode) => string): string {
  const rows: string[][] = [];
  /** Cells of earlier rows that reach down, by column. */
  const reaching = new Map<number, { readonly text: string; rows: number }>();
  for (const row of table.content) {
    const cells: string[] = [];
    const fillReaching = () => {
      for (let above = reaching.get(cells.length); above !== undefined; above = reaching.get(cells.length)) {
        above.rows -= 1;
        if (above.rows === 0) reaching.delete(cells.length);
        cells.push(above.text);
      }
    };
    for (const cell of row.content) {
      fillReaching();
      if (cells.length >= columnsMax) break;
      const text = oneLine(cellText(cell)).replaceAll('|', '\\|');
      const rowsBelow = spanOf(cell.attrs.rowspan, spanMax) - 1;
      const columns = Math.min(spanOf(cell.attrs.colspan, columnsMax), columnsMax - cells.length);
      for (let column = 0; column < columns; column += 1) {
        const shown = column === 0 ? text : '';
        if (rowsBelow > 0) reaching.set(cells.length, { text: shown.length > repeatedMaxChars ? '' : shown, rows: rowsBelow });
        cells.push(shown);
      }
    }
    fillReaching();
    if (cells.some((text) => text !== '')) rows.push(cells);
  }
  const [head, ...body] = rows;
  if (head === undefined) return '';
  const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
  const line = (cells: readonly string[]) => `| ${Array.from({ length: width }, (_, index) => cells[index] ?? '').join(' | ')} |`;
  return [line(head), line(Array.from({ length: width }, () => '---')), ...body.map(line)].join('\n');
}

function spanOf(value: unknown, max: number): number {
  const span = Number(value ?? 1);
  return Number.isInteger(span) && span > 1 ? Math.min(span, max) : 1;
}
