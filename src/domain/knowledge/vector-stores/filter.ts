import type { FileAttributes } from '../../../entities/knowledge/vector-store.ts';
import { isObject } from '../../../lib/json.ts';
import type { Faults } from '../../faults.ts';

/** Whether a file may be found, by its attributes. */
export type AttributeFilter = (attributes: FileAttributes) => boolean;

type Value = string | number | boolean;

const comparisons: Readonly<Record<string, (own: Value, given: Value) => boolean>> = {
  eq: (own, given) => own === given,
  ne: (own, given) => own !== given,
  gt: (own, given) => typeof own === typeof given && own > given,
  gte: (own, given) => typeof own === typeof given && own >= given,
  lt: (own, given) => typeof own === typeof given && own < given,
  lte: (own, given) => typeof own === typeof given && own <= given,
};
const types = [...Object.keys(comparisons), 'in', 'nin', 'and', 'or'];
const depthMax = 8;
const partsMax = 50;

/** Reads `{type, key, value}` or `{type: "and" | "or", filters}`; no file without the attribute fits, except to `ne` and `nin`. */
export function readFilter(given: unknown, at: string, faults: Faults, depth = 0): AttributeFilter {
  const refused: AttributeFilter = () => false;
  if (!isObject(given)) {
    faults.add(at, `${at} must be an object`, 'INVALID_TYPE');
    return refused;
  }
  const { type, key, value, filters } = given;
  if (typeof type !== 'string' || !types.includes(type)) {
    faults.add(`${at}.type`, `${at}.type must be one of ${types.join(', ')}`);
    return refused;
  }
  if (type === 'and' || type === 'or') {
    if (!Array.isArray(filters) || filters.length === 0 || filters.length > partsMax || depth >= depthMax) {
      faults.add(`${at}.filters`, `${at}.filters must be an array of 1 to ${partsMax} filters, at most ${depthMax} levels deep`);
      return refused;
    }
    const parts = filters.map((part: unknown, index) => readFilter(part, `${at}.filters[${index}]`, faults, depth + 1));
    return (attributes) => (type === 'and' ? parts.every((part) => part(attributes)) : parts.some((part) => part(attributes)));
  }
  if (typeof key !== 'string') faults.add(`${at}.key`, `${at}.key must be a string`, 'INVALID_TYPE');
  const name = String(key);
  const ownOf = (attributes: FileAttributes) => (Object.hasOwn(attributes, name) ? attributes[name] : undefined);
  if (type === 'in' || type === 'nin') {
    if (!Array.isArray(value) || !value.every(isValue)) {
      faults.add(`${at}.value`, `${at}.value must be an array of strings, numbers, or true and false`, 'INVALID_TYPE');
      return refused;
    }
    return (attributes) => {
      const own = ownOf(attributes);
      return (own !== undefined && value.includes(own)) === (type === 'in');
    };
  }
  if (!isValue(value)) {
    faults.add(`${at}.value`, `${at}.value must be a string, a number, or true or false`, 'INVALID_TYPE');
    return refused;
  }
  return (attributes) => {
    const own = ownOf(attributes);
    return own === undefined ? type === 'ne' : comparisons[type]?.(own, value) === true;
  };
}

function isValue(value: unknown): value is Value {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
