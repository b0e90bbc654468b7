import { DomainError } from '../../../entities/ground/errors.ts';
import type { PageRequest } from '../../../entities/ground/page.ts';
import type { Database } from '../database.ts';

/** Prisma's arguments for a page of a list, newest first, and one row more; the page's cursor is `timeKey`'s. */
export function newestFirst<Where extends object>(where: Where, page: PageRequest) {
  return byTime('createdAt', 'desc', where, page);
}

/**
 * Prisma's arguments for a page of a list in the order of a time, and one row more, in the order of reading. The first condition on the time bounds
 * the index: a page costs the same at any depth.
 *
 * @param unique  the column that tells rows of one time apart.
 */
export function byTime<Time extends string, Where extends object, Unique extends string = 'id'>(
  time: Time,
  order: 'asc' | 'desc',
  where: Where,
  page: PageRequest,
  unique = 'id' as Unique,
) {
  const { after, limit } = page;
  const direction = readingOrder(order, page);
  const [afterTime, afterId] = after ?? [];
  const isFirst = typeof afterTime !== 'string' || typeof afterId !== 'string';
  const at = new Date(isFirst ? 0 : afterTime);
  const further = direction === 'desc' ? 'lt' : 'gt';
  const rest = isFirst
    ? []
    : [{ [time]: { [`${further}e`]: at } }, { OR: [{ [time]: { [further]: at } }, { [unique]: { [further]: afterId } }] }];
  return {
    where: { AND: [where, ...rest] },
    orderBy: [
      { [time]: direction } as { [Name in Time]: 'asc' | 'desc' },
      { [unique]: direction } as { [Name in Unique]: 'asc' | 'desc' },
    ],
    take: limit + 1,
  };
}

/** The order in which a page is read: backwards, the rows next to its cursor come first, and `pageOf` turns them round. */
export function readingOrder(order: 'asc' | 'desc', { isBackward }: Pick<PageRequest, 'isBackward'>): 'asc' | 'desc' {
  if (isBackward !== true) return order;
  return order === 'asc' ? 'desc' : 'asc';
}

/**
 * Counts the lists of several owners in one statement, once somebody asks for one of the counts.
 *
 * @returns `countAll` of the page of one owner.
 */
export function countsOfEach(
  ids: readonly string[],
  count: (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>,
): (id: string) => (most: number) => Promise<number> {
  let counts: Promise<ReadonlyMap<string, number>> | undefined;
  return (id) => async (most) => {
    counts ??= count(ids);
    return Math.min((await counts).get(id) ?? 0, most);
  };
}

/** Where a row stands in a list, and how long it is. */
export interface Place {
  readonly id: string;
  /** Bytes of its members that may be long; absent where none of them is read. */
  readonly rowBytes?: number;
}

/** The first rows of a list that fit a number of bytes. */
export interface BoundedRows<Row> {
  /** At least one, unless the list has none. */
  readonly rows: readonly Row[];
  /** How many rows were found: more than `rows` when some did not fit. */
  readonly foundCount: number;
}

/**
 * Reads a page of rows that may be long. Rows beyond LIST_PAGE_MAX_BYTES stay in the database: the page is shorter, and its cursor continues after it.
 *
 * @param places  of at most one row more than the page has, in the order of the list.
 * @param read    reads rows by their ids, in any order.
 */
export async function readPage<Row extends { readonly id: string }>(
  { pageMaxBytes }: Database,
  places: readonly Place[],
  read: (ids: string[]) => Promise<readonly Row[]>,
): Promise<BoundedRows<Row>> {
  let bytes = 0;
  const fitting = places.filter(({ rowBytes = 0 }) => {
    const isWithin = bytes < pageMaxBytes;
    bytes += rowBytes;
    return isWithin;
  });
  const ids = fitting.map(({ id }) => id);
  const rows = new Map(ids.length === 0 ? [] : (await read(ids)).map((row) => [row.id, row]));
  // A row that was deleted in between is left out.
  return { rows: ids.flatMap((id) => rows.get(id) ?? []), foundCount: places.length };
}

/** Merges what several lists, each the latest first, gave for a page: its places and one more, in the order of reading. */
export function mergeLatest<P extends Place>(
  lists: readonly (readonly P[])[],
  timeOf: (place: P) => Date,
  page: Pick<PageRequest, 'limit' | 'isBackward'>,
): readonly P[] {
  const places = [...new Map(lists.flat().map((place) => [place.id, place])).values()];
  const sign = page.isBackward === true ? -1 : 1;
  places.sort((a, b) => sign * (timeOf(b).getTime() - timeOf(a).getTime() || (a.id < b.id ? 1 : -1)));
  return places.slice(0, page.limit + 1);
}

/**
 * Refuses a list without pages that is too long, before its rows are read.
 *
 * @param bytes  of all its rows, summed by the database; null: it has none.
 * @throws DomainError REPLY_TOO_LARGE
 */
export function requireShortList({ listMaxBytes }: Database, bytes: number | null): void {
  if ((bytes ?? 0) <= listMaxBytes) return;
  const message = `The list takes more than ${listMaxBytes} bytes; ask for it of fewer things (limit, first), or for its items one by one`;
  throw new DomainError('REPLY_TOO_LARGE', message);
}

/**
 * Refuses a page with a number that does not fit: a shorter page would make the rows after it unreachable by number.
 *
 * @throws DomainError REPLY_TOO_LARGE
 */
export function requireWholePage({ pageMaxBytes }: Database, { rows, foundCount }: BoundedRows<unknown>, limit: number): void {
  if (rows.length >= Math.min(foundCount, limit)) return;
  const message = `The page takes more than ${pageMaxBytes} bytes; ask for a shorter one, or read on by cursor instead of by number`;
  throw new DomainError('REPLY_TOO_LARGE', message, { param: 'first' });
}
