/** A line of a table, as RFC 4180 writes tables. */
export interface CsvRow {
  /** Where it begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** Reads a table: cells are separated by commas, and stand in quotation marks where they hold some. Blank lines are left out. @returns undefined when a mark is not closed. */
export function readCsv(text: string): readonly CsvRow[] | undefined {
  const rows: CsvRow[] = [];
  let cells: string[] = [];
  let line = 1;
  let firstLine = 1;
  let place = 0;
  while (place < text.length) {
    const isQuoted = text[place] === '"';
    const end = isQuoted ? closingQuote(text, place + 1) : cellEnd(text, place);
    if (end === undefined) return undefined;
    const raw = isQuoted ? text.slice(place + 1, end).replaceAll('""', '"') : text.slice(place, end);
    const rest = isQuoted ? cellEnd(text, end + 1) : end;
    cells.push(isQuoted ? raw + text.slice(end + 1, rest).trimEnd() : raw);
    line += text.slice(place, rest).split('\n').length - 1;
    if (text[rest] === ',') {
      place = rest + 1;
      if (place < text.length) continue;
      cells.push('');
    }
    if (cells.length > 1 || cells[0]?.trim() !== '') rows.push({ line: firstLine, cells });
    cells = [];
    place = text.startsWith('\r\n', rest) ? rest + 2 : rest + 1;
    line += 1;
    firstLine = line;
  }
  return rows;
}

/** One line of a table. Texts are written as they are, other values as JSON, and what is absent as an empty cell. */
export function writeCsvLine(values: readonly unknown[]): string {
  return values.map(writeCell).join(',');
}

function writeCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function cellEnd(text: string, from: number): number {
  for (let place = from; place < text.length; place += 1) {
    const sign = text[place];
    if (sign === ',' || sign === '\n' || (sign === '\r' && text[place + 1] === '\n')) return place;
  }
  return text.length;
}

function closingQuote(text: string, from: number): number | undefined {
  for (let place = text.indexOf('"', from); place !== -1; place = text.indexOf('"', place + 1)) {
    if (text[place + 1] !== '"') return place;
    place += 1;
  }
  return undefined;
}
