/** Where an item stands in its list: the values the list is ordered by, ending with a unique one (the id). */
export type SortKey = readonly (string | number)[];

/** What a store needs to read one page: `limit` items that come after `after` in the order of the list. */
export interface PageRequest {
  readonly limit: number;
  /** Undefined: from the start. */
  readonly after: SortKey | undefined;
}

/**
 * One page of a list. Stores read by key (`where (created_at, id) < ($1, $2) order by … limit n + 1`), never by offset, so that a page
 * costs the same however deep it stands.
 */
export interface Page<T> {
  readonly items: readonly T[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  keyOf(item: T): SortKey;
  /** Counts the whole list; called only when somebody asks for it. */
  countAll(): Promise<number>;
}

/**
 * Makes the page from the rows a store read: it asks for one more than `request.limit`, and that one tells of a next page.
 *
 * @param foundCount  rows that the store found, of which the last may have been too many bytes to read.
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

/** The same page of other things made from its items, in the same order. */
export function mapPage<T, U>(page: Page<T>, map: (item: T) => U): Page<U> {
  const items = page.items.map(map);
  const source = new Map(items.map((item, index) => [item, page.items[index]]));
  return {
    ...page,
    items,
    keyOf: (item) => {
      const original = source.get(item);
      if (original === undefined) throw new Error('the item is not of this page');
      return page.keyOf(original);
    },
    countAll: page.countAll,
  };
}

/** The key of lists in order of time: `[createdAt in ISO 8601, id]`. Stores hand it straight to SQL. */
export function timeKey(item: { readonly createdAt: Date; readonly id: string }): SortKey {
  return [item.createdAt.toISOString(), item.id];
}
