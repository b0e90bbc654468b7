import { CsvError, type Options, parse } from 'csv-parse/sync';
import { oneLine } from '../../../../lib/text/text.ts';
import type { DocumentWriter } from '../document-writer.ts';

/** Rows of one block; passages may be cut between any two rows. */
const rowsPerBlock = 50;
/** Signs that stand in sentences and numbers come last: of equals, the first one divides. */
const delimiters = ['\t', '|', ';', ','];
/** The beginning of a file that tells how it is written. */
const sampleChars = 16_384;
const sampleRows = 50;
/** Rows above the head, such as the title of a table. */
const rowsAboveMax = 20;
/** A first line by which a file names its delimiter to spreadsheet programs. */
const namedDelimiter = /^\ufeff?sep=([^\r\n])\r?\n/i;

type Row = readonly string[];

/**
 * One line for each row, each cell with its column's name (`- part: chains; usual stock: 60`), so that a row is understood wherever
 * a passage begins. The first row with most of its cells filled names the columns; what stands above it are paragraphs. Columns have numbers where that row
 * holds values as those below it.
 */
export function readCsv(text: string, writer: DocumentWriter): void {
  const delimiterMatch = namedDelimiter.exec(text);
  const body = delimiterMatch === null ? text : text.slice(delimiterMatch[0].length);
  const form = detectForm(body, delimiterMatch?.[1]);
  const { above, columns, lines } = withQuotes((quote) => readRows(body, form, quote));
  for (const row of above) writer.block('paragraph', filledIn(row).join('; '));
  for (let start = 0; start < lines.length; start += rowsPerBlock) {
    writer.block('table', lines.slice(start, start + rowsPerBlock).join('\n'));
  }
  // A table with only its head row still tells what it is about.
  if (lines.length === 0) writer.block('table', columns.join('; '));
}

/** How the rows of a file are written. */
interface Form {
  readonly delimiter: string;
  /** Cells of most rows. */
  readonly width: number;
  /** Rows of the sample with so many cells; below 0 for a sign that divides nothing. */
  readonly fitting: number;
  readonly hasHead: boolean;
}

/** The delimiter that gives most rows the same number of cells, and more than one; of several, the one that gives more cells. */
function detectForm(text: string, delimiterText: string | undefined): Form {
  const sample = text.slice(0, sampleChars);
  const end = sample.length < text.length ? sample.lastIndexOf('\n') : sample.length;
  const top = end > 0 ? sample.slice(0, end) : sample;
  const forms = (delimiterText === undefined ? delimiters : [delimiterText]).map((delimiter) => formWith(top, delimiter));
  return forms.reduce((best, form) => {
    return form.fitting > best.fitting || (form.fitting === best.fitting && form.width > best.width) ? form : best;
  });
}

function formWith(sample: string, delimiter: string): Form {
  const counts = new Map<number, number>();
  const rows = withQuotes((quote) => parsed(sample, { delimiter, quote, to: sampleRows }));
  // One column of sentences: below a head without commas, each comma has a space behind it.
  const isProse =
    delimiter === ',' && rows[0]?.length === 1 && rows.every((row) => row.slice(1).every((cell) => cell.startsWith(' ')));
  if (isProse) return { delimiter, width: 1, fitting: -1, hasHead: true };
  for (const { length } of rows) if (length > 1) counts.set(length, (counts.get(length) ?? 0) + 1);
  const [width = 1, fitting = 0] = [...counts].sort(([a, many], [b, more]) => more - many || b - a)[0] ?? [];
  return { delimiter, width, fitting, hasHead: hasHead(rows, width) };
}

/** What stands below a name and is none itself: a day, a number with decimals, an address. Years and whole numbers may be names. */
const valueKinds: readonly RegExp[] = [
  /^(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4})(?:$|[T ])/,
  /^[-+]?\d[\d.,]{0,20}[.,]\d{1,10} ?[%€$£]?$/,
  /^(?:https?:\/\/\S+|[^@\s]{1,64}@[^@\s]{1,255}\.\w{2,20})$/,
];

function hasHead(rows: readonly Row[], width: number): boolean {
  const first = rows.findIndex((row) => filledIn(row).length > width / 2);
  const below = rows.slice(first + 1);
  return !(rows[first] ?? []).some((cell, column) => {
    const kind = valueKinds.find((pattern) => pattern.test(cell.trim()));
    const values = below.map((row) => (row[column] ?? '').trim()).filter((value) => value !== '');
    return kind !== undefined && values.length > 0 && values.every((value) => kind.test(value));
  });
}

interface Rows {
  readonly above: readonly Row[];
  readonly columns: Row;
  readonly lines: readonly string[];
}

/** Writes rows while they are parsed: a million rows as arrays would take ten times the memory. */
function readRows(text: string, { delimiter, width, hasHead: isHeadFirst }: Form, quote: Quote): Rows {
  let above: Row[] = [];
  let columns: Row | undefined;
  const lines: string[] = [];
  const begin = (head: Row) => {
    if (!isHeadFirst) {
      columns = [];
      addLine(head);
    } else columns = head.map((name, index) => oneLine(name) || columnName(index));
  };
  /** Without a head among the first rows, the first one names the columns. */
  const beginAtFirst = () => {
    const [head = [], ...rows] = above;
    above = [];
    begin(head);
    for (const row of rows) addLine(row);
  };
  const addLine = (row: Row) => {
    const line = rowLine(row, columns ?? []);
    if (line !== '') lines.push(line);
  };
  parsed(text, {
    delimiter,
    quote,
    on_record(row: string[]) {
      const filledCount = filledIn(row).length;
      if (columns !== undefined) addLine(row);
      else if (filledCount > width / 2) begin(row);
      else if (filledCount > 0) above.push(row);
      if (above.length >= rowsAboveMax && columns === undefined) beginAtFirst();
      return null;
    },
  });
  if (columns === undefined) beginAtFirst();
  return { above, columns: columns ?? [], lines };
}

type Quote = '"' | null;

/** A quote that is never closed is plain text, and each line is a row. */
function withQuotes<T>(read: (quote: Quote) => T): T {
  try {
    return read('"');
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return read(null);
  }
}

function parsed(text: string, options: Options): readonly Row[] {
  const all = { ...options, bom: true, relax_column_count: true, relax_quotes: true, skip_empty_lines: true };
  return parse(text, all) as unknown as readonly Row[];
}

function filledIn(row: Row): string[] {
  return row.map(oneLine).filter((cell) => cell !== '');
}

function rowLine(row: Row, columns: Row): string {
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
