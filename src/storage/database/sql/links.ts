// Raw SQL: what many owners have is read once, in one statement.

/** A thing with all that have it, in one row: what many share is read, sent and parsed once. */
export interface Linked {
  /** Who has it, and where in the order of all. */
  readonly links: readonly (readonly [ownerId: string, place: number])[];
}

interface LinkTable {
  readonly table: string;
  readonly owner: string;
  readonly thing: string;
  /** How the things of one owner are ordered. */
  readonly order: string;
}

/** A table expression of `id` and `links`, one row for each thing that one of the owners has. `owners` is the placeholder of their ids. */
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
