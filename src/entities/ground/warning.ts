/** Something that was accepted and is not served in full here. */
export interface Warning {
  /** For programs, such as `tool_not_available`. */
  readonly code: string;
  /** For a person: what has no effect, and why. */
  readonly message: string;
  /** The member it is about; null for none. */
  readonly param: string | null;
}
