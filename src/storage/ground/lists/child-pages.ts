import { type Page, type PageRequest, type SortKey, toPage } from '../../../entities/ground/page.ts';
import type { Database } from '../database.ts';
import { type Place, requireShortList } from './paging.ts';

/** A list that each of several things has, such as the items of sources. */
export interface ChildList<Row extends { readonly id: string }> {
  /** The places of one page of each parent, and one more, in the order of reading: one `findMany` with a nested `take`. */
  findPlaces(): Promise<readonly { readonly id: string; readonly places: readonly Place[] }[]>;
  /** Reads rows by their ids, in any order. */
  read(ids: string[]): Promise<readonly Row[]>;
  keyOf(row: Row): SortKey;
  /** The id of its place; default: its own. */
  placeOf?(row: Row): string;
  /** How many rows each parent has, but for those beyond `most`, which need not be counted; one that is not named has none. */
  countAll(most: number): Promise<ReadonlyMap<string, number>>;
}

/**
 * Reads one page of the list of each parent, by two statements for any number of parents. All parents together share one count.
 *
 * @returns the pages by the ids of the parents; a parent that is gone has none.
 * @throws DomainError REPLY_TOO_LARGE where the pages together take more than a list may.
 */
export async function readChildPages<Row extends { readonly id: string }>(
  db: Database,
  page: PageRequest,
  list: ChildList<Row>,
): Promise<ReadonlyMap<string, Page<Row>>> {
  const { placeOf = ({ id }: Row) => id } = list;
  const parents = await list.findPlaces();
  const fitting = parents.map(({ id, places }) => ({ id, places, ids: idsWithin(places, db.pageMaxBytes) }));
  const ids = fitting.flatMap((parent) => parent.ids);
  const sizes = new Map(parents.flatMap(({ places }) => places).map(({ id, rowBytes = 0 }) => [id, rowBytes]));
  requireShortList(
    db,
    ids.reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0),
  );
  const rows = new Map(ids.length === 0 ? [] : (await list.read([...new Set(ids)])).map((row) => [placeOf(row), row]));
  const counts = new Map<number, Promise<ReadonlyMap<string, number>>>();
  return new Map(
    fitting.map(({ id, places, ids: own }) => {
      const countAll = async (most: number) => {
        const counting = counts.get(most) ?? list.countAll(most);
        counts.set(most, counting);
        return (await counting).get(id) ?? 0;
      };
      const childRows = own.flatMap((rowId) => rows.get(rowId) ?? []);
      return [id, toPage(childRows, page, list.keyOf, countAll, places.length)];
    }),
  );
}

/** The first rows that fit a number of bytes; at least one. */
function idsWithin(places: readonly Place[], bytesMax: number): readonly string[] {
  let bytes = 0;
  return places.flatMap(({ id, rowBytes = 0 }) => {
    const isWithin = bytes < bytesMax;
    bytes += rowBytes;
    return isWithin ? [id] : [];
  });
}
