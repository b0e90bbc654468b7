import { dataSourceTypes } from './data-source.ts';
import type { AttributeFilter, AttributeValue } from './vector-store.ts';

/** What filters may ask of every item, besides the attributes that files of vector stores have. An attribute of the same name comes first. */
export const itemKeys = ['data_source_id', 'source_type', 'mime_type', 'path', 'updated_at'] as const;
export type ItemKey = (typeof itemKeys)[number];

export function toItemKey(key: string): ItemKey | undefined {
  return itemKeys.find((name) => name === key);
}

/** Seconds since 1970 of a value of `updated_at`: a number, or a time in ISO 8601. Undefined for another value. */
export function toSeconds(value: AttributeValue): number | undefined {
  if (typeof value === 'number') return value;
  const time = typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time / 1_000;
}

/** Calls back with what is wrong with a filter of items that have no attributes of their own. */
export function checkItemKeys(filter: AttributeFilter, at: string, fault: (param: string, message: string) => void): void {
  if ('filters' in filter) {
    for (const [index, part] of filter.filters.entries()) checkItemKeys(part, `${at}.filters[${index}]`, fault);
    return;
  }
  const key = toItemKey(filter.key);
  const values = 'values' in filter ? filter.values : [filter.value];
  if (key === undefined) {
    const others = 'other keys are attributes of files in vector stores, which vector_store_ids names';
    fault(`${at}.key`, `${at}.key must be one of ${itemKeys.join(', ')}: ${others}`);
  } else if (key === 'updated_at') {
    if (values.some((value) => toSeconds(value) === undefined))
      fault(`${at}.value`, `${at}.value must be seconds since 1970, or a time such as 2026-01-31T00:00:00Z`);
  } else if (values.some((value) => typeof value !== 'string')) {
    fault(`${at}.value`, `${at}.value must be text for the key ${key}`);
  } else if (key === 'source_type' && values.some((value) => !dataSourceTypes.some((type) => type === value))) {
    fault(`${at}.value`, `${at}.value must be one of ${dataSourceTypes.join(', ')}`);
  }
}
