import type { FaultNotes } from '../../../entities/ground/fault-notes.ts';
import type { AttributeFilter, AttributeValue } from '../../../entities/knowledge/vector-store.ts';
import { isObject } from '../../../lib/json/json.ts';

const comparisons = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'] as const;
const types = [...comparisons, 'in', 'nin', 'and', 'or'] as const;
const depthMax = 8;
const partsMax = 50;
/** Of a whole filter, which becomes one condition. */
const comparisonsMax = 500;
const valuesMax = 1_000;
const emptyFilter: AttributeFilter = { type: 'in', key: '', values: [] };

/** Reads `{type, key, value}` or `{type: "and" | "or", filters}`. Faults are noted; what is returned with any is of no use. */
export function readFilter(filterInput: unknown, at: string, faults: FaultNotes): AttributeFilter {
  const read = new FilterReader(faults);
  return read.filter(filterInput, at, 0);
}

class FilterReader {
  readonly #faults: FaultNotes;
  #comparisons = 0;

  constructor(faults: FaultNotes) {
    this.#faults = faults;
  }

  filter(filterInput: unknown, at: string, depth: number): AttributeFilter {
    const faults = this.#faults;
    if (!isObject(filterInput)) {
      faults.add(at, `${at} must be an object`, 'INVALID_TYPE');
      return emptyFilter;
    }
    const { key, value, filters } = filterInput;
    const type = types.find((name) => name === filterInput.type);
    if (type === undefined) {
      faults.add(`${at}.type`, `${at}.type must be one of ${types.join(', ')}`);
      return emptyFilter;
    }
    if (type === 'and' || type === 'or') return this.#joined(type, filters, at, depth);
    this.#comparisons += 1;
    if (this.#comparisons > comparisonsMax) {
      if (this.#comparisons === comparisonsMax + 1)
        faults.add('filters', `filters must have at most ${comparisonsMax} comparisons`);
      return emptyFilter;
    }
    if (typeof key !== 'string') {
      faults.add(`${at}.key`, `${at}.key must be a string`, 'INVALID_TYPE');
      return emptyFilter;
    }
    if (type === 'in' || type === 'nin') {
      if (!Array.isArray(value) || value.length > valuesMax || !value.every(isValue)) {
        const message = `${at}.value must be an array of at most ${valuesMax} strings, numbers, or true and false`;
        faults.add(`${at}.value`, message, 'INVALID_TYPE');
        return emptyFilter;
      }
      return { type, key, values: value };
    }
    if (!isValue(value)) {
      faults.add(`${at}.value`, `${at}.value must be a string, a number, or true or false`, 'INVALID_TYPE');
      return emptyFilter;
    }
    return { type, key, value };
  }

  #joined(type: 'and' | 'or', filters: unknown, at: string, depth: number): AttributeFilter {
    if (!Array.isArray(filters) || filters.length === 0 || filters.length > partsMax || depth >= depthMax) {
      const message = `${at}.filters must be an array of 1 to ${partsMax} filters, at most ${depthMax} levels deep`;
      this.#faults.add(`${at}.filters`, message);
      return emptyFilter;
    }
    return { type, filters: filters.map((part: unknown, index) => this.filter(part, `${at}.filters[${index}]`, depth + 1)) };
  }
}

function isValue(value: unknown): value is AttributeValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
