import { spreadsheets } from './spreadsheets.ts';

/** How a number is shown that has format 14 or 22, whose order of day and month depends on the reader's country. */
const countryFormats: Readonly<Record<number, string>> = { 14: 'yyyy-mm-dd', 22: 'yyyy-mm-dd hh:mm' };
const formatMaxChars = 1_000;

/**
 * A number as the spreadsheet shows it: with its decimals, percent, currency, as a date.
 *
 * @param format  a number of a built-in format, or a format's own code.
 */
export function formatNumber(value: number, format: number | string, isDate1904: boolean): string {
  const code = typeof format === 'number' ? (countryFormats[format] ?? format) : escapedDots(format);
  if (typeof code === 'string' && code.length > formatMaxChars) return String(value);
  try {
    const shown = String(spreadsheets().SSF.format(code, value, { date1904: isDate1904 })).trim();
    return shown === '' ? String(value) : shown;
  } catch {
    return String(value);
  }
}

/** The library takes dots between the parts of a date only as escaped ones. */
function escapedDots(format: string): string {
  return format.replace(dottedDate, '\\.');
}

const dottedDate = /(?<=[dmyhs])\.(?=\s?[dmyhs])/gi;

/** Whether the library cannot show the format, though `formatNumber` can. */
export function isDottedDate(format: string): boolean {
  return escapedDots(format) !== format;
}
