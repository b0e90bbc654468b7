/** Where a call came from, as entries of the audit log tell it. */
export interface CallOrigin {
  /** Finds the call in the logs. */
  readonly requestId: string;
  /** The network address of the client; undefined where nobody called over a network. */
  readonly address: string | undefined;
}
