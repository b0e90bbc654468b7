import { isObject, type JsonObject } from '../../../src/lib/json/json.ts';
import { harmless } from './screen.ts';

const lineMax = 100;
const cellMax = 32;
/** A column that does not fit is cut to the room that is left, if that is at least this. */
const narrowest = 12;
const gap = '  ';
/** What people know a thing by comes first, then what commands know it by. */
const first = ['name', 'email', 'filename', 'action', 'day', 'id'];

/**
 * A table of at most 100 columns: names, then ids, then what else fits, in the order of the reply. Ids are never cut, so that they can be
 * copied; `--json` shows everything.
 */
export function table(rows: readonly JsonObject[]): string {
  const cells = new Map(columnsOf(rows).map((name) => [name, rows.map((row) => cell(name, row[name]))]));
  const shown: { name: string; width: number; texts: readonly string[] }[] = [];
  let left = lineMax;
  for (const [name, texts] of cells) {
    const room = left - (shown.length === 0 ? 0 : gap.length);
    const widest = Math.max(widthOf(name), ...texts.map(widthOf));
    const width = widest > room && !isIdName(name) && room >= Math.max(widthOf(name), narrowest) ? room : widest;
    if (width > room) continue;
    left = room - width;
    shown.push({ name, width, texts: texts.map((text) => shortened(text, width)) });
  }
  const line = (textOf: (column: (typeof shown)[number]) => string) =>
    shown
      .map((column) => padded(textOf(column), column.width))
      .join(gap)
      .trimEnd();
  return [line(({ name }) => name), ...rows.map((_row, index) => line(({ texts }) => texts[index] ?? ''))].join('\n');
}

/** One thing: a line for each member, names first. */
export function lines(record: JsonObject): string {
  const names = ordered(Object.keys(record));
  const width = Math.max(0, ...names.map(widthOf));
  return names.map((name) => `${padded(name, width)}${gap}${lineOf(name, record[name])}`).join('\n');
}

function lineOf(name: string, value: unknown): string {
  if (Array.isArray(value) && value.length > 0 && value.every(isObject)) return `\n${table(value).replaceAll(/^/gm, '  ')}`;
  if (isObject(value)) return `\n${lines(value).replaceAll(/^/gm, '  ')}`;
  return textOf(name, value);
}

/** Columns that differ between rows or say something: a column that is empty everywhere is left out. */
function columnsOf(rows: readonly JsonObject[]): readonly string[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return ordered(names.filter((name) => first.includes(name) || rows.some((row) => !isEmpty(row[name]))));
}

function ordered(names: readonly string[]): readonly string[] {
  return [...first.filter((name) => names.includes(name)), ...names.filter((name) => !first.includes(name))];
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0) || isObject(value);
}

function cell(name: string, value: unknown): string {
  const text = textOf(name, value);
  return isIdName(name) ? text : shortened(text, cellMax);
}

function isIdName(name: string): boolean {
  return /(^id|Id)$/.test(name);
}

/** A text of at most so many columns; one that is cut ends with `…`. */
export function shortened(text: string, width: number): string {
  return widthOf(text) <= width ? text : `${cut(text, width - 1)}…`;
}

function textOf(name: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return '–';
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object'))
    return harmless(value.join(',')).replaceAll(/\s+/g, ' ');
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  // Minutes are enough for people.
  if (/At$/.test(name) && /^\d{4}-\d\d-\d\dT/.test(text)) return text.slice(0, 16).replace('T', ' ');
  return harmless(text.replaceAll(/\s+/g, ' '));
}

const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]/u;

/** Columns that a text takes on a terminal, about. */
function widthOf(text: string): number {
  let width = 0;
  for (const sign of text) width += wide.test(sign) ? 2 : 1;
  return width;
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

function cut(text: string, width: number): string {
  let left = width;
  let kept = '';
  for (const sign of text) {
    left -= wide.test(sign) ? 2 : 1;
    if (left < 0) break;
    kept += sign;
  }
  return kept;
}
