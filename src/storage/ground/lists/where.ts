import { type Filter, isAll, isAny } from '../../../entities/ground/filter.ts';

/** A rule as Prisma's `where`: conditions of one model, joined by AND and OR. */
export type WhereTree<Where> = Where | { AND: WhereTree<Where>[] } | { OR: WhereTree<Where>[] };

/** A rule as Prisma's `where`; `leafWhere` writes one condition. */
export function toWhere<Leaf extends object, Where>(filter: Filter<Leaf>, leafWhere: (leaf: Leaf) => Where): WhereTree<Where> {
  const tree = toTree(filter, leafWhere);
  if (tree === true) return { AND: [] };
  // Prisma drops an empty OR within an AND, where it would match everything.
  if (tree === false) throw new Error('a rule that nothing matches cannot be a condition of Prisma');
  return tree;
}

/** Constants are worked out here: Prisma leaves an empty condition out of an OR, where it would match everything. */
function toTree<Leaf extends object, Where>(filter: Filter<Leaf>, leafWhere: (leaf: Leaf) => Where): WhereTree<Where> | boolean {
  if (!isAll(filter) && !isAny(filter)) return leafWhere(filter);
  const isAnd = isAll(filter);
  const parts = (isAnd ? filter.all : filter.any).map((part) => toTree(part, leafWhere));
  if (parts.includes(!isAnd)) return !isAnd;
  const conditions = parts.filter((part): part is WhereTree<Where> => typeof part !== 'boolean');
  if (conditions.length === 0) return isAnd;
  return isAnd ? { AND: conditions } : { OR: conditions };
}

/** A rule as a condition in SQL; `leafCondition` writes one condition. */
export function toCondition<Leaf extends object>(filter: Filter<Leaf>, leafCondition: (leaf: Leaf) => string): string {
  if (!isAll(filter) && !isAny(filter)) return leafCondition(filter);
  const isAnd = isAll(filter);
  const parts = (isAnd ? filter.all : filter.any).map((part) => toCondition(part, leafCondition));
  return parts.length === 0 ? String(isAnd) : `(${parts.join(isAnd ? ' and ' : ' or ')})`;
}

/** Texts that contain this one, ignoring case. */
export function containing(text: string) {
  return { contains: literal(text), mode: 'insensitive' as const };
}

/** A text for `contains`, `startsWith` and `endsWith`: Prisma passes the wildcards of LIKE on as they are. */
export function literal(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&');
}
