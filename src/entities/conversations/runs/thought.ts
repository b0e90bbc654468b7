/** Members that only the provider of a thought reads, such as its signature or its hidden text. They are given back as they came. */
export type OpaquePart = Readonly<Record<string, unknown>>;

/** Where a thought of a model comes from. */
export interface ThoughtOrigin {
  /** The id of the provider; absent in a caller's own history that does not say. */
  readonly provider?: string;
  readonly opaque?: OpaquePart;
  /** `opaque` belongs to this call of the same answer, counted from 0; absent: to the thought itself. */
  readonly callIndex?: number;
}

/** A thought of a model, to be given back to its provider. */
export interface Thought extends ThoughtOrigin {
  /** Empty for a thought whose text the provider hides. */
  readonly text: string;
}

/** The answer of a model that asked for a call. */
export interface CallOrigin {
  /** The same for all calls of one answer, and for these alone. */
  readonly answer: string;
  /** The place among the calls of the answer, from 0. */
  readonly index: number;
}
