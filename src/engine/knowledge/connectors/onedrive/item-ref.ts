/** Names a drive item. */
export interface ItemRef {
  /** Undefined: the account's own drive. */
  readonly drive: string | undefined;
  readonly id: string;
}

/** Reads an id. An item of another drive is named by both ids, with a slash between them. */
export function itemRef(id: string, drive?: string): ItemRef {
  const slash = id.indexOf('/');
  return slash > 0 ? { drive: id.slice(0, slash), id: id.slice(slash + 1) } : { drive, id };
}
