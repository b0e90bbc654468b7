/** What a person narrows the list of runs to, by name. Only that person sees it. */
export interface SavedRunFilter {
  readonly id: string;
  readonly createdAt: Date;
  readonly name: string;
  /** The narrowing, as the front end writes it into the address of its list. */
  readonly query: string;
}

/** A tag, with how many of the newest tagged runs have it. */
export interface RunTag {
  readonly name: string;
  readonly runCount: number;
}
