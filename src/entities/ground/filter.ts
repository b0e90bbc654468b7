/**
 * A rule about things of one kind, as plain data: one condition, all of several, or any of several. The domain states a rule once;
 * storage translates it into a where clause, and `matches` decides it in memory.
 */
export type Filter<Leaf> = Leaf | AllOf<Leaf> | AnyOf<Leaf>;
export interface AllOf<Leaf> {
  /** `[]` is always true. */
  readonly all: readonly Filter<Leaf>[];
}
export interface AnyOf<Leaf> {
  /** `[]` is never true. */
  readonly any: readonly Filter<Leaf>[];
}

export const everything = { all: [] } as const;
export const nothing = { any: [] } as const;

/** Decides a rule in memory; `test` decides one condition. */
export function matches<Leaf extends object>(filter: Filter<Leaf>, test: (leaf: Leaf) => boolean): boolean {
  if (isAll(filter)) return filter.all.every((part) => matches(part, test));
  if (isAny(filter)) return filter.any.some((part) => matches(part, test));
  return test(filter);
}

export function isAll<Leaf>(filter: Filter<Leaf>): filter is AllOf<Leaf> {
  return typeof filter === 'object' && filter !== null && 'all' in filter;
}

export function isAny<Leaf>(filter: Filter<Leaf>): filter is AnyOf<Leaf> {
  return typeof filter === 'object' && filter !== null && 'any' in filter;
}
