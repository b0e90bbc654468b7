import { outOfRange } from './errors.ts';

/** The position of an item in its list: the values that the list is ordered by, ending with a unique one (the id). */
export type SortKey = readonly (string | number)[];

/** The parameters of one page: `limit` items from a place of the list on, forwards or backwards. */
export interface PageRequest {
  readonly limit: number;
  /** Where reading begins: behind this item, or before it when reading backwards. Undefined: at the start, or at the end. */
  readonly after: SortKey | undefined;
  /** Reads towards the start of the list. The page has the order of the list in any case. */
  readonly isBackward?: boolean;
}

/** For `countAll`: the whole list. */
export const countEverything = 2_147_483_647;

/**
 * One page of a list. Stores read by key (`where (created_at, id) < ($1, $2) order by … limit n + 1`), never by offset, so that a
 * page costs the same at any depth.
 */
export interface Page<T> {
  readonly items: readonly T[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  keyOf(item: T): SortKey;
  /** Where reading ended when that is not at an item: a search that came to its bound before the page was full. Backwards, it ends at the start. */
  readonly startKey?: SortKey;
  readonly endKey?: SortKey;
  /** Counts the list, at most to `most`; called only on demand. */
  countAll(most: number): Promise<number>;
}

/**
 * Makes a page from the rows of a store, which reads one more than `request.limit` to know whether the list goes on.
 *
 * @param rows        in the order of reading: backwards, the last item of the page comes first.
 * @param foundCount  rows that the store found; it may have left out the last ones because of their size.
 */
export function toPage<T>(
  rows: readonly T[],
  request: PageRequest,
  keyOf: (item: T) => SortKey,
  countAll: Page<T>['countAll'],
  foundCount = rows.length,
): Page<T> {
  const read = rows.length > request.limit ? rows.slice(0, request.limit) : rows;
  const goesOn = foundCount > read.length;
  const isBehind = request.after !== undefined;
  return request.isBackward === true
    ? { items: read.toReversed(), hasNextPage: isBehind, hasPreviousPage: goesOn, keyOf, countAll }
    : { items: read, hasNextPage: goesOn, hasPreviousPage: isBehind, keyOf, countAll };
}

/**
 * The `countAll` of a list that is dear to count: nothing is counted where the page holds the whole list. Not for lists that may be read from the n-th
 * item on.
 */
export function countUnlessWhole(
  { after, limit }: PageRequest,
  foundCount: number,
  countAll: Page<never>['countAll'],
): Page<never>['countAll'] {
  const isWhole = after === undefined && foundCount <= limit;
  return isWhole ? async (most) => Math.min(foundCount, most) : countAll;
}

/** A page whose reading ended behind its last item, and before the end of the list, at this place; undefined: the page as it is. */
export function endingAt<T>(page: Page<T>, { isBackward = false }: PageRequest, end: SortKey | undefined): Page<T> {
  if (end === undefined) return page;
  return isBackward ? { ...page, startKey: end, hasPreviousPage: true } : { ...page, endKey: end, hasNextPage: true };
}

/**
 * A page of a list that was read whole.
 *
 * @param compare  the order of the list, by sort keys.
 */
export function pageOfItems<T>(
  items: readonly T[],
  request: PageRequest,
  keyOf: (item: T) => SortKey,
  compare: (a: SortKey, b: SortKey) => number,
): Page<T> {
  const { after, isBackward = false } = request;
  const inOrder = isBackward ? items.toReversed() : items;
  const sign = isBackward ? -1 : 1;
  const rest = after === undefined ? inOrder : inOrder.filter((item) => sign * compare(keyOf(item), after) > 0);
  return toPage(rest.slice(0, request.limit + 1), request, keyOf, async (most) => Math.min(items.length, most));
}

/** The page of a list without items. */
export function emptyPage(request: PageRequest): Page<never> {
  return toPage<never>(
    [],
    request,
    () => [],
    async () => 0,
  );
}

/** The sort key of lists by time: `[createdAt in ISO 8601, id]`. Stores pass it to SQL. */
export function timeKey(item: { readonly createdAt: Date; readonly id: string }): SortKey {
  return [item.createdAt.toISOString(), item.id];
}

/** One page of a list that is read from an item on, either way: the id of an item is its cursor. Such a list is not counted. */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** Whether more follow in the direction of reading. */
  readonly hasMore: boolean;
  /** Where reading began: at the start of the list, behind the item `after`, or before the item `before`, towards the start. */
  readonly from: 'start' | 'after' | 'before';
}

/** How a list page is asked for. With `after` and `before`, reading begins behind `after`. */
export interface ListRequest {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly before?: string | null | undefined;
  readonly order?: 'asc' | 'desc' | null | undefined;
}

/** How many items a request wants. @throws DomainError INVALID_VALUE naming `first`. */
export function readPageSize({ first }: ListRequest, { usual = 20, most = 100 } = {}): number {
  const size = first ?? usual;
  if (size < 1 || size > most) throw outOfRange('first', 1, most);
  return size;
}

/** Makes a page of what was read for a request. */
export function toListPage<T>(
  { items, hasMore }: Pick<ListPage<T>, 'items' | 'hasMore'>,
  { after, before }: ListRequest,
): ListPage<T> {
  const isGiven = (cursor: string | null | undefined) => cursor !== undefined && cursor !== null;
  return { items, hasMore, from: isGiven(after) ? 'after' : isGiven(before) ? 'before' : 'start' };
}
