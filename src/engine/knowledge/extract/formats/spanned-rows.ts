/** A cell of a table, which may reach over several rows and columns. */
export interface SpannedCell {
  readonly text: string;
  /** As the document gives them: anything but a whole number above 1 counts as 1, and `"0"` rows as all that follow. */
  readonly rows: unknown;
  readonly columns: unknown;
  /** Whether it names its columns or its row. */
  readonly isHead: boolean;
}

/** Cells beyond this column span nothing: a small document must not become a large table. */
const columnsMax = 100;
const spanMax = 1_000;
/** Longer text stands in the first row only: repeated, it would make a small table large. */
const repeatedMaxChars = 200;

/**
 * The rows of a table with every value in its own column. A cell that spans rows is repeated in each of them, so that a row says all that belongs to it.
 * One that spans columns fills the first; a head of several columns names each of them. Rows at the top with nothing but heads become one head.
 */
export function spannedRows(table: readonly (readonly SpannedCell[])[]): string[][] {
  const rows: { readonly cells: string[]; readonly isHead: boolean }[] = [];
  /** Cells of earlier rows that reach down, by column. */
  const reaching = new Map<number, { readonly text: string; rows: number }>();
  for (const row of table) {
    const isTop = rows.length === 0 || rows.every(({ isHead }) => isHead);
    const isHead = isTop && row.length > 0 && row.every((cell) => cell.isHead);
    const cells: string[] = [];
    const fillReaching = () => {
      for (let above = reaching.get(cells.length); above !== undefined; above = reaching.get(cells.length)) {
        above.rows -= 1;
        if (above.rows === 0) reaching.delete(cells.length);
        cells.push(above.text);
      }
    };
    for (const cell of row) {
      fillReaching();
      const isSpanning = cells.length < columnsMax;
      const rowsBelow = isSpanning ? (cell.rows === '0' ? spanMax : readSpan(cell.rows, spanMax)) - 1 : 0;
      const columns = isSpanning ? Math.min(readSpan(cell.columns, columnsMax), columnsMax - cells.length) : 1;
      // The first row is the head of a table that marks none.
      const isRepeated = isHead || rows.length === 0;
      for (let column = 0; column < columns; column += 1) {
        const text = column === 0 || isRepeated ? cell.text : '';
        if (rowsBelow > 0) reaching.set(cells.length, { text: text.length > repeatedMaxChars ? '' : text, rows: rowsBelow });
        cells.push(text);
      }
    }
    fillReaching();
    if (cells.some((text) => text !== '')) rows.push({ cells, isHead });
  }
  const all = rows.map(({ cells }) => cells);
  const headCount = rows.filter(({ isHead }) => isHead).length;
  // A table of nothing but heads is a table of values.
  return headCount < 2 || headCount === rows.length ? all : [oneHead(all.slice(0, headCount)), ...all.slice(headCount)];
}

/** `2026` above `Q1` is `2026 Q1`; a head that spans rows is said once. */
function oneHead(heads: readonly (readonly string[])[]): string[] {
  const width = heads.reduce((widest, head) => Math.max(widest, head.length), 0);
  return Array.from({ length: width }, (_, column) => {
    const names = heads.map((head) => head[column] ?? '').filter((name) => name !== '');
    return [...new Set(names)].join(' ');
  });
}

function readSpan(value: unknown, max: number): number {
  const span = Number(value ?? 1);
  return Number.isInteger(span) && span > 1 ? Math.min(span, max) : 1;
}
