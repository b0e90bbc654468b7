import { isObject, type JsonObject } from '../../../../lib/json/json.ts';
import { oneLine } from '../../../../lib/text/text.ts';
import type { DocumentWriter } from '../document-writer.ts';
import { ExtractError } from '../error.ts';
import { isNotebook, readNotebook } from './notebook.ts';

const depthMax = 100;
/** Members that name an object, in order of preference. */
const labelNames = ['name', 'title', 'label', 'id', 'key'];
const labelMaxChars = 80;

/**
 * JSON as readable lines: an object is a block of `member: value` lines under a line with its place (`orders[3] "Ann" > lines[0]`);
 * a list of plain values is one line; members keep their order. Invalid JSON is plain text.
 *
 * @throws ExtractError CORRUPT when it is nested deeper than 100 levels.
 */
export function readJson(text: string, writer: DocumentWriter): void {
  const values = parseJson(text) ?? parseLines(text);
  if (values === undefined) {
    writer.block('paragraph', text);
    return;
  }
  const [first] = values;
  if (values.length === 1 && isNotebook(first)) {
    readNotebook(first, writer);
    return;
  }
  for (const [index, value] of values.entries()) writeValue(value, values.length === 1 ? '' : `[${index}]`, 0, writer);
  if (values.length === 1 && isObject(values[0])) writer.title = findLabel(values[0]);
}

function writeValue(value: unknown, path: string, depth: number, writer: DocumentWriter): void {
  if (depth > depthMax) throw new ExtractError('CORRUPT', `The JSON is nested deeper than ${depthMax} levels; flatten it.`);
  if (isObject(value)) writeObject(value, path, depth, writer);
  else if (Array.isArray(value) && !value.every(isPlain)) {
    for (const [index, entry] of value.entries()) writeValue(entry, `${path}[${index}]`, depth + 1, writer);
  } else if (!isEmpty(value)) writer.block('table', path === '' ? plainText(value) : `${path}: ${plainText(value)}`);
}

function writeObject(object: JsonObject, path: string, depth: number, writer: DocumentWriter): void {
  const lines: string[] = [];
  const nestedMembers: (readonly [name: string, value: unknown])[] = [];
  gather(object, '', depth, lines, nestedMembers);
  if (lines.length > 0) writer.block('table', [...(path === '' ? [] : [path]), ...lines].join('\n'));
  const label = path === '' ? null : findLabel(object);
  const prefix = path === '' ? '' : `${label === null ? path : `${path} "${label}"`} > `;
  for (const [name, value] of nestedMembers) writeValue(value, `${prefix}${name}`, depth + 1, writer);
}

/** Writes plain members as lines, and objects inside the object too (`address.city: Bonn`); collects lists of objects for blocks of their own. */
function gather(
  object: JsonObject,
  prefix: string,
  depth: number,
  lines: string[],
  nestedMembers: (readonly [string, unknown])[],
): void {
  if (depth > depthMax) throw new ExtractError('CORRUPT', `The JSON is nested deeper than ${depthMax} levels; flatten it.`);
  for (const [name, value] of Object.entries(object)) {
    const path = `${prefix}${oneLine(name)}`;
    if (isObject(value)) gather(value, `${path}.`, depth + 1, lines, nestedMembers);
    else if (Array.isArray(value) && !value.every(isPlain)) nestedMembers.push([path, value]);
    else if (!isEmpty(value)) lines.push(`${path}: ${plainText(value)}`);
  }
}

/** Undefined for invalid JSON. Numbers that JavaScript would round stay as written. */
function parseJson(text: string): unknown[] | undefined {
  try {
    const trimmedText = text.replace(/^\ufeff/, '');
    if (!/\d{16}|\d\.\d{15}/.test(trimmedText)) return [JSON.parse(trimmedText)];
    return [JSON.parse(trimmedText, keepDigits)];
  } catch (error) {
    if (error instanceof RangeError)
      throw new ExtractError('CORRUPT', `The JSON is nested deeper than ${depthMax} levels; flatten it.`);
    return undefined;
  }
}

function keepDigits(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined && String(value) !== context.source ? context.source : value;
}

/** One JSON value on each line. */
function parseLines(text: string): unknown[] | undefined {
  const values: unknown[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const parsedValues = parseJson(line);
    if (parsedValues === undefined) return undefined;
    values.push(...parsedValues);
  }
  return values;
}

function findLabel(object: JsonObject): string | null {
  for (const name of labelNames) {
    const value = object[name];
    if (typeof value === 'string' && value.trim() !== '') return oneLine(value).slice(0, labelMaxChars).toWellFormed();
    if (typeof value === 'number') return String(value);
  }
  return null;
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

/** Null, blank text and empty lists or objects contain nothing to search for; 0 and false do. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isEmpty);
  return value === null || (typeof value === 'string' && value.trim() === '');
}

function plainText(value: unknown): string {
  if (Array.isArray(value))
    return value
      .filter((entry) => !isEmpty(entry))
      .map(plainText)
      .join(', ');
  return typeof value === 'string' ? tidy(value) : String(value);
}

/** Keeps line ends inside long text: they separate its paragraphs. */
function tidy(text: string): string {
  return text.includes('\n') ? text.trim() : oneLine(text);
}
