import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import { type ListPage, type ListRequest, readPageSize, toListPage } from '../../../entities/ground/page.ts';
import type { FileAttributes, Metadata } from '../../../entities/knowledge/vector-store.ts';
import { isObject } from '../../../lib/json/json.ts';
import { type IdPage, isReadBackwards, type MissingEnd } from '../../../storage/knowledge/vector-stores/rows.ts';
import type { Faults } from '../../ground/faults.ts';
import { readMetadata } from '../../ground/metadata.ts';

export type Optional<T> = T | null | undefined;

const attributesMax = { count: 16, nameLength: 64, textLength: 512 };
const daysMax = 365;

/** One more than asked for is read, which tells whether there are more. @throws DomainError INVALID_VALUE naming `first`. */
export function readPageInput({ after, before, first, order }: ListRequest): IdPage & { readonly most: number } {
  const most = readPageSize({ first });
  return { most, after: after ?? undefined, before: before ?? undefined, limit: most + 1, order: order ?? 'desc' };
}

/**
 * A page of stores, whose ids may be those of stores that are gone: they sort by time.
 *
 * @throws DomainError like `readPageInput`, and naming an end that is no id of a store.
 */
export function readStorePageInput(input: ListRequest): IdPage & { readonly most: number } {
  const page = readPageInput(input);
  for (const end of ['after', 'before'] as const) {
    if (page[end] === undefined || isId('dataSource', page[end])) continue;
    throw new DomainError('INVALID_VALUE', `${end} must be the id of a vector store, as lists have it`, { param: end });
  }
  return page;
}

/** A page of what was read. @throws DomainError INVALID_VALUE for an end that is no file of the store. */
export function pageFrom<Row>(
  matches: { readonly rows: readonly Row[]; readonly foundCount: number } | MissingEnd,
  page: IdPage & { readonly most: number },
): ListPage<Row> {
  if ('missing' in matches) {
    const { missing: param } = matches;
    const message = `${param} names no file of this vector store: where it was taken out meanwhile, read the list from its start`;
    throw new DomainError('INVALID_VALUE', message, { param });
  }
  const { rows, foundCount } = matches;
  const read = rows.slice(0, page.most);
  return toListPage({ items: isReadBackwards(page) ? read.toReversed() : read, hasMore: foundCount > read.length }, page);
}

export function readStoreMetadata(input: unknown, faults: Faults): Metadata {
  return readMetadata(input, faults) as Metadata;
}

/** @returns null for a store that does not expire. */
export function readDays(input: unknown, faults: Faults): number | null {
  if (input === undefined || input === null) return null;
  const { anchor, days } = isObject(input) ? input : {};
  if (anchor !== 'last_active_at') faults.add('expiresAfter.anchor', 'expiresAfter.anchor must be last_active_at');
  if (typeof days === 'number' && Number.isInteger(days) && days >= 1 && days <= daysMax) return days;
  faults.add('expiresAfter.days', `expiresAfter.days must be an integer from 1 to ${daysMax}`);
  return null;
}

export function readAttributes(input: unknown, faults: Faults, at = 'attributes'): FileAttributes {
  if (input === undefined || input === null) return {};
  if (!isObject(input)) {
    faults.add(at, `${at} must be an object`, 'INVALID_TYPE');
    return {};
  }
  const entries = Object.entries(input);
  const { count, nameLength, textLength } = attributesMax;
  if (entries.length > count) faults.add(at, `${at} must have at most ${count} members`);
  for (const [name, value] of entries.slice(0, count)) {
    if (name.length > nameLength) faults.add(at, `names in ${at} must have at most ${nameLength} characters`);
    else if (typeof value === 'string') faults.requireLength(`${at}.${name}`, value, textLength);
    else if (typeof value !== 'boolean' && !(typeof value === 'number' && Number.isFinite(value))) {
      faults.add(`${at}.${name}`, `${at}.${name} must be a string, a number or true or false`, 'INVALID_TYPE');
    }
  }
  return input as FileAttributes;
}

/** Passages are cut by the service: no other strategy can be had. */
export function requireOwnChunks(input: unknown, faults: Faults, at = 'chunkingStrategy'): void {
  if (input === undefined || input === null || (isObject(input) && input.type === 'auto')) return;
  const why = 'Parley cuts passages by headings and sentences, not by a number of tokens';
  faults.add(at, `${at} must be {"type": "auto"}: ${why}`);
}
