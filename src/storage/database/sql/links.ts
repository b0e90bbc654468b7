// Raw SQL: one statement reads the things of many owners, each shared thing once.

/** A thing with all its owners in one row: a shared thing is read, sent and parsed once. */
export interface Linked {
  /** The owners of the thing. `place` is its position among the things of all owners. */
  readonly links: readonly (readonly [ownerId: string, place: number])[];
}

interface LinkTable {
  readonly table: string;
  readonly owner: string;
  readonly thing: string;
  /** How the things of one owner are ordered. */
  readonly order: string;
}

/** A table expression of `id` and `links`, one row for each thing of the owners. `owners` is the placeholder of their ids. */
export function linksSql({ table, owner, thing, order }: LinkTable, owners: string): string {
  return `(select placed.id, json_agg(json_build_array(placed.owner, placed.place)) as links from (
      select x."${thing}" as id, x."${owner}" as owner, row_number() over (order by ${order}) as place
      from ${table} x where x."${owner}" = any(${owners}::text[])) placed group by placed.id)`;
}

/** The things of each owner, in their order. */
export function byOwner<Row extends Linked, T>(
  rows: readonly Row[],
  thingOf: (row: Row) => T,
): ReadonlyMap<string, readonly T[]> {
  const placed = rows.flatMap((row) => {
    const thing = thingOf(row);
    return row.links.map(([ownerId, place]) => ({ ownerId, place, thing }));
  });
  placed.sort((a, b) => a.place - b.place);
  const owned = new Map<string, T[]>();
  for (const { ownerId, thing } of placed) {
    const things = owned.get(ownerId);
    if (things === undefined) owned.set(ownerId, [thing]);
    else things.push(thing);
  }
  return owned;
}
