/** Where a call came from, for the audit log. */
export interface CallOrigin {
  /** Finds the call in the process log. */
  readonly requestId: string;
  /** The network address of the client; undefined for calls without a network. */
  readonly address: string | undefined;
}
