import { isObject } from '../../../lib/json/json.ts';
import type { Budget } from './check-budget.ts';
import { findFormat } from './formats.ts';
import type { LinearPattern } from './linear-pattern.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The first place where a value is not what a schema says. Both places are paths like `.items[3].price`; '' is the whole. */
export interface SchemaFault {
  readonly value: string;
  readonly schema: string;
  /** Ends a sentence about the place: "must be number". */
  readonly message: string;
}

/** Formats are not looked at in longer texts. */
const formatLengthMax = 4_000;
const shownMax = 200;
const enumShownMax = 20;

/** Checks everything but members, items and combinations. */
export function checkScalars(
  schema: Schema,
  value: unknown,
  budget: Budget,
  patternOf: (source: string) => LinearPattern | undefined,
): SchemaFault | undefined {
  return (
    checkType(schema, value) ??
    checkEnum(schema, value, budget) ??
    (typeof value === 'number' ? checkNumber(schema, value) : undefined) ??
    (typeof value === 'string' ? checkText(schema, value, budget, patternOf) : undefined)
  );
}

function checkType({ type }: Schema, value: unknown): SchemaFault | undefined {
  if (type === undefined) return undefined;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.some((one) => isOfType(one, value)) ? undefined : fault('.type', `must be ${types.join(', ')}`);
}

function isOfType(type: unknown, value: unknown): boolean {
  switch (type) {
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'null':
      return value === null;
    default:
      return type === typeof value;
  }
}

function checkEnum(schema: Schema, value: unknown, budget: Budget): SchemaFault | undefined {
  if (schema.const !== undefined && !equals(schema.const, value, budget)) {
    return fault('.const', `must be ${shown(schema.const)}`);
  }
  if (!Array.isArray(schema.enum)) return undefined;
  budget.spend(schema.enum.length);
  if (schema.enum.some((one) => equals(one, value, budget))) return undefined;
  const valueList = schema.enum.slice(0, enumShownMax).map(shown).join(', ');
  return fault('.enum', `must be one of ${valueList}${schema.enum.length > enumShownMax ? ', …' : ''}`);
}

function equals(left: unknown, right: unknown, budget: Budget): boolean {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return left === right;
  return budget.canonical(left) === budget.canonical(right);
}

function checkNumber(schema: Schema, value: number): SchemaFault | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (typeof minimum === 'number' && value < minimum) return fault('.minimum', `must be >= ${minimum}`);
  if (typeof maximum === 'number' && value > maximum) return fault('.maximum', `must be <= ${maximum}`);
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum)
    return fault('.exclusiveMinimum', `must be > ${exclusiveMinimum}`);
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum)
    return fault('.exclusiveMaximum', `must be < ${exclusiveMaximum}`);
  if (typeof multipleOf !== 'number' || multipleOf <= 0) return undefined;
  const times = value / multipleOf;
  // 0.3 is three times 0.1, whatever binary fractions make of it.
  const isWhole = Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times));
  return isWhole ? undefined : fault('.multipleOf', `must be multiple of ${multipleOf}`);
}

function checkText(
  schema: Schema,
  value: string,
  budget: Budget,
  patternOf: (source: string) => LinearPattern | undefined,
): SchemaFault | undefined {
  const { minLength, maxLength, pattern, format } = schema;
  if (typeof minLength === 'number' || typeof maxLength === 'number') {
    budget.spend(value.length);
    const length = [...value].length;
    if (typeof minLength === 'number' && length < minLength)
      return fault('.minLength', `must NOT have fewer than ${minLength} characters`);
    if (typeof maxLength === 'number' && length > maxLength)
      return fault('.maxLength', `must NOT have more than ${maxLength} characters`);
  }
  const linearPattern = typeof pattern === 'string' ? patternOf(pattern) : undefined;
  if (linearPattern !== undefined) {
    budget.spend(linearPattern.states * (value.length + 1));
    if (!linearPattern.test(value)) return fault('.pattern', `must match pattern ${shown(pattern)}`);
  }
  const isOfFormat = findFormat(format);
  if (isOfFormat === undefined || value.length > formatLengthMax) return undefined;
  budget.spend(value.length);
  return isOfFormat(value) ? undefined : fault('.format', `must match format ${shown(format)}`);
}

/** Whole objects are never written out: faults are made for alternatives too, and mostly thrown away. */
function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a certain array' : 'a certain object';
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(value.length <= shownMax ? value : `${value.slice(0, shownMax).toWellFormed()}…`);
}

function fault(schema: string, message: string): SchemaFault {
  return { value: '', schema, message };
}
