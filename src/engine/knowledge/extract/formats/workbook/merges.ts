import type { CellObject, Range } from '@e965/xlsx';
import type { SheetCell } from './sheet-writer.ts';

/** A hostile file may say that all its cells are merged. */
const coveredMax = 200_000;

/**
 * The cells that merged cells cover, by row: those below the first cell have its value in each row, those right of it only name columns.
 *
 * @param textOf  the text of a cell as it is shown.
 */
export function coveredCells(
  merges: readonly Range[],
  rows: readonly (readonly (CellObject | undefined)[])[],
  textOf: (cell: CellObject) => string,
): ReadonlyMap<number, readonly SheetCell[]> {
  const coveredByRow = new Map<number, SheetCell[]>();
  let count = 0;
  for (const { s: start, e: end } of merges) {
    const first = rows[start.r]?.[start.c];
    const text = first === undefined ? '' : textOf(first);
    if (first === undefined || text === '') continue;
    const lastRow = Math.min(end.r, rows.length - 1);
    for (let row = start.r; row <= lastRow; row += 1) {
      for (let column = start.c; column <= end.c; column += 1) {
        if (row === start.r && column === start.c) continue;
        count += 1;
        if (count > coveredMax) return coveredByRow;
        const cells = coveredByRow.get(row) ?? [];
        coveredByRow.set(row, cells);
        cells.push({ column, text, isText: first.t === 's', cover: column === start.c ? 'below' : 'right' });
      }
    }
  }
  return coveredByRow;
}
