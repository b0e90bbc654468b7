import { isObject } from '../../../lib/json.ts';
import { type Evidence, statedText, textFor } from './evidence.ts';
import { numbersBeside } from './numbers.ts';

type Schema = Readonly<Record<string, unknown>>;
const depthMax = 12;

/** A filled value, and whether the question states it. */
interface Filled {
  readonly value: unknown;
  readonly isPlain: boolean;
}

/** A filled value, and the members whose numbers, times or addresses nothing states. */
export interface FilledSchema extends Filled {
  readonly invented: readonly string[];
}

/** Makes a value that fits a JSON Schema: from the question where it states a value, else the smallest valid value. */
export function fillSchema(schema: Schema, evidence: Evidence): FilledSchema {
  const invented: string[] = [];
  return { ...fill(schema, '', { ...evidence, numbers: [...evidence.numbers], invented }, schema, 0), invented };
}

/** The evidence of one filling, with what had to be made up. */
type Filling = Evidence & { readonly invented: string[] };

function fill(given: unknown, name: string, evidence: Filling, root: Schema, depth: number): Filled {
  const schema = resolve(given, root, depth);
  if (schema.const !== undefined) return { value: schema.const, isPlain: false };
  if (Array.isArray(schema.enum)) return pick(schema.enum, schema.default, evidence);
  switch (typeOf(schema)) {
    case 'object':
      return fillObject(schema, evidence, root, depth);
    case 'array':
      return fillArray(schema, name, evidence, root, depth);
    case 'integer':
    case 'number':
      return fillNumber(schema, name, allowsNull(given), evidence);
    case 'boolean':
      return { value: schema.default ?? false, isPlain: false };
    case 'null':
      return { value: null, isPlain: false };
    default:
      return fillText(schema, name, evidence);
  }
}

function fillObject(schema: Schema, evidence: Filling, root: Schema, depth: number): Filled {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const value: Record<string, unknown> = {};
  let isPlain = true;
  if (depth >= depthMax) return { value, isPlain: false };
  for (const [name, property] of Object.entries(record(schema.properties))) {
    const isRequired = required.has(name);
    // An optional number is left out: any number of the question would end up in `limit`.
    if (!isRequired && typeOf(resolve(property, root, depth)) !== 'string') continue;
    const filled = fill(property, name, evidence, root, depth + 1);
    if (isRequired) {
      value[name] = filled.value;
      isPlain &&= filled.isPlain;
    } else if (filled.isPlain && Array.isArray(resolve(property, root, depth).enum)) value[name] = filled.value;
  }
  return { value, isPlain };
}

function fillArray(schema: Schema, name: string, evidence: Filling, root: Schema, depth: number): Filled {
  const least = typeof schema.minItems === 'number' ? schema.minItems : 0;
  const most = typeof schema.maxItems === 'number' ? schema.maxItems : Number.POSITIVE_INFINITY;
  const items = resolve(schema.items ?? {}, root, depth);
  const kind = typeOf(items);
  let found: unknown[] = [];
  if (kind === 'number' || kind === 'integer') found = evidence.numbers.splice(0);
  else if (kind === 'string' && items.enum === undefined)
    found = [...(evidence.quoted.length > 0 ? evidence.quoted : evidence.names)];
  found = found.slice(0, most);
  const isPlain = found.length > 0;
  if (Array.isArray(schema.default) && (kind === 'object' || !isPlain)) return { value: schema.default, isPlain: false };
  while (found.length < least && depth < depthMax) found.push(fill(items, name, evidence, root, depth + 1).value);
  return { value: found, isPlain };
}

function fillNumber(schema: Schema, name: string, canBeNull: boolean, evidence: Filling): Filled {
  const least = typeof schema.minimum === 'number' ? schema.minimum : exclusive(schema.exclusiveMinimum, 1);
  const most = typeof schema.maximum === 'number' ? schema.maximum : exclusive(schema.exclusiveMaximum, -1);
  const fits = (value: number) =>
    (schema.type !== 'integer' || Number.isInteger(value)) &&
    (least === undefined || value >= least) &&
    (most === undefined || value <= most);
  const stated = [...numbersBeside(name, evidence.answer), ...numbersBeside(name, evidence.question)].find(fits);
  const index = stated === undefined ? evidence.numbers.findIndex(fits) : evidence.numbers.indexOf(stated);
  const [taken] = index >= 0 ? evidence.numbers.splice(index, 1) : [];
  const found = stated ?? taken;
  if (found !== undefined) return { value: found, isPlain: true };
  if (canBeNull && schema.default === undefined) return { value: null, isPlain: false };
  if (typeof schema.default !== 'number') evidence.invented.push(name === '' ? 'the number' : name);
  const fallback = typeof schema.default === 'number' ? schema.default : (least ?? Math.min(0, most ?? 0));
  return { value: fallback, isPlain: false };
}

function fillText(schema: Schema, name: string, evidence: Filling): Filled {
  const format = typeof schema.format === 'string' ? schema.format : undefined;
  // The schema states a default: only a value that the question gives by name is better.
  const hasDefault = typeof schema.default === 'string';
  const found = hasDefault ? statedText(name, evidence) : textFor(name, format, evidence);
  const fallback = hasDefault ? String(schema.default) : formatted(format, evidence);
  const least = typeof schema.minLength === 'number' ? schema.minLength : 0;
  const most = typeof schema.maxLength === 'number' ? schema.maxLength : Number.POSITIVE_INFINITY;
  if (found === undefined && !hasDefault && madeUpFormats.has(format ?? '')) evidence.invented.push(name);
  return { value: (found ?? fallback).padEnd(least, '.').slice(0, most), isPlain: found !== undefined };
}

/** Formats whose fallback would look like a fact. */
const madeUpFormats: ReadonlySet<string> = new Set(['date', 'date-time', 'time', 'email', 'uri', 'uuid']);

function formatted(format: string | undefined, evidence: Evidence): string {
  if (format === 'date') return '1970-01-01';
  if (format === 'date-time') return '1970-01-01T00:00:00Z';
  if (format === 'time') return '00:00:00Z';
  if (format === 'email') return 'nobody@example.com';
  if (format === 'uri') return 'https://example.com/';
  if (format === 'uuid') return '00000000-0000-4000-8000-000000000000';
  return evidence.question.trim();
}

function pick(values: readonly unknown[], fallback: unknown, evidence: Evidence): Filled {
  const question = evidence.question.toLowerCase();
  const named = values.find(
    (value) => typeof value === 'string' && value !== '' && question.includes(value.toLowerCase().replaceAll('_', ' ')),
  );
  return named === undefined ? { value: fallback ?? values[0] ?? null, isPlain: false } : { value: named, isPlain: true };
}

/** Follows local references, takes the first of alternatives, and merges `allOf`. */
function resolve(given: unknown, root: Schema, depth: number): Schema {
  const schema = record(given);
  if (depth > depthMax) return schema;
  if (typeof schema.$ref === 'string') {
    const target = schema.$ref
      .replace(/^#\/?/, '')
      .split('/')
      .filter((step) => step !== '')
      .reduce<unknown>((value, step) => record(value)[step.replaceAll('~1', '/').replaceAll('~0', '~')], root);
    return resolve(target, root, depth + 1);
  }
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives)) return resolve(alternatives.find((one) => record(one).type !== 'null') ?? {}, root, depth + 1);
  if (Array.isArray(schema.allOf)) {
    const parts = schema.allOf.map((part) => resolve(part, root, depth + 1));
    const properties = Object.assign({}, record(schema.properties), ...parts.map((part) => record(part.properties)));
    const required = [schema, ...parts].flatMap((part) => (Array.isArray(part.required) ? part.required : []));
    return { ...Object.assign({}, ...parts), ...schema, properties, required };
  }
  return schema;
}

function allowsNull(given: unknown): boolean {
  const { type, anyOf, oneOf } = record(given);
  const alternatives = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
  return (Array.isArray(type) && type.includes('null')) || alternatives.some((one) => record(one).type === 'null');
}

function typeOf(schema: Schema): string {
  if (typeof schema.type === 'string') return schema.type;
  if (Array.isArray(schema.type)) return String(schema.type.find((type) => type !== 'null') ?? 'null');
  if (schema.properties !== undefined) return 'object';
  return schema.items === undefined ? 'string' : 'array';
}

function exclusive(bound: unknown, step: number): number | undefined {
  return typeof bound === 'number' ? bound + step : undefined;
}

function record(value: unknown): Schema {
  return isObject(value) ? value : {};
}
