import { saveFile } from '../../ui/save-file.ts';

/** Text that spreadsheets take for a formula begins with one of these. */
const formula = /^[=+\-@\t\r]/;

/** Rows as CSV by RFC 4180. Numbers stay numbers; words that look like a formula are kept from being one. */
export function writeCsv(rows: readonly (readonly (string | number | null)[])[]): string {
  return rows.map((row) => `${row.map(writeCell).join(',')}\r\n`).join('');
}

function writeCell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = formula.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Lets the reader keep a text as a file for spreadsheets. */
export function download(name: string, text: string): void {
  // The mark at the start tells them that the text is UTF-8.
  saveFile(new Blob(['\uFEFF', text], { type: 'text/csv;charset=utf-8' }), name);
}
