/** A form over something that others may change meanwhile. */
export interface Merge<Fields extends object> {
  /** As the service has it, as far as this form knows. */
  readonly base: Fields;
  readonly mine: Fields;
  /** Fields that both changed, each in another way, until the reader decides. */
  readonly conflicts: readonly NameOf<Fields>[];
}

export type NameOf<Fields extends object> = keyof Fields & string;

export function startMerge<Fields extends object>(base: Fields): Merge<Fields> {
  return { base, mine: base, conflicts: [] };
}

/** Whether two values of the same query are the same. The cache of the client adds the names of types. */
export function isSame(one: unknown, other: unknown): boolean {
  const withoutTypename = (name: string, value: unknown) => (name === '__typename' ? undefined : value);
  return JSON.stringify(one, withoutTypename) === JSON.stringify(other, withoutTypename);
}

export function changedFields<Fields extends object>({ base, mine }: Merge<Fields>): readonly NameOf<Fields>[] {
  return namesOf(base).filter((name) => !isSame(base[name], mine[name]));
}

/** Takes in what the service has now: fields that only others changed are theirs, fields that only the reader changed stay. */
export function mergeTheirs<Fields extends object>({ base, mine, conflicts }: Merge<Fields>, theirs: Fields): Merge<Fields> {
  const isMine = (name: NameOf<Fields>) => !isSame(mine[name], base[name]) && !isSame(mine[name], theirs[name]);
  const names = namesOf(theirs);
  const fields: Fields = Object.assign({}, theirs, Object.fromEntries(names.filter(isMine).map((name) => [name, mine[name]])));
  const fresh = names.filter((name) => isMine(name) && !isSame(base[name], theirs[name]));
  const oldConflicts = conflicts.filter((name) => isMine(name) && !fresh.includes(name));
  return { base: theirs, mine: fields, conflicts: [...oldConflicts, ...fresh] };
}

/** The form once the service has taken these values: what was typed since stays changed. */
export function mergeSaved<Fields extends object>(
  merge: Merge<Fields>,
  request: Fields,
  names: readonly NameOf<Fields>[],
  reply: Fields,
): Merge<Fields> {
  const base: Fields = Object.assign({}, merge.base, Object.fromEntries(names.map((name) => [name, request[name]])));
  return mergeTheirs({ ...merge, base }, reply);
}

/** The form with the value of the others in place of one's own. */
export function takeTheirs<Fields extends object>(merge: Merge<Fields>, name: NameOf<Fields>): Merge<Fields> {
  return keepMine({ ...merge, mine: { ...merge.mine, [name]: merge.base[name] } }, name);
}

/** The form with one's own value, which replaces that of the others with the next save. */
export function keepMine<Fields extends object>(merge: Merge<Fields>, name: NameOf<Fields>): Merge<Fields> {
  return { ...merge, conflicts: merge.conflicts.filter((other) => other !== name) };
}

/** What a field is, as lines that can be compared. */
export function fieldText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

function namesOf<Fields extends object>(fields: Fields): readonly NameOf<Fields>[] {
  return Object.keys(fields) as NameOf<Fields>[];
}
