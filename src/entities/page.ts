/** The position of an item in its list: the values that the list is ordered by, ending with a unique one (the id). */
export type SortKey = readonly (string | number)[];

/** The parameters of one page: `limit` items after `after`, in the order of the list. */
export interface PageRequest {
  readonly limit: number;
  /** Undefined: from the start. */
  readonly after: SortKey | undefined;
}

/**
 * One page of a list. Stores read by key (`where (created_at, id) < ($1, $2) order by … limit n + 1`), never by offset, so that a
 * page costs the same at any depth.
 */
export interface Page<T> {
  readonly items: readonly T[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  keyOf(item: T): SortKey;
  /** Counts the whole list; called only on demand. */
  countAll(): Promise<number>;
}

/**
 * Makes a page from the rows of a store, which reads one more than `request.limit` to know whether a next page exists.
 *
 * @param foundCount  rows that the store found; it may have left out the last ones because of their size.
 */
export function pageOf<T>(
  rows: readonly T[],
  request: PageRequest,
  keyOf: (item: T) => SortKey,
  countAll: () => Promise<number>,
  foundCount = rows.length,
): Page<T> {
  const items = rows.length > request.limit ? rows.slice(0, request.limit) : rows;
  return {
    items,
    hasNextPage: foundCount > items.length,
    hasPreviousPage: request.after !== undefined,
    keyOf,
    countAll,
  };
}

/** The sort key of lists by time: `[createdAt in ISO 8601, id]`. Stores pass it to SQL. */
export function timeKey(item: { readonly createdAt: Date; readonly id: string }): SortKey {
  return [item.createdAt.toISOString(), item.id];
}
